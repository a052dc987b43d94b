//! An agent that writes and reads HTTP itself, so that every byte counts.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::PATIENCE;

/// The time to check whether something comes.
const MOMENT: Duration = Duration::from_millis(40);

/// A connection of an agent.
pub struct Agent {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
}

/// An answer as it came.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Got {
    /// The status line and the headers, in their order; names in small letters.
    pub head: Vec<String>,
    pub body: Vec<u8>,
    /// Whether the body came to its end.
    pub is_whole: bool,
}

impl Got {
    pub fn status(&self) -> u16 {
        let status = self.head.first().and_then(|line| line.split(' ').nth(1));
        status.and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn has(&self, line: &str) -> bool {
        self.head.iter().any(|known| known == line)
    }
}

impl Agent {
    pub fn at(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), address }
    }

    /// Sets the time after which reading gives up.
    pub fn patience(&mut self, patience: Duration) {
        self.stream.get_ref().set_read_timeout(Some(patience)).unwrap();
    }

    /// Posts a body as the vendors' clients do.
    pub fn post(&mut self, path: &str, body: &[u8]) -> &mut Self {
        self.request("POST", path, "", body)
    }

    /// Sends a request with more headers: lines with their ends.
    pub fn request(&mut self, method: &str, path: &str, more: &str, body: &[u8]) -> &mut Self {
        let host = self.address;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nContent-Type: application/json\r\n\
             User-Agent: OpenAI/Python 9\r\nx-stainless-lang: python\r\nAuthorization: Bearer ag3nt-key-of-tests\r\n\
             {more}Content-Length: {length}\r\nx-last: 1\r\n\r\n"
        );
        self.write(head.as_bytes());
        self.write(body)
    }

    pub fn write(&mut self, bytes: &[u8]) -> &mut Self {
        self.stream.get_mut().write_all(bytes).unwrap();
        self
    }

    /// Reads the status line and the headers; empty if the connection ends before.
    pub fn head(&mut self) -> Vec<String> {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).unwrap_or(0) == 0 {
                return Vec::new();
            }
            let line = line.trim_end();
            match line.split_once(": ") {
                _ if line.is_empty() => return head,
                Some((name, value)) => head.push(format!("{}: {value}", name.to_lowercase())),
                None => head.push(line.to_owned()),
            }
        }
    }

    /// Reads one chunk of a body; `None` if the connection breaks, and nothing at the end.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let mut size = String::new();
        self.stream.read_line(&mut size).ok().filter(|length| *length > 0)?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).ok()?;
        chunk.truncate(size);
        Some(chunk)
    }

    /// How the connection ends if more should come; `None` if it simply ends.
    pub fn end(&mut self) -> Option<ErrorKind> {
        self.stream.read_to_end(&mut Vec::new()).err().map(|why| why.kind())
    }

    /// Checks that nothing more comes for a moment.
    pub fn waits(&mut self) {
        let stream = self.stream.get_ref();
        stream.set_read_timeout(Some(MOMENT)).unwrap();
        let more = self.stream.fill_buf().map(<[u8]>::len);
        assert!(more.is_err(), "{more:?} bytes came");
        self.stream.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
    }

    /// Reads a whole answer.
    pub fn got(&mut self) -> Got {
        let head = self.head();
        let has = |start: &str| head.iter().find_map(|line| line.strip_prefix(start));
        let (mut body, mut is_whole) = (Vec::new(), true);
        if let Some(length) = has("content-length: ") {
            body = vec![0; length.parse().unwrap()];
            is_whole = self.stream.read_exact(&mut body).is_ok();
        } else if has("transfer-encoding: ").is_some() {
            loop {
                match self.chunk() {
                    Some(chunk) if chunk.is_empty() => break,
                    Some(chunk) => body.extend(chunk),
                    None => {
                        is_whole = false;
                        break;
                    }
                }
            }
        } else {
            is_whole = !head.is_empty();
        }
        Got { head, body, is_whole }
    }
}
