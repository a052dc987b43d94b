//! What a journal has in common with its earlier lines, such as the tools and messages of a request, is
//! written once. This is on the text of a line, so that a new kind of event needs nothing here:
//!
//! - `{"=7":VALUE}` is the value, and from here on it is part 7;
//! - `{"=":7}` is part 7;
//! - `{"==":VALUE}` is the value as it stands, where it would look like one of these.
//!
//! Parts count from 0. Part 0 begins a new list, and all earlier parts are forgotten: so neither who writes
//! nor who reads keeps many, and who reads from the middle begins with the last line that has part 0.
//!
//! In JSON the three characters `{"=` can only be the beginning of an object, never in a string.

mod spans;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;
use memchr::memmem;

use self::spans::{Span, spans, value_end};

/// How each of the three forms begins.
const MARK: &[u8] = b"{\"=";
/// Shorter values cost as much as a reference.
const LEAST: usize = 32;
/// Larger values are rarely repeated as a whole, but their parts are.
const MOST: usize = 1 << 18;
/// A list of parts ends after so many lines, or bytes of lines: who reads from the middle reads no more than
/// that.
const LINES: usize = 4096;
const BYTES: usize = 4 << 20;
/// No line is longer when its parts are in their places: a damaged journal must not fill the memory.
const LONGEST: usize = 1 << 28;
/// Parts within parts of a damaged journal.
const DEEPEST: usize = 64;

/// The parts that a journal's writer has written.
#[derive(Debug, Default)]
pub struct Written {
    known: HashMap<Box<[u8]>, usize, RandomState>,
    lines: usize,
    bytes: usize,
}

impl Written {
    /// Appends a line to `out`. What is before `from` stays as it is; the rest is the inside of an object.
    /// Parts are only replaced, and new ones named, if the line `has_parts`.
    pub fn shorten(&mut self, line: &[u8], from: usize, has_parts: bool, out: &mut Vec<u8>) {
        let begun = out.len();
        if self.lines >= LINES || self.bytes >= BYTES {
            *self = Self::default();
        }
        let mut copied = 0;
        let mut open: Vec<usize> = Vec::new();
        for Span { range, looks_like_a_part } in spans(line, from, LEAST) {
            if range.start < copied {
                continue;
            }
            while let Some(end) = open.pop_if(|end| *end <= range.start) {
                out.extend_from_slice(&line[copied..end]);
                out.push(b'}');
                copied = end;
            }
            let text = &line[range.clone()];
            let known = self.known.get(text).filter(|_| has_parts);
            if !looks_like_a_part && known.is_none() && (!has_parts || text.len() > MOST) {
                continue;
            }
            out.extend_from_slice(&line[copied..range.start]);
            copied = range.start;
            if looks_like_a_part {
                out.extend_from_slice(b"{\"==\":");
                out.extend_from_slice(text);
                out.push(b'}');
                copied = range.end;
            } else if let Some(part) = known {
                out.extend_from_slice(format!("{{\"=\":{part}}}").as_bytes());
                copied = range.end;
            } else {
                let part = self.known.len();
                out.extend_from_slice(format!("{{\"={part}\":").as_bytes());
                self.known.insert(text.into(), part);
                open.push(range.end);
            }
        }
        for end in open.into_iter().rev() {
            out.extend_from_slice(&line[copied..end]);
            out.push(b'}');
            copied = end;
        }
        out.extend_from_slice(&line[copied..]);
        self.lines += 1;
        self.bytes += out.len() - begun;
    }
}

/// The parts that a journal's reader has read.
#[derive(Clone, Debug, Default)]
pub struct Read {
    known: Vec<Box<[u8]>>,
    has_begun: bool,
}

impl Read {
    /// The line with its parts in their places.
    ///
    /// # Errors
    /// The line names a part that no line before it has, or is no JSON.
    pub fn whole<'l>(&mut self, line: &'l [u8]) -> Result<Cow<'l, [u8]>, String> {
        self.has_begun = false;
        if memmem::find(line, MARK).is_none() {
            return Ok(Cow::Borrowed(line));
        }
        let mut out = Vec::with_capacity(line.len() * 4);
        self.expand(line, 0..line.len(), 0, &mut out)?;
        Ok(Cow::Owned(out))
    }

    /// Whether the line that was read last begins a new list of parts.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn expand(
        &mut self,
        line: &[u8],
        range: Range<usize>,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!("parts within parts, more than {DEEPEST} deep"));
        }
        // A value that ends behind its line, or behind the value that it is in, does not end.
        let line = &line[..range.end];
        let mut at = range.start;
        while let Some(found) = memmem::find(&line[at..], MARK) {
            let mark = at + found;
            let form = &line[mark + MARK.len()..];
            out.extend_from_slice(&line[at..mark]);
            let name = memchr::memchr(b'"', form).ok_or("a part without a name")?;
            let value = mark + MARK.len() + name + 2;
            let end = value_end(line, value).filter(|end| line.get(*end) == Some(&b'}'));
            let end = end.ok_or("a part that does not end")?;
            match &form[..name] {
                b"" => out.extend_from_slice(self.part(&line[value..end])?),
                b"=" => out.extend_from_slice(&line[value..end]),
                name => {
                    let part = number(name)?;
                    if part == 0 {
                        self.known.clear();
                        self.has_begun = true;
                    }
                    if part != self.known.len() {
                        let next = self.known.len();
                        return Err(format!("found part {part}, expected part {next}"));
                    }
                    self.known.push(Box::default());
                    let start = out.len();
                    self.expand(line, value..end, depth + 1, out)?;
                    if let Some(known) = self.known.get_mut(part) {
                        *known = out[start..].into();
                    }
                }
            }
            if out.len() > LONGEST {
                return Err(format!("longer than {LONGEST} bytes with its parts"));
            }
            at = end + 1;
        }
        out.extend_from_slice(&line[at..]);
        Ok(())
    }

    fn part(&self, number_text: &[u8]) -> Result<&[u8], String> {
        let part = number(number_text)?;
        let known = self.known.get(part).filter(|known| !known.is_empty());
        known
            .map(|known| &**known)
            .ok_or_else(|| format!("no line before this one has part {part}"))
    }
}

fn number(text: &[u8]) -> Result<usize, String> {
    let text = str::from_utf8(text).unwrap_or_default();
    text.parse().map_err(|_| format!("{text:?} is not the number of a part"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(lines: &[&str]) -> Vec<String> {
        let (mut written, mut read) = (Written::default(), Read::default());
        let shorten = |line: &&str| {
            let mut out = Vec::new();
            written.shorten(line.as_bytes(), 1, true, &mut out);
            let whole = read.whole(&out).unwrap();
            assert_eq!(str::from_utf8(&whole).unwrap(), *line);
            String::from_utf8(out).unwrap()
        };
        lines.iter().map(shorten).collect()
    }

    #[test]
    fn what_was_written_before_is_named_only() {
        let long = "a text that is longer than a reference";
        let line = format!(r#"{{"a":"{long}","b":["{long}","short"]}}"#);
        let lines = both(&[&line, &line]);
        assert_eq!(
            lines[0],
            format!(r#"{{"a":{{"=0":"{long}"}},"b":{{"=1":[{{"=":0}},"short"]}}}}"#)
        );
        assert_eq!(lines[1], r#"{"a":{"=":0},"b":{"=":1}}"#);
    }

    #[test]
    fn a_value_that_looks_like_a_part_stays_what_it_is() {
        let hostile = [
            r#"{"a":{"=":0},"b":{"=0":"a text that is longer than a reference"}}"#,
            r#"{"a":{"==":1,"c":{"=1":2}},"t":"a text with {\"=\":0} and an end {","u":"="}"#,
            r#"{"a":[{"=":0},"a text that is longer than a reference",{"==":{"=":[]}}]}"#,
        ];
        both(&[hostile[0], hostile[1], hostile[2], hostile[0], hostile[1], hostile[2]]);
    }

    #[test]
    fn a_list_of_parts_ends_and_a_reader_can_begin_there() {
        let line =
            |n: usize| format!(r#"{{"n":{n},"a":"a text that is longer than a reference"}}"#);
        let lines: Vec<String> = (0..LINES + 2).map(line).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let short = both(&lines);
        let mut read = Read::default();
        let begins = (0..short.len()).filter(|at| {
            read.whole(short[*at].as_bytes()).unwrap();
            read.has_begun()
        });
        assert_eq!(begins.collect::<Vec<_>>(), [0, LINES]);
        let mut read = Read::default();
        assert!(read.whole(short[LINES + 1].as_bytes()).is_err(), "part 0 is not known yet");
        for at in LINES..LINES + 2 {
            assert_eq!(*read.whole(short[at].as_bytes()).unwrap(), *lines[at].as_bytes());
        }
    }

    #[test]
    fn damaged_parts_are_refused() {
        for (line, why) in [
            (r#"{"a":{"=":7}}"#, "no line before this one has part 7"),
            (r#"{"a":{"=3":1}}"#, "found part 3, expected part 0"),
            (r#"{"a":{"=0":{"=":0}}}"#, "no line before this one has part 0"),
            (r#"{"a":{"=x":1}}"#, "\"x\" is not the number of a part"),
            (r#"{"a":{"="#, "a part without a name"),
            (r#"{"a":{"=0":"x"#, "a part that does not end"),
            (r#"{"a":{"=0":"x","b":1}}"#, "a part that does not end"),
            (r#"{"a":{"=0":{"=1":}}}"#, "a part that does not end"),
            (r#"{"a":{"=0":[{"=1":[]]},1]}}"#, "a part that does not end"),
            (r#"{"=0":{"=1"}}}"#, "a part that does not end"),
        ] {
            assert_eq!(Read::default().whole(line.as_bytes()).unwrap_err(), why, "{line}");
        }
        let mut read = Read::default();
        read.whole(format!(r#"{{"=0":"{}"}}"#, "x".repeat(1000)).as_bytes()).unwrap();
        let doubled =
            |part: usize| format!(r#"{{"={}":[{{"=":{part}}},{{"=":{part}}}]}}"#, part + 1);
        let grown = (0..40).find_map(|part| read.whole(doubled(part).as_bytes()).err());
        assert!(grown.unwrap().starts_with("longer than"));
    }
}
