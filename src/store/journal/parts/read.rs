//! What a journal's reader has read since its list of parts began, and lines made whole by it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;

use super::nodes::{MARK, string_end, value_end};

/// No line is longer when its parts are in their places: a damaged journal must not fill the memory.
const LONGEST: usize = 1 << 28;
/// Parts within parts of a damaged journal.
const DEEPEST: usize = 64;

/// The parts that a journal's reader has read.
#[derive(Clone, Debug, Default)]
pub struct Read {
    known: Vec<Part>,
    has_begun: bool,
}

#[derive(Clone, Debug, Default)]
struct Part {
    text: Arc<[u8]>,
    /// Where keys and values are, once an object was like it.
    members: Option<Arc<[Member]>>,
}

#[derive(Debug)]
struct Member {
    /// With its quotes.
    key: Range<usize>,
    value: Range<usize>,
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
            let end = value_end(line, value).ok_or(ENDLESS)?;
            at = match (&form[..name], line.get(end)) {
                (b"", Some(b',')) => self.like(line, value..end, depth, out)?,
                (name, Some(b'}')) => {
                    self.form(name, line, value..end, depth, out)?;
                    end + 1
                }
                _ => return Err(ENDLESS.to_owned()),
            };
            if out.len() > LONGEST {
                return Err(format!("longer than {LONGEST} bytes with its parts"));
            }
        }
        out.extend_from_slice(&line[at..]);
        Ok(())
    }

    /// A part in its place, by the name of its form.
    fn form(
        &mut self,
        name: &[u8],
        line: &[u8],
        value: Range<usize>,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match name {
            b"" if line[value.start] == b'[' => {
                out.push(b'"');
                out.extend_from_slice(self.slice(&line[value])?);
                out.push(b'"');
            }
            b"" => out.extend_from_slice(&self.part(&line[value])?.text),
            b"=" => out.extend_from_slice(&line[value]),
            b"+" => self.join(line, value, depth, out)?,
            name => self.name(number(name)?, line, value, depth, out)?,
        }
        Ok(())
    }

    /// A value that is a part from here on.
    fn name(
        &mut self,
        part: usize,
        line: &[u8],
        value: Range<usize>,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if part == 0 {
            self.known.clear();
            self.has_begun = true;
        }
        if part != self.known.len() {
            let next = self.known.len();
            return Err(format!("found part {part}, expected part {next}"));
        }
        self.known.push(Part::default());
        let start = out.len();
        self.expand(line, value, depth + 1, out)?;
        if let Some(known) = self.known.get_mut(part) {
            known.text = out[start..].into();
        }
        Ok(())
    }

    /// An object that is like a part, with other values for some keys, which follow. Returns its end.
    fn like(
        &mut self,
        line: &[u8],
        part: Range<usize>,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, String> {
        let model = self.part(&line[part.clone()])?;
        let text = Arc::clone(&model.text);
        let members = match &model.members {
            Some(members) => Arc::clone(members),
            None => members(&text).ok_or("a part that is no object, but another is like it")?,
        };
        let (mut at, mut copied) = (part.end, 0);
        let mut rest = members.iter();
        while line.get(at) == Some(&b',') {
            let end = string_end(line, at + 1).ok_or(ENDLESS)?;
            let key = &line[at + 1..end];
            let is_it = |member: &&Member| text[member.key.clone()] == *key;
            let member = rest.find(is_it).ok_or("a key that the part has not")?;
            out.extend_from_slice(&text[copied..member.value.start]);
            copied = member.value.end;
            at = value_end(line, end + 1).ok_or(ENDLESS)?;
            self.expand(&line[..at], end + 1..at, depth + 1, out)?;
        }
        out.extend_from_slice(&text[copied..]);
        let model = number(&line[part])?;
        if let Some(model) = self.known.get_mut(model).filter(|model| model.members.is_none()) {
            model.members = Some(members);
        }
        match line.get(at) {
            Some(b'}') => Ok(at + 1),
            _ => Err(ENDLESS.to_owned()),
        }
    }

    /// Texts, or arrays, one after the other.
    fn join(
        &mut self,
        line: &[u8],
        range: Range<usize>,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if line[range.start] != b'[' {
            return Err("joined parts that are no list".to_owned());
        }
        let (begun, mut at) = (out.len(), range.start + 1);
        while at < range.end - 1 {
            let end = value_end(line, at).ok_or(ENDLESS)?;
            let start = out.len();
            self.expand(line, at..end, depth + 1, out)?;
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
                match is_text || is_empty {
                    true => drop(out.drain(start - 1..=start)),
                    false => {
                        out[start] = b',';
                        out.remove(start - 1);
                    }
                }
            }
            at = end + usize::from(line.get(end) == Some(&b','));
        }
        Ok(())
    }

    fn slice(&self, text: &[u8]) -> Result<&[u8], String> {
        let mut numbers = text[1..text.len() - 1].split(|byte| *byte == b',');
        let mut next = || numbers.next().unwrap_or_default();
        let (part, from, len) = (self.part(next())?, number(next())?, number(next())?);
        let inside = part.text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
        let inside = inside.ok_or("a slice of a part that is no text")?;
        let slice = inside.get(from..).and_then(|rest| rest.get(..len));
        slice.ok_or_else(|| "a slice beyond the end of its part".to_owned())
    }

    fn part(&self, number_text: &[u8]) -> Result<&Part, String> {
        let part = number(number_text)?;
        let known = self.known.get(part).filter(|known| !known.text.is_empty());
        known.ok_or_else(|| format!("no line before this one has part {part}"))
    }
}

const ENDLESS: &str = "a part that does not end";

/// Keys and values of an object; `None` for what is none.
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

fn number(text: &[u8]) -> Result<usize, String> {
    let text = str::from_utf8(text).unwrap_or_default();
    text.parse().map_err(|_| format!("{text:?} is not the number of a part"))
}
