//! The events of a stream as bytes: which are sent at once, and which wait.
//!
//! An event is checked when its data is complete. Until then its bytes wait, because they may begin a held part. All
//! bytes stay unchanged, except for a chunk of usage that the client did not ask for.

use memchr::memchr2;

use crate::model::relay::Holds;
use crate::wire::objects::{BytePlace, ObjectScan};
use crate::wire::{WireFormat, chat, json};

/// The end of many streams.
const DONE: &str = "[DONE]";
/// The most bytes of an event that are read. A longer one passes unread.
const MOST: usize = 8 << 20;

/// The bytes of a stream that are not sent yet.
pub struct Frames {
    format: WireFormat,
    /// Bytes that wait, from the beginning of an event.
    text: Vec<u8>,
    /// The beginning of the first unread line.
    line: usize,
    /// The end of the part of that line which has no line ending.
    searched: usize,
    /// The beginning of the current event.
    event: usize,
    /// The data of the current event, and its brackets so far.
    data: String,
    brackets: json::Scan,
    /// Whether the current event is too long, so that it passes.
    passes: bool,
    /// Whether a part of its last line has passed.
    is_inside: bool,
    /// The data of the last sent event with a place.
    before: String,
    /// The beginning of the first event that waits for the release.
    held: Option<usize>,
    /// The part of the stream that waits; `None` if no part does.
    holds: Option<Holds>,
    /// Whether to drop the chunk with the usage.
    hides_usage: bool,
    /// Whether the event before was dropped, so that the empty line after it is dropped too.
    drops_blank: bool,
    /// The brackets of a stream that is a sequence of objects, and the beginning of the current object.
    objects: Option<ObjectScan>,
    begin: Option<usize>,
}

impl Frames {
    pub fn new(format: WireFormat, holds: Option<Holds>, hides_usage: bool) -> Self {
        Self {
            format,
            text: Vec::new(),
            line: 0,
            searched: 0,
            event: 0,
            data: String::new(),
            brackets: json::Scan::default(),
            passes: false,
            is_inside: false,
            before: String::new(),
            held: None,
            holds,
            hides_usage,
            drops_blank: false,
            objects: None,
            begin: None,
        }
    }

    /// The bytes of a stream that is a sequence of JSON objects.
    pub fn of_objects(format: WireFormat, holds: Holds) -> Self {
        Self { objects: Some(ObjectScan::default()), ..Self::new(format, Some(holds), false) }
    }

    /// Whether an event waits for the release.
    pub fn waits(&self) -> bool {
        self.held.is_some()
    }

    /// The data of the last sent event with an index; empty if there was none.
    pub fn before(&self) -> &str {
        &self.before
    }

    /// The number of bytes that wait.
    pub fn waiting(&self) -> usize {
        self.text.len()
    }

    /// Adds the next bytes; returns those to send now.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.text.extend_from_slice(bytes);
        if self.objects.is_some() {
            self.read_objects();
        } else {
            while let Some((end, next)) = self.next_line() {
                self.read_line(end, next);
            }
        }
        self.searched = self.text.len();
        if self.held.is_none()
            && self.holds != Some(Holds::All)
            && (self.passes || self.text.len() - self.event > MOST)
        {
            self.passes = true;
            self.is_inside |= self.text.len() > self.line;
            self.end_event(self.text.len());
        }
        let ready = self.held.unwrap_or(self.event);
        self.held = self.held.map(|_| 0);
        if ready == 0 {
            return Vec::new();
        }
        self.line -= ready;
        self.searched -= ready;
        self.event -= ready;
        self.begin = self.begin.map(|begin| begin.saturating_sub(ready));
        let rest = self.text.split_off(ready);
        std::mem::replace(&mut self.text, rest)
    }

    /// Stops holding; returns the complete events that waited.
    pub fn release(&mut self) -> Vec<u8> {
        self.holds = None;
        self.held = None;
        self.take(&[])
    }

    /// Returns all bytes that wait, at the end of the stream.
    pub fn rest(&mut self) -> Vec<u8> {
        self.held = None;
        (self.line, self.searched, self.event) = (0, 0, 0);
        std::mem::take(&mut self.text)
    }

    /// The end of the next line, and the beginning of the one after it. A carriage return at the end of the bytes may
    /// be half of a line ending.
    fn next_line(&self) -> Option<(usize, usize)> {
        // The last byte that was searched may be half of a line ending.
        let from = self.line.max(self.searched.saturating_sub(1));
        let rest = self.text.get(from..)?;
        let length = memchr2(b'\n', b'\r', rest)?;
        let ending = match rest.get(length..)? {
            [b'\r', b'\n', ..] => 2,
            [b'\r'] => return None,
            _ => 1,
        };
        let end = from + length;
        Some((end, end + ending))
    }

    /// Reads objects. What stands between them does not wait.
    fn read_objects(&mut self) {
        let Some(mut scan) = self.objects.take() else { return };
        for at in self.searched..self.text.len() {
            match scan.next(self.text[at]) {
                BytePlace::Between => self.end_event(at + 1),
                BytePlace::Inside => _ = self.begin.get_or_insert(at),
                BytePlace::Last => {
                    let begin = self.begin.take().unwrap_or(at);
                    if std::mem::take(&mut self.passes) {
                        self.end_event(at + 1);
                    } else {
                        let object = &self.text[begin..=at];
                        self.data = String::from_utf8_lossy(object).into_owned();
                        self.end_data(at + 1, true);
                    }
                }
            }
        }
        self.objects = Some(scan);
    }

    fn read_line(&mut self, end: usize, next: usize) {
        if self.passes {
            // The rest of a long line is no empty line.
            self.passes = end > self.line || std::mem::take(&mut self.is_inside);
            self.is_inside = false;
            return self.end_event(next);
        }
        let line = self.text.get(self.line..end).unwrap_or_default();
        let line = String::from_utf8_lossy(line).into_owned();
        let line = line.trim_start_matches(['\u{FEFF}', '\0']);
        let is_first = self.event == self.line;
        let drops_blank = std::mem::take(&mut self.drops_blank);
        if line.is_empty() {
            match drops_blank {
                true => self.drop_event(next),
                false => self.end_data(next, true),
            }
        } else if line.starts_with(':') && is_first {
            self.end_event(next);
        } else if let Some(data) = line.strip_prefix("data:") {
            self.read_data(data.strip_prefix(' ').unwrap_or(data), next);
        } else if line.starts_with('{') {
            // Some servers write an error into the stream as bare JSON.
            self.read_data(line, next);
        } else {
            self.line = next;
        }
    }

    /// Reads a line of data. Some servers omit the empty line between events, so an event may end where its data is
    /// complete.
    fn read_data(&mut self, data: &str, next: usize) {
        if !self.data.is_empty() {
            self.data.push('\n');
        }
        self.data.push_str(data);
        self.brackets.feed(data.as_bytes());
        let is_done = self.data.len() < 4 * DONE.len() && self.data.trim() == DONE;
        match is_done || self.brackets.is_whole() {
            true => self.end_data(next, false),
            false => self.line = next,
        }
    }

    /// Ends an event, whose data is complete. `is_blank`: the empty line after it has come.
    fn end_data(&mut self, next: usize, is_blank: bool) {
        if self.hides_usage && chat::is_usage_alone(&self.data) {
            self.drops_blank = !is_blank;
            return self.drop_event(next);
        }
        if self.held.is_none() && !self.data.is_empty() {
            if self.is_held() {
                self.held = Some(self.event);
            } else if self.data.contains("index\":") {
                self.before.clone_from(&self.data);
            }
        }
        self.end_event(next);
    }

    /// Whether the event with this data waits.
    fn is_held(&self) -> bool {
        let has_call = || self.format.has_call(&self.data);
        match self.holds {
            None => false,
            Some(Holds::Calls) => has_call(),
            Some(Holds::End) => has_call() || self.format.is_end(&self.data),
            Some(Holds::All) => true,
        }
    }

    fn end_event(&mut self, next: usize) {
        self.data.clear();
        self.brackets = json::Scan::default();
        (self.line, self.searched, self.event) = (next, next, next);
    }

    /// Drops the bytes of the current event.
    fn drop_event(&mut self, next: usize) {
        self.text.drain(self.event..next);
        self.end_event(self.event);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CALLS: Option<Holds> = Some(Holds::Calls);
    const TEXT: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"hé"}}]}"#;
    const CALL: &str =
        r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c"}]}}]}"#;
    const USAGE: &str = r#"data: {"choices":[],"usage":{"prompt_tokens":1}}"#;

    /// Returns the text that went on before the release, and the text after it.
    fn run(frames: &mut Frames, chunks: &[&[u8]]) -> (String, String) {
        let before: Vec<u8> = chunks.iter().flat_map(|chunk| frames.take(chunk)).collect();
        let after = [frames.release(), frames.rest()].concat();
        (String::from_utf8(before).unwrap(), String::from_utf8(after).unwrap())
    }

    fn chat(chunks: &[&str], hides: bool) -> (String, String) {
        let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
        run(&mut Frames::new(WireFormat::Chat, CALLS, hides), &chunks)
    }

    #[test]
    fn all_from_the_event_of_a_call_on_waits() {
        for end in ["\n\n", "\r\n\r\n", "\r\r", "\n"] {
            let before = format!(": ping{end}{TEXT}{end}");
            let after = format!("id: 1\nevent: e\n{CALL}{end}{TEXT}{end}data: [DONE]{end}");
            let all = format!("{before}{after}");
            assert_eq!(chat(&[&all], false), (before.clone(), after.clone()), "{end:?}");
        }
    }

    #[test]
    fn a_part_of_an_event_waits_until_it_is_whole() {
        let (first, second) = CALL.split_at(40);
        let (before, after) = chat(&["event: x\n", first, second, "\n\n"], false);
        assert_eq!((before.as_str(), after), ("", format!("event: x\n{CALL}\n\n")));
        let (first, second) = TEXT.split_at(40);
        let (before, after) = chat(&[first, second, "\n", "\nrest"], false);
        assert_eq!((before, after.as_str()), (format!("{TEXT}\n\n"), "rest"));
        let mut frames = Frames::new(WireFormat::Chat, CALLS, false);
        assert_eq!(frames.take(TEXT.as_bytes()), b"");
        assert_eq!(frames.take(b"\n"), format!("{TEXT}\n").into_bytes());
    }

    #[test]
    fn the_chunk_of_the_usage_is_dropped_also_behind_a_call() {
        let usage = format!("{USAGE}\n\n");
        let all = [TEXT, "\n\n", &usage, "data: [DONE]\n\n"].concat();
        let (before, after) = chat(&[&all], true);
        assert_eq!((before, after), (format!("{TEXT}\n\ndata: [DONE]\n\n"), String::new()));
        let all = [CALL, "\n\n", &usage, "data: [DONE]\n\n"].concat();
        let cut = all.find(USAGE).unwrap() + USAGE.len() + 1;
        let (first, second) = all.split_at(cut);
        let expected = format!("{CALL}\n\ndata: [DONE]\n\n");
        assert_eq!(chat(&[first, second], true), (String::new(), expected));
        assert_eq!(chat(&[&all], false).1, all);
    }

    #[test]
    fn data_of_several_lines_and_other_formats_are_looked_at() {
        let call = "data: {\"choices\":[{\"delta\":{\ndata: \"tool_calls\":[{\"index\":0}]}}]}\n\n";
        assert_eq!(chat(&[call], false), (String::new(), call.to_owned()));
        let call = r#"event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}

"#;
        let mut frames = Frames::new(WireFormat::Messages, CALLS, false);
        assert_eq!(run(&mut frames, &[call.as_bytes()]), (String::new(), call.to_owned()));
        let call = r#"data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"n","arguments":""}}

"#;
        let mut frames = Frames::new(WireFormat::Responses, CALLS, false);
        assert_eq!(run(&mut frames, &[call.as_bytes()]), (String::new(), call.to_owned()));
    }

    #[test]
    fn each_byte_is_looked_at_once_and_a_long_event_passes() {
        let lines = "data: {\n".repeat(400_000);
        let line = format!("data: {{\"x\":\"{}", "y".repeat(64 << 20));
        for long in [lines + "\n", line.clone() + "\"}\r\n\r\n", line + "\"}\n\n"] {
            let mut frames = Frames::new(WireFormat::Chat, CALLS, true);
            let all = format!("{TEXT}\n\n{long}{TEXT}\n\n{CALL}\n\n");
            let mut passed = Vec::new();
            for piece in all.as_bytes().chunks(1000) {
                passed.extend(frames.take(piece));
                assert!(frames.waiting() <= MOST + 1000);
            }
            // What follows is read again.
            assert!(frames.waits() && passed == all.as_bytes()[..all.find(CALL).unwrap()]);
        }
    }

    proptest! {
        /// However a stream is cut, its bytes stay the same, and a call is sent only after its release.
        #[test]
        fn cuts_change_nothing(
            parts in prop::collection::vec(0..6usize, 0..8),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
        ) {
            let all = [TEXT, CALL, "", "\r", ": c\n", "event: x"];
            let text: String = parts.into_iter().map(|part| all[part].to_owned() + "\n").collect();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            at.extend([0, text.len()]);
            at.sort_unstable();
            let chunks: Vec<&[u8]> = at.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect();
            let (before, after) = run(&mut Frames::new(WireFormat::Chat, CALLS, true), &chunks);
            prop_assert!(!before.contains("tool_calls"));
            prop_assert_eq!(before + &after, text);
        }

        #[test]
        fn hostile_bytes_pass(chunks in prop::collection::vec(any::<Vec<u8>>(), 0..5)) {
            let mut frames = Frames::new(WireFormat::Chat, CALLS, true);
            let mut passed: Vec<u8> = chunks.iter().flat_map(|chunk| frames.take(chunk)).collect();
            passed.extend(frames.rest());
            prop_assert_eq!(passed, chunks.concat());
        }
    }
}
