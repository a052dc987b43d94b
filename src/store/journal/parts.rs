//! Lines of formats 2 and 3, which have content that lines share once:
//!
//! - `{"=7":VALUE}` is the value, and from here on it is part 7;
//! - `{"=":7}` is part 7;
//! - `{"=":7,"key":VALUE}` is the object part 7 with another value for this key, in its place;
//! - `{"=":[7,20,50]}` is a text: 50 bytes from byte 20 on of the text part 7, as JSON has it between the quotes;
//! - `{"=+":[VALUE,VALUE]}` is these texts, or arrays, one after the other;
//! - `{"==":VALUE}` is the value as it stands, where it would look like one of these.
//!
//! Format 2 has the first two and the last. Parts count from 0. Part 0 begins a new list, and all earlier parts are
//! forgotten: a reader that starts in the middle begins with the last line that has part 0.
//!
//! In JSON the three characters `{"=` can only be the beginning of an object, never in a string.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use super::spans::{string_end, value_end};

/// How each form of a part begins.
const MARK: &[u8] = b"{\"=";

/// Finds [`MARK`].
static MARKS: LazyLock<Finder> = LazyLock::new(|| Finder::new(MARK));

/// The most bytes of a line with its parts in their places: a damaged journal must not fill the memory.
const LONGEST: usize = 1 << 28;
/// The most bytes of all parts.
const MOST: usize = 1 << 30;
/// The most bytes of the buffer that are kept for the next line.
const KEPT: usize = 1 << 20;
/// The most levels of nested parts; a damaged journal may have more.
const DEEPEST: usize = 64;
const ENDLESS: &str = "a part that does not end";

/// The parts that a journal's reader has read.
#[derive(Debug, Default)]
pub struct PartsReader {
    known: Vec<JournalPart>,
    bytes: usize,
    has_begun: bool,
    out: Vec<u8>,
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
    pub fn whole<'l>(&'l mut self, line: &'l [u8]) -> Result<&'l [u8], String> {
        self.has_begun = false;
        let Some(mut mark) = MARKS.find(line) else {
            return Ok(line);
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
        outcome.map(|()| &*self.out)
    }

    /// Reads the parts that a line names, and leaves out lines that name none.
    ///
    /// # Errors
    /// As [`PartsReader::whole`].
    pub fn learn(&mut self, line: &[u8]) -> Result<(), String> {
        let names = |mark: usize| line.get(mark + MARK.len()).is_some_and(u8::is_ascii_digit);
        self.has_begun = false;
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
                        out.extend_from_slice(&self.part(part)?.text);
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
        let start = out.len();
        let end = self.copy(line, value, depth, out)?;
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
        let mut rest = members.iter();
        loop {
            let is_end = line.get(at) != Some(&b',');
            let key =
                if is_end { at..at } else { at + 1..string_end(line, at + 1).ok_or(ENDLESS)? };
            let changed =
                rest.find(|member| !is_end && text[member.key.clone()] == line[key.clone()]);
            let Some(member) = changed else {
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
            let start = out.len();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The last of these lines with its parts in their places.
    fn whole(lines: &[&str]) -> Result<String, String> {
        let mut parts = PartsReader::default();
        let (last, before) = lines.split_last().unwrap();
        before.iter().try_for_each(|line| parts.whole(line.as_bytes()).map(drop))?;
        let whole = parts.whole(last.as_bytes())?;
        Ok(String::from_utf8(whole.to_vec()).unwrap())
    }

    #[test]
    fn each_form_of_a_part_is_read() {
        let named = r#"{"a":{"=0":"one text"},"b":{"=1":{"x":{"=":0},"y":2}},"c":{"=2":[1,2]}}"#;
        for (line, expected) in [
            (named, r#"{"a":"one text","b":{"x":"one text","y":2},"c":[1,2]}"#),
            (r#"{"a":{"=":1},"b":[{"=":0}]}"#, r#"{"a":{"x":"one text","y":2},"b":["one text"]}"#),
            (r#"{"=":1,"y":{"=":2}}"#, r#"{"x":"one text","y":[1,2]}"#),
            (r#"{"a":{"=":[0,4,4]}}"#, r#"{"a":"text"}"#),
            (r#"{"a":{"=+":["> ",{"=":[0,0,3]},"!"]}}"#, r#"{"a":"> one!"}"#),
            (r#"{"a":{"=+":[{"=":2},[],[{"=":0}]]}}"#, r#"{"a":[1,2,"one text"]}"#),
            (r#"{"a":{"==":{"=":0}}}"#, r#"{"a":{"=":0}}"#),
            (r#"{"a":"with {\"=\":0} and {"}"#, r#"{"a":"with {\"=\":0} and {"}"#),
            (r#"{"a":{"=3":{"=":0}},"b":{"=":3}}"#, r#"{"a":"one text","b":"one text"}"#),
        ] {
            let lines = if line == named { vec![line] } else { vec![named, line] };
            assert_eq!(whole(&lines).as_deref(), Ok(expected), "{line}");
        }
        // Part 0 begins a new list.
        let again = [named, r#"{"a":{"=0":7}}"#, r#"{"a":{"=":0}}"#];
        assert_eq!(whole(&again).as_deref(), Ok(r#"{"a":7}"#));
        assert!(whole(&[named, r#"{"a":{"=0":7}}"#, r#"{"a":{"=":1}}"#]).is_err());
    }

    #[test]
    fn damaged_parts_are_refused_by_name() {
        let deep = format!("{}1{}", r#"{"=+":["#.repeat(90), "]}".repeat(90));
        for (line, why) in [
            (r#"{"a":{"=":7}}"#, "no line before this one has part 7"),
            (r#"{"a":{"=5":1}}"#, "found part 5, expected part 1"),
            (r#"{"a":{"=x":1}}"#, "\"x\" is not the number of a part"),
            (r#"{"a":{"=":[0,4,90]}}"#, "a slice beyond the end of its part"),
            (r#"{"a":{"=":0,"b":1}}"#, "a part that is no object, but another is like it"),
            (r#"{"a":{"=+":["x",[1]]}}"#, "a text joined with an array"),
            (r#"{"a":{"=+":7}}"#, "joined parts that are no list"),
            (r#"{"a":{"=1":"x"#, ENDLESS),
            (&deep, "parts within parts, more than 64 deep"),
        ] {
            let read = whole(&[r#"{"a":{"=0":"one text"}}"#, line]);
            assert_eq!(read.unwrap_err(), why, "{line}");
        }
    }
}
