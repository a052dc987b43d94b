//! Requests and answers as bytes: enough of HTTP to compare what went in with what came out.

use std::io::{self, Read};

/// A request or an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// The request line or the status line.
    pub first: String,
    /// With names in lower case, in their order.
    pub headers: Vec<(String, String)>,
    /// Without the frames of chunks.
    pub body: Vec<u8>,
}

impl Message {
    /// The first message of these bytes, and how many it takes; `None`: more must come.
    pub fn take(bytes: &[u8]) -> Option<(Self, usize)> {
        let end = position(bytes, b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let first = lines.next().unwrap().to_owned();
        let header = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_lowercase(), value.trim().to_owned())
        };
        let mut message = Self { first, headers: lines.map(header).collect(), body: Vec::new() };
        let rest = &bytes[end + 4..];
        let length = if message.header("transfer-encoding") == Some("chunked") {
            let (body, length) = unchunked(rest)?;
            message.body = body;
            length
        } else {
            let length = message.header("content-length").map_or(0, |it| it.parse().unwrap());
            message.body = rest.get(..length)?.to_vec();
            length
        };
        Some((message, end + 4 + length))
    }

    /// Reads the next message; `None`: the other end closed before it.
    pub fn read(stream: &mut impl Read, kept: &mut Vec<u8>) -> io::Result<Option<Self>> {
        let mut chunk = [0; 65536];
        loop {
            if let Some((message, length)) = Self::take(kept) {
                kept.drain(..length);
                return Ok(Some(message));
            }
            match stream.read(&mut chunk)? {
                0 => return Ok(None),
                read => kept.extend_from_slice(&chunk[..read]),
            }
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The path of a request.
    pub fn path(&self) -> &str {
        self.first.split(' ').nth(1).unwrap_or_default()
    }
}

fn position(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    bytes.windows(sought.len()).position(|window| window == sought)
}

fn unchunked(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let line = position(bytes.get(at..)?, b"\r\n")?;
        let length = std::str::from_utf8(&bytes[at..at + line]).unwrap();
        let length = usize::from_str_radix(length.split(';').next().unwrap(), 16).unwrap();
        let begin = at + line + 2;
        body.extend_from_slice(bytes.get(begin..begin + length)?);
        at = begin + length + 2;
        bytes.get(..at)?;
        if length == 0 {
            return Some((body, at));
        }
    }
}
