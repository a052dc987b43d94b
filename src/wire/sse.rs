//! Server-sent events, from bytes as they arrive from the network: chunks may end inside a line,
//! inside a line ending and inside a UTF-8 character. Some servers leave out the empty line between
//! events, so a line of data that is a whole JSON document ends where the next one begins.

use super::{json, pieces};

/// Longest event in bytes, with all its lines. One delta is small; a server without real streaming
/// may put a whole answer into one.
const LONGEST: usize = 16 * 1024 * 1024;

/// The last event of many streams.
const LAST: &str = "[DONE]";

/// An event: its `event:` name, if any, and its `data:` lines, joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub name: String,
    pub data: String,
}

impl Event {
    /// Whether this event announces that no other follows.
    pub fn is_last(&self) -> bool {
        self.data.trim() == LAST
    }
}

/// An event was longer than 16 MiB: not a model's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than {} MiB", LONGEST / (1024 * 1024))]
pub struct TooLong;

/// Assembles bytes into events.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    /// Whether the last byte was a carriage return; a line feed after it belongs to the same line ending.
    returned: bool,
    event: Event,
    /// Whether the event has data, which may be empty.
    filled: bool,
    /// The brackets of that data.
    brackets: json::Scan,
}

impl Parser {
    /// Reads bytes and returns the events that they complete.
    ///
    /// # Errors
    /// If the current event is too long; no more can be read then.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.returned && !rest.is_empty() {
            self.returned = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend(&rest[..end])?;
            let ending = match &rest[end..] {
                [b'\r', b'\n', ..] => 2,
                [b'\r'] => {
                    self.returned = true;
                    1
                }
                _ => 1,
            };
            rest = &rest[end + ending..];
            self.end_line(&mut events);
        }
        self.extend(rest)?;
        Ok(events)
    }

    /// The events that the end of the stream completes. Some servers omit the last empty line.
    pub fn finish(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut events);
        }
        events.extend(self.end_event());
        events
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + self.event.data.len() + bytes.len() > LONGEST {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<Event>) {
        let mut line = std::mem::take(&mut self.line);
        let text = pieces::text_of(&line);
        let text = text.trim_start_matches(['\u{FEFF}', '\0']);
        if text.is_empty() {
            events.extend(self.end_event());
        } else {
            self.field(text, events);
        }
        line.clear();
        self.line = line;
    }

    fn field(&mut self, line: &str, events: &mut Vec<Event>) {
        // Some servers write an error into the stream as bare JSON.
        if line.starts_with('{') {
            return self.data(line, events);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            // Some gateways put the name before data that has it already.
            "data" => self.data(value.strip_prefix("data: ").unwrap_or(value), events),
            "event" => self.event.name = value.into(),
            // Comments (an empty name), `id`, `retry` and anything else.
            _ => {}
        }
    }

    fn data(&mut self, value: &str, events: &mut Vec<Event>) {
        let begins = value.trim_start().starts_with('{') || value.trim() == LAST;
        if self.filled && begins && self.brackets.is_whole() {
            let name = self.event.name.clone();
            events.extend(self.end_event());
            self.event.name = name;
        }
        if self.filled {
            self.event.data.push('\n');
        }
        self.event.data.push_str(value);
        self.brackets.feed(value.as_bytes());
        self.filled = true;
        // The connection may stay open after the last event, and nothing behind it counts.
        if value.len() == self.event.data.len() && self.event.is_last() {
            events.extend(self.end_event());
        }
    }

    fn end_event(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        self.brackets = json::Scan::default();
        std::mem::take(&mut self.filled).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(chunks: &[&[u8]]) -> Vec<Event> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for chunk in chunks {
            events.extend(parser.feed(chunk).unwrap());
        }
        events.extend(parser.finish());
        events
    }

    fn data(chunks: &[&[u8]]) -> Vec<String> {
        all(chunks).into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn reads_what_servers_send() {
        assert_eq!(data(&[b": OPENROUTER PROCESSING\n\ndata: a\n\n"]), ["a"]);
        assert_eq!(data(&[b"data:a\r\n\r\ndata: b\r\n\r\n"]), ["a", "b"]);
        assert_eq!(data(&[b"data: a\rdata: b\r\r"]), ["a\nb"]);
        assert_eq!(data(&[b"data: a\r", b"\n\r", b"\ndata: b\n\n"]), ["a", "b"]);
        assert_eq!(data(&[b"\xEF\xBB\xBFdata: a\n\n"]), ["a"]);
        assert_eq!(
            data(&[b"data: data: {\"a\":1}\n\ndata: data: [DONE]\n"]),
            ["{\"a\":1}", "[DONE]"]
        );
        assert_eq!(data(&[b"id: 1\nretry: 5\ndata\n\n"]), [""]);
        assert_eq!(data(&[b"data: last without its empty line"]), ["last without its empty line"]);
        assert_eq!(data(&[b"{\"error\": 1}\n"]), ["{\"error\": 1}"]);
        assert_eq!(data(&["data: é".as_bytes().split_at(7).0, b"\xA9\n\n"]), ["é"]);
        assert_eq!(all(&[b"event: error\ndata: x\n\n"])[0].name, "error");
        assert_eq!(data(&[b"event: ping\n\n\n\n"]), Vec::<String>::new());
    }

    #[test]
    fn whole_documents_are_events_without_an_empty_line_between() {
        assert_eq!(
            data(&[b"data: {\"a\":1}\ndata: {\"b\":\"}\"}\ndata: [DONE]\n"]),
            ["{\"a\":1}", "{\"b\":\"}\"}", "[DONE]",]
        );
        assert_eq!(data(&[b"{\"a\":1}\n{\"b\":2}\n"]), ["{\"a\":1}", "{\"b\":2}"]);
        assert_eq!(data(&[b"data: {\ndata: \"a\":\ndata: {}}\n\n"]), ["{\n\"a\":\n{}}"]);
        let named = all(&[b"event: e\ndata: {}\ndata: {}\n\ndata: {}\n\n"]);
        let names: Vec<&str> = named.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["e", "e", ""]);
        assert_eq!(data(&[b"\0data: a\n\0\n\0data: b\n\n"]), ["a", "b"]);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut parser = Parser::default();
        let chunk = vec![b'x'; 1024 * 1024];
        let fed = (0..20).find_map(|_| parser.feed(&chunk).err());
        assert_eq!(fed, Some(TooLong));
    }

    proptest! {
        /// Chunk boundaries never change the events.
        #[test]
        fn cuts_change_nothing(
            text in "((data|event|id|)(: ?)[aé\u{1F980}]{0,3}(\n|\r\n|\r){1,3}){0,12}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let chunks: Vec<&[u8]> = at.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(all(&chunks), all(&[bytes]));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            all(&[&bytes]);
        }
    }
}
