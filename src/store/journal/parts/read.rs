//! The parts that a journal's reader has read since its list of parts began, and lines restored from them.

use std::ops::Range;
use std::sync::Arc;

use super::nodes::{MARK, MARKS, string_end, value_end};

/// The most bytes of a line with its parts in their places: a damaged journal must not fill the memory.
const LONGEST: usize = 1 << 28;
/// The most bytes of all parts.
const MOST: usize = 1 << 30;
/// The most bytes of the buffer that are kept for the next line.
const KEPT: usize = 1 << 20;
/// The most levels of nested parts; a damaged journal may have more.
const DEEPEST: usize = 64;
/// The most spans of an object: that of the whole and those of its values.
const PLACES: usize = 64;
/// Shorter values of an object have no span.
const LONG: usize = 64;
const ENDLESS: &str = "a part that does not end";

/// The parts that a journal's reader has read.
#[derive(Clone, Debug, Default)]
pub struct PartsReader {
    known: Vec<JournalPart>,
    bytes: usize,
    has_begun: bool,
    out: Vec<u8>,
    spans: Vec<Span>,
}

/// A line with its parts in their places.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'l> {
    pub text: &'l [u8],
    /// In the order of their beginnings; of those that begin at one place, the outer ones first.
    pub spans: &'l [Span],
    /// Whether the line begins a new list of parts.
    pub has_begun: bool,
}

/// The place, in a whole line, of a part or of a value of the object that another one is like.
#[derive(Clone, Debug)]
pub struct Span {
    /// Unique within this list of parts.
    pub id: usize,
    pub range: Range<usize>,
}

impl Span {
    /// The part, or the value at this place of it, from 1.
    fn new(part: usize, place: usize, range: Range<usize>) -> Self {
        Self { id: part * PLACES + place, range }
    }
}

#[derive(Clone, Debug, Default)]
struct JournalPart {
    text: Arc<[u8]>,
    /// The places of keys and values, once another object was like it.
    members: Option<Arc<[Member]>>,
}

#[derive(Debug)]
struct Member {
    /// With its quotes.
    key: Range<usize>,
    value: Range<usize>,
}

impl PartsReader {
    /// The line with its parts in their places.
    ///
    /// # Errors
    /// The line names a part that no line before it has, or is no JSON.
    pub fn whole<'l>(&'l mut self, line: &'l [u8]) -> Result<Whole<'l>, String> {
        self.has_begun = false;
        self.spans.clear();
        let Some(mut mark) = MARKS.find(line) else {
            return Ok(Whole { text: line, spans: &[], has_begun: false });
        };
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        out.shrink_to(KEPT);
        let mut at = 0;
        let outcome = loop {
            out.extend_from_slice(&line[at..mark]);
            match self.form(line, mark, 0, &mut out) {
                Ok(end) => at = end,
                Err(why) => break Err(why),
            }
            match MARKS.find(&line[at..]) {
                Some(next) => mark = at + next,
                None => break Ok(()),
            }
        };
        out.extend_from_slice(&line[at..]);
        self.out = out;
        let has_begun = self.has_begun;
        outcome.map(|()| Whole { text: &self.out, spans: &self.spans, has_begun })
    }

    /// Reads the parts that a line names, and leaves out lines that name none.
    ///
    /// # Errors
    /// As [`PartsReader::whole`].
    pub fn learn(&mut self, line: &[u8]) -> Result<(), String> {
        let names = |mark: usize| line.get(mark + MARK.len()).is_some_and(u8::is_ascii_digit);
        match MARKS.find_iter(line).any(names) {
            true => self.whole(line).map(drop),
            false => Ok(()),
        }
    }

    /// Whether the line that was read last begins a new list of parts.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Copies the value that begins here, with its parts in their places. Returns its end.
    fn copy(
        &mut self,
        line: &[u8],
        from: usize,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, String> {
        let (mut at, mut copied, mut open) = (from, from, 0_usize);
        loop {
            match *line.get(at).ok_or(ENDLESS)? {
                b'"' => at = string_end(line, at).ok_or(ENDLESS)?,
                b'{' if line[at..].starts_with(MARK) => {
                    out.extend_from_slice(&line[copied..at]);
                    at = self.form(line, at, depth + 1, out)?;
                    copied = at;
                }
                b'{' | b'[' => {
                    open += 1;
                    at += 1;
                    continue;
                }
                b'}' | b']' => {
                    open = open.checked_sub(1).ok_or(ENDLESS)?;
                    at += 1;
                }
                b',' | b':' | b' ' if open > 0 => {
                    at += 1;
                    continue;
                }
                _ => {
                    let is_plain =
                        |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                    let len = line[at..].iter().take_while(is_plain).count();
                    if len == 0 {
                        return Err(ENDLESS.to_owned());
                    }
                    at += len;
                }
            }
            if open == 0 {
                out.extend_from_slice(&line[copied..at]);
                return Ok(at);
            }
        }
    }

    /// Puts the part that begins here in its place. Returns its end.
    fn form(
        &mut self,
        line: &[u8],
        mark: usize,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, String> {
        if depth > DEEPEST {
            return Err(format!("parts within parts, more than {DEEPEST} deep"));
        }
        let name = mark + MARK.len();
        let value = memchr::memchr(b'"', &line[name..]).ok_or("a part without a name")? + name + 2;
        let end = match &line[name..value - 2] {
            b"" if line.get(value) == Some(&b'[') => self.slice(line, value, out)?,
            b"" => {
                let (part, end) = number(line, value)?;
                match line.get(end) {
                    Some(b',') => self.like(part, line, end, depth, out)?,
                    Some(b'}') => {
                        let start = out.len();
                        out.extend_from_slice(&self.part(part)?.text);
                        self.spans.push(Span::new(part, 0, start..out.len()));
                        end
                    }
                    _ => return Err(ENDLESS.to_owned()),
                }
            }
            b"=" => {
                let end = value_end(line, value).ok_or(ENDLESS)?;
                out.extend_from_slice(&line[value..end]);
                end
            }
            b"+" => self.join(line, value, depth, out)?,
            text => match number(line, name)? {
                (part, end) if end == value - 2 => self.name(part, line, value, depth, out)?,
                _ => return Err(no_number(text)),
            },
        };
        if out.len() > LONGEST {
            return Err(format!("longer than {LONGEST} bytes with its parts"));
        }
        match line.get(end) {
            Some(b'}') => Ok(end + 1),
            _ => Err(ENDLESS.to_owned()),
        }
    }

    /// A value that is a part from here on.
    fn name(
        &mut self,
        part: usize,
        line: &[u8],
        value: usize,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, String> {
        if part == 0 {
            self.known.clear();
            self.bytes = 0;
            self.has_begun = true;
        }
        if part != self.known.len() {
            let next = self.known.len();
            return Err(format!("found part {part}, expected part {next}"));
        }
        self.known.push(JournalPart::default());
        let (start, span) = (out.len(), self.spans.len());
        self.spans.push(Span::new(part, 0, start..start));
        let end = self.copy(line, value, depth, out)?;
        if let Some(span) = self.spans.get_mut(span) {
            span.range.end = out.len();
        }
        self.bytes += out.len() - start;
        if self.bytes > MOST {
            return Err(format!("more than {MOST} bytes of parts"));
        }
        if let Some(known) = self.known.get_mut(part) {
            known.text = out[start..].into();
        }
        Ok(end)
    }

    /// An object that is like a part, with other values for some keys, which follow. Returns its end.
    fn like(
        &mut self,
        part: usize,
        line: &[u8],
        from: usize,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, String> {
        let model = self.part(part)?;
        let text = Arc::clone(&model.text);
        let members = match &model.members {
            Some(members) => Arc::clone(members),
            None => {
                let members = members(&text);
                let members = members.ok_or("a part that is no object, but another is like it")?;
                self.known[part].members = Some(Arc::clone(&members));
                members
            }
        };
        let (mut at, mut copied) = (from, 0);
        let mut rest = members.iter().enumerate();
        loop {
            let is_end = line.get(at) != Some(&b',');
            let key =
                if is_end { at..at } else { at + 1..string_end(line, at + 1).ok_or(ENDLESS)? };
            let (end, begin) = (out.len(), copied);
            let changed = rest.find(|(place, member)| {
                let value = &member.value;
                let is_it = !is_end && text[member.key.clone()] == line[key.clone()];
                if !is_it && value.len() >= LONG && place + 1 < PLACES {
                    let range = end + value.start - begin..end + value.end - begin;
                    self.spans.push(Span::new(part, place + 1, range));
                }
                is_it
            });
            let Some((_, member)) = changed else {
                out.extend_from_slice(&text[copied..]);
                return if is_end { Ok(at) } else { Err("a key that the part has not".to_owned()) };
            };
            out.extend_from_slice(&text[copied..member.value.start]);
            copied = member.value.end;
            at = self.copy(line, key.end + 1, depth, out)?;
        }
    }

    /// Texts, or arrays, one after the other. Returns the end of their list.
    fn join(
        &mut self,
        line: &[u8],
        list: usize,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, String> {
        if line.get(list) != Some(&b'[') {
            return Err("joined parts that are no list".to_owned());
        }
        let (begun, mut at) = (out.len(), list + 1);
        loop {
            let (start, span) = (out.len(), self.spans.len());
            at = self.copy(line, at, depth, out)?;
            let ends = (out.get(start).copied(), out.last().copied());
            let is_text = ends == (Some(b'"'), Some(b'"')) && out.len() - start > 1;
            if !is_text && ends != (Some(b'['), Some(b']')) {
                return Err("a joined part that is neither a text nor an array".to_owned());
            }
            if start > begun {
                if out[begun] != out[start] {
                    return Err("a text joined with an array".to_owned());
                }
                let is_empty = out.len() - start == 2 || start - begun == 2;
                let taken = if is_text || is_empty { 2 } else { 1 };
                out.drain(start - 1..start - 1 + taken);
                if taken == 1 {
                    out[start - 1] = b',';
                }
                for span in &mut self.spans[span..] {
                    span.range = span.range.start.saturating_sub(taken)
                        ..span.range.end.saturating_sub(taken);
                }
            }
            match line.get(at) {
                Some(b',') => at += 1,
                Some(b']') => return Ok(at + 1),
                _ => return Err(ENDLESS.to_owned()),
            }
        }
    }

    /// A slice of a text. Returns the end of its three numbers.
    fn slice(&self, line: &[u8], list: usize, out: &mut Vec<u8>) -> Result<usize, String> {
        let (part, end) = number(line, list + 1)?;
        let (from, end) = number(line, end + 1)?;
        let (len, end) = number(line, end + 1)?;
        let text = &self.part(part)?.text;
        let inside = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
        let inside = inside.ok_or("a slice of a part that is no text")?;
        let slice = inside.get(from..).and_then(|rest| rest.get(..len));
        out.push(b'"');
        out.extend_from_slice(slice.ok_or("a slice beyond the end of its part")?);
        out.push(b'"');
        match line.get(end) {
            Some(b']') => Ok(end + 1),
            _ => Err(ENDLESS.to_owned()),
        }
    }

    fn part(&self, part: usize) -> Result<&JournalPart, String> {
        let known = self.known.get(part).filter(|known| !known.text.is_empty());
        known.ok_or_else(|| format!("no line before this one has part {part}"))
    }
}

/// The keys and values of an object; `None` if the text is not an object.
fn members(text: &[u8]) -> Option<Arc<[Member]>> {
    let (mut members, mut at) = (Vec::new(), 0);
    while matches!(text.get(at), Some(b',')) || at == 0 && text.first() == Some(&b'{') {
        let key = at + 1..string_end(text, at + 1)?;
        let value = key.end + 1..value_end(text, key.end + 1)?;
        at = value.end;
        members.push(Member { key, value });
    }
    (at + 1 == text.len()).then(|| members.into())
}

/// The number that begins here, and its end.
fn number(line: &[u8], from: usize) -> Result<(usize, usize), String> {
    let rest = line.get(from..).unwrap_or_default();
    let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = rest[..len].iter().try_fold(0_usize, |number, digit| {
        number.checked_mul(10)?.checked_add(usize::from(digit - b'0'))
    });
    match number.filter(|_| len > 0) {
        Some(number) => Ok((number, from + len)),
        None => {
            let end = rest.iter().position(|byte| b"\",]}".contains(byte)).unwrap_or(rest.len());
            Err(no_number(&rest[..end]))
        }
    }
}

fn no_number(text: &[u8]) -> String {
    format!("{:?} is not the number of a part", String::from_utf8_lossy(text))
}
