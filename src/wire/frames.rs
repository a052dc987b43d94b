//! The events of a stream as bytes, so that some can change while the others stay unchanged.

use std::ops::Range;

use serde_json::Value;

use crate::json;
use crate::objects::{BytePlace, ObjectScan};

/// The end of many streams.
const DONE: &str = "[DONE]";

/// An event of a stream.
#[derive(Debug, Default)]
pub(crate) struct Frame<'a> {
    /// All its bytes, with the empty line that ends it.
    pub bytes: &'a [u8],
    /// The places of the values of its data lines in the bytes.
    values: Vec<Range<usize>>,
    /// The data of the event, with its lines joined.
    pub data: String,
    /// The brackets of the data.
    brackets: json::Scan,
}

/// The events at the beginning of a stream that may have its id.
const FIRST: usize = 4;

/// The endpoint's own id of an answer: of a document, or of a stream.
pub fn answer_id(text: &str) -> Option<String> {
    let id_in = |json: &str| {
        let value: Value = serde_json::from_str(json).ok()?;
        let places = ["/response/id", "/message/id", "/id", "/responseId"];
        let id = places.iter().find_map(|place| value.pointer(place)?.as_str())?;
        Some(id.to_owned())
    };
    match text.trim_start() {
        document if document.starts_with('{') => id_in(document),
        stream => {
            let data = stream.lines().filter_map(|line| line.strip_prefix("data:"));
            data.take(FIRST).find_map(id_in)
        }
    }
}

/// The events of a text. Some servers omit the empty line between them, so an event may end where its data is complete.
pub(crate) fn frames(text: &[u8]) -> Vec<Frame<'_>> {
    let (mut frames, mut frame) = (Vec::new(), Frame::default());
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        let (end, next) = line(text, at);
        let is_mark = |byte: &u8| [0, 0xEF, 0xBB, 0xBF].contains(byte);
        let first = at + text[at..end].iter().take_while(|byte| is_mark(byte)).count();
        if first < end && frame.is_whole() {
            frames.push(Frame { bytes: &text[start..at], ..std::mem::take(&mut frame) });
            start = at;
        }
        frame.read_line(&text[first..end], first - start);
        if first == end {
            frames.push(Frame { bytes: &text[start..next], ..std::mem::take(&mut frame) });
            start = next;
        }
        at = next;
    }
    if start < text.len() {
        frames.push(Frame { bytes: &text[start..], ..frame });
    }
    frames
}

/// The objects of a text that is a sequence of them. The rest of its line belongs to an object, and what stands before it.
pub(crate) fn objects(text: &[u8]) -> Vec<Frame<'_>> {
    let (mut frames, mut scan) = (Vec::new(), ObjectScan::default());
    let (mut start, mut begin) = (0, None);
    for (at, byte) in text.iter().enumerate() {
        let place = scan.next(*byte);
        if place != BytePlace::Between {
            begin.get_or_insert(at);
        }
        if place == BytePlace::Last {
            let value = begin.take().unwrap_or(at)..at + 1;
            let rest = &text[at + 1..];
            let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
            let line = if rest.get(blank) == Some(&b'\n') { blank + 1 } else { 0 };
            let bytes = &text[start..at + 1 + line];
            let data = String::from_utf8_lossy(&text[value.clone()]).into_owned();
            let in_frame = value.start - start..value.end - start;
            start = at + 1 + line;
            let mut frame = Frame { bytes, data, ..Frame::default() };
            frame.values.push(in_frame);
            frames.push(frame);
        }
    }
    if start < text.len() {
        frames.push(Frame { bytes: &text[start..], ..Frame::default() });
    }
    frames
}

/// The end of the line that begins here, and the beginning of the next one.
fn line(text: &[u8], at: usize) -> (usize, usize) {
    let rest = &text[at..];
    let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    let ending = match &rest[length..] {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    };
    (at + length, at + length + ending)
}

impl Frame<'_> {
    fn read_line(&mut self, line: &[u8], at: usize) {
        // Some servers write an error into the stream as bare JSON.
        let name = if line.starts_with(b"{") { 0 } else { b"data:".len() };
        let Some(value) = line.get(name..).filter(|_| name == 0 || line.starts_with(b"data:"))
        else {
            return;
        };
        let space = usize::from(name > 0 && value.starts_with(b" "));
        if !self.values.is_empty() {
            self.data.push('\n');
        }
        self.values.push(at + name + space..at + line.len());
        self.data.push_str(&String::from_utf8_lossy(&value[space..]));
        self.brackets.feed(&value[space..]);
    }

    fn is_whole(&self) -> bool {
        let is_done = self.data.len() < 4 * DONE.len() && self.data.trim() == DONE;
        !self.values.is_empty() && (is_done || self.brackets.is_whole())
    }

    /// The bytes of the event with other data.
    pub fn with(&self, data: &str) -> Vec<u8> {
        // A line break between two JSON values can be a space.
        let data = data.replace('\n', " ");
        let (mut bytes, mut at) = (Vec::with_capacity(self.bytes.len() + data.len()), 0);
        for (nth, value) in self.values.iter().enumerate() {
            bytes.extend_from_slice(&self.bytes[at..value.start]);
            bytes.extend_from_slice(if nth == 0 { data.as_bytes() } else { b"" });
            at = value.end;
        }
        bytes.extend_from_slice(&self.bytes[at..]);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sse::Parser;

    #[test]
    fn each_byte_of_an_event_of_many_lines_is_looked_at_once() {
        let text = "data: {\n".repeat(200_000) + "\n";
        assert_eq!(frames(text.as_bytes()).len(), 1);
        let mut parser = Parser::default();
        assert_eq!(parser.feed(text.as_bytes()).unwrap()[0].data.len(), 400_000 - 1);
    }

    #[test]
    fn other_data_stands_in_the_same_lines() {
        let text = b": c\r\nid: 1\r\ndata:{\"a\":\r\ndata: 1}\r\n\r\nevent: e\ndata: {}\ndata: [DONE]\n{\"b\":2}\n\n\n";
        let frames = frames(text);
        let all: Vec<(&str, &[u8])> =
            frames.iter().map(|it| (it.data.as_str(), it.bytes)).collect();
        let expected: [(&str, &[u8]); 5] = [
            ("{\"a\":\n1}", b": c\r\nid: 1\r\ndata:{\"a\":\r\ndata: 1}\r\n\r\n"),
            ("{}", b"event: e\ndata: {}\n"),
            ("[DONE]", b"data: [DONE]\n"),
            ("{\"b\":2}", b"{\"b\":2}\n\n"),
            ("", b"\n"),
        ];
        assert_eq!(all, expected);
        assert_eq!(
            frames[0].with("{\"a\":\n2}"),
            b": c\r\nid: 1\r\ndata:{\"a\": 2}\r\ndata: \r\n\r\n"
        );
        assert_eq!(frames[1].with("[]"), b"event: e\ndata: []\n");
        assert_eq!(frames[4].with("x"), b"\n");
    }

    #[test]
    fn objects_of_lines_and_lists_are_frames() {
        let text = b"[{\"a\":\n 1} \r\n,\r\n{\"b\":\"}\"}, {}\n]\n";
        let frames = objects(text);
        let all: Vec<&[u8]> = frames.iter().map(|it| it.bytes).collect();
        let expected: [&[u8]; 4] =
            [b"[{\"a\":\n 1} \r\n", b",\r\n{\"b\":\"}\"}", b", {}\n", b"]\n"];
        assert_eq!(all, expected);
        assert_eq!(frames[0].with("{}"), b"[{} \r\n");
        assert_eq!(frames[3].with("x"), b"]\n");
        assert!(frames[3].data.is_empty() && frames[1].data == "{\"b\":\"}\"}");
    }

    proptest! {
        #[test]
        fn objects_are_all_bytes(text in "[\\[\\]{},\"a\n ]{0,30}") {
            let bytes: Vec<u8> = objects(text.as_bytes()).iter().flat_map(|it| it.bytes).copied().collect();
            prop_assert_eq!(bytes, text.as_bytes());
        }

        #[test]
        fn frames_are_all_bytes_and_have_the_data_of_the_events(
            text in "((data|event|id|)(: ?)(\\{\\}|\\{|[aé]{0,3})(\n|\r\n|\r){1,3}){0,12}",
        ) {
            let frames = frames(text.as_bytes());
            let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.bytes).copied().collect();
            prop_assert_eq!(bytes, text.as_bytes());
            let mut parser = Parser::default();
            let mut events = parser.feed(text.as_bytes()).unwrap();
            events.extend(parser.finish());
            let data: String = events.iter().map(|event| event.data.trim()).collect();
            let own: String = frames.iter().map(|frame| frame.data.trim()).collect();
            prop_assert_eq!(own.replace('\n', ""), data.replace('\n', ""));
        }
    }
}
