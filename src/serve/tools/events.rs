//! Splits a stream into its events, each of which can pass unchanged.

use crate::wire::sse::{Event, Parser};

/// The most bytes of an event that are read.
const LONGEST: usize = 8 << 20;

/// The event that has begun.
#[derive(Debug, Default)]
pub struct Events(Vec<u8>);

impl Events {
    /// Adds the bytes that arrived; returns the bytes of each event that they complete.
    pub fn take(&mut self, read: &[u8]) -> Vec<Vec<u8>> {
        let mut whole = Vec::new();
        for line in read.split_inclusive(|byte| *byte == b'\n') {
            self.0.extend_from_slice(line);
            // An empty line ends an event. An event that is too long passes in parts.
            let is_end = ["\n\n", "\n\r\n"].iter().any(|end| self.0.ends_with(end.as_bytes()));
            if is_end || self.0.len() > LONGEST {
                whole.push(std::mem::take(&mut self.0));
            }
        }
        whole
    }

    /// The rest at the end of the stream.
    pub fn rest(self) -> Vec<u8> {
        self.0
    }
}

/// The data of an event; `None` if it has none.
pub fn data(event: &[u8]) -> Option<String> {
    let mut parser = Parser::default();
    let read: Vec<Event> = parser.feed(event).ok()?;
    read.into_iter().next().map(|event| event.data)
}

/// The event with other data. Its id and its name stay.
pub fn with_data(event: &[u8], data: &str) -> Vec<u8> {
    let lines = event.split_inclusive(|byte| *byte == b'\n');
    let kept = lines.filter(|line| line.starts_with(b"id:") || line.starts_with(b"event:"));
    [&kept.collect::<Vec<_>>().concat(), &of_data(data)[..]].concat()
}

/// An event with this data.
pub fn of_data(data: &str) -> Vec<u8> {
    let lines = data.trim_end().lines().map(|line| format!("data: {line}\n"));
    lines.chain(["\n".to_owned()]).collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_pass_as_they_came_however_they_arrive() {
        let stream = b": hi\n\nid: 7\nevent: message\ndata: {\"a\":1}\n\ndata: x\r\n\r\ndata: rest";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let mut all: Vec<_> = stream.chunks(size).flat_map(|read| events.take(read)).collect();
            assert_eq!(all.len(), 3, "{size}");
            assert_eq!(data(&all[1]).as_deref(), Some("{\"a\":1}"));
            all.push(events.rest());
            assert_eq!(all.concat(), stream);
        }
        let event = b"id: 7\nevent: message\ndata: {\"a\":1}\n\n";
        assert_eq!(of_data("{\n}"), b"data: {\ndata: }\n\n");
        assert_eq!(with_data(event, "{}\n"), b"id: 7\nevent: message\ndata: {}\n\n");
    }
}
