//! The lines of the protocol, and their reader.

use std::io;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::domain::event::read_json;
use crate::domain::{Command, Record};
use crate::files::safe_json::safe;
use crate::net::known::without_known;

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// The longest line that a session takes. An edited prompt is long.
pub const LONGEST: usize = 8 << 20;

/// The first line of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the protocol.
    pub toolyard_attach: u32,
    /// The file to which the session writes.
    pub journal: String,
    /// When it was opened (RFC 3339, UTC).
    pub opened: String,
    /// For people.
    pub title: String,
    /// The process that runs the session.
    pub pid: u32,
    /// The home folder of that process.
    #[serde(default)]
    pub home: String,
    /// The last event so far.
    pub n: u64,
    /// Side that controls the session, and since when; `None`: no side.
    pub controller: Option<String>,
    /// Whether the session takes relays of MCP servers.
    #[serde(default)]
    pub relays: bool,
}

/// A line to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachLine {
    /// The first line, with the version.
    ToolyardAttach(u32),
    /// Send the records after this event.
    From(u64),
    Command(Box<Command>),
    /// Take control, or ask for it.
    Take(bool),
    /// Give control up.
    Leave(bool),
    /// Registers this side as the relay of the server with this key.
    Relay(String),
}

/// A line of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionLine {
    /// The journal has this event.
    N(u64),
    Control {
        /// The reader of this line controls the session.
        yours: bool,
        /// Side that controls the session, and since when; `None`: no side.
        controller: Option<String>,
    },
    /// Name of a side that asks for control.
    Asked(String),
    Refused(String),
    Ended(bool),
}

/// A value as a line.
pub fn line_of(value: &impl Serialize) -> String {
    // These types have no maps with other keys than texts, so that this cannot fail.
    let json = serde_json::to_string(value).unwrap_or_default();
    format!("{}\n", safe(&without_known(&json)))
}

/// A record as a line. It has no keys: records are stripped of them before they are written.
pub fn record_line(record: &Record) -> String {
    let json = serde_json::to_string(record).unwrap_or_default();
    format!("{{\"record\":{}}}\n", safe(&json))
}

/// Reads a line.
///
/// # Errors
/// The beginning of the line, and its problem.
pub fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let text = String::from_utf8_lossy(line);
    read_json(&text).map_err(|error| {
        let shown: String = text.chars().take(40).collect();
        format!("{}: {error}", shown.trim_end())
    })
}

/// Lines from a stream, none longer than a limit.
#[derive(Debug)]
pub struct LineReader<R> {
    stream: R,
    line: Vec<u8>,
    longest: usize,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    pub fn new(stream: R, longest: usize) -> Self {
        Self { stream, line: Vec::new(), longest }
    }

    /// The next whole line without its end; `None` at the end of the stream. A pending call can be dropped and
    /// repeated.
    ///
    /// # Errors
    /// The stream is broken, or the line is too long.
    pub async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let read = self.stream.fill_buf().await?;
            if read.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', read);
            let taken = end.unwrap_or(read.len());
            if self.line.len() + taken > self.longest {
                let why = format!("the line is longer than {} bytes", self.longest);
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            self.line.extend_from_slice(&read[..taken]);
            self.stream.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_form_that_the_protocol_gives() {
        let said = [
            (AttachLine::ToolyardAttach(1), "{\"toolyard_attach\":1}"),
            (AttachLine::From(7), "{\"from\":7}"),
            (AttachLine::Command(Box::new(Command::Run)), "{\"command\":\"Run\"}"),
            (AttachLine::Take(true), "{\"take\":true}"),
            (AttachLine::Leave(true), "{\"leave\":true}"),
        ];
        for (said, json) in said {
            assert_eq!(line_of(&said).trim_end(), json);
            assert_eq!(parse::<AttachLine>(json.as_bytes()), Ok(said));
        }
        let told = [
            (SessionLine::N(3), "{\"n\":3}"),
            (
                SessionLine::Control { yours: false, controller: Some("pid 3".into()) },
                "{\"control\":{\"yours\":false,\"controller\":\"pid 3\"}}",
            ),
            (SessionLine::Asked("pid 4".into()), "{\"asked\":\"pid 4\"}"),
            (SessionLine::Refused("no".into()), "{\"refused\":\"no\"}"),
            (SessionLine::Ended(true), "{\"ended\":true}"),
        ];
        for (told, json) in told {
            assert_eq!(line_of(&told).trim_end(), json);
            assert_eq!(parse::<SessionLine>(json.as_bytes()), Ok(told));
        }
    }

    #[test]
    fn what_is_no_line_of_the_protocol_is_quoted_shortly() {
        for wrong in ["", "{", "[1]", "{\"command\":\"Fly\"}", "{\"from\":-1}", "{\"record\":{}}"] {
            assert!(parse::<AttachLine>(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let why = parse::<AttachLine>("x".repeat(1000).as_bytes()).unwrap_err();
        assert!(why.len() < 120, "{why}");
        assert!(parse::<AttachLine>(&[0xff; 9]).is_err());
    }

    #[tokio::test]
    async fn lines_are_whole_however_they_arrive_and_never_too_long() {
        let chunks = tokio_test_stream(&["ab", "c\n\nd", "ef\n", "rest"]);
        let mut lines = LineReader::new(chunks, 4);
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(read, ["abc", "", "def"]);
        let mut lines = LineReader::new(&b"12345\n"[..], 4);
        let why = lines.next().await.unwrap_err();
        assert_eq!(why.to_string(), "the line is longer than 4 bytes");
    }

    /// A stream that gives these chunks one by one.
    fn tokio_test_stream(chunks: &[&'static str]) -> impl AsyncBufRead + Unpin {
        use tokio::io::AsyncReadExt;
        let none: Box<dyn AsyncBufRead + Unpin> = Box::new(&b""[..]);
        chunks.iter().rev().fold(none, |rest, chunk| Box::new(chunk.as_bytes().chain(rest)))
    }
}
