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

use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use serde_json::{Map, Value};

use crate::files::safe_json::safe;

/// How each form of a part begins.
static MARKS: LazyLock<Finder> = LazyLock::new(|| Finder::new(b"{\"="));

/// The most bytes in memory of a line with its parts in their places: a damaged journal must not fill the memory.
const LONGEST: usize = 1 << 28;
/// The most bytes of all parts.
const MOST: usize = 1 << 30;
/// The most bytes of the buffer that are kept for the next line.
const KEPT: usize = 1 << 20;
/// The most levels of a part; a damaged journal may have more.
const DEEPEST: usize = 128;

/// The parts that a journal's reader has read since its list of parts began.
#[derive(Debug, Default)]
pub struct PartsReader {
    /// With their bytes. A part within which the line is has none yet.
    known: Vec<Option<(Arc<Value>, usize)>>,
    /// The bytes of all parts.
    bytes: usize,
    /// The bytes that the line may still take of parts.
    left: usize,
    has_begun: bool,
    out: Vec<u8>,
}

impl PartsReader {
    /// The line with its parts in their places.
    ///
    /// # Errors
    /// The line names a part that no line before it has, or is no JSON.
    pub fn whole<'l>(&'l mut self, line: &'l [u8]) -> Result<&'l [u8], String> {
        self.has_begun = false;
        if MARKS.find(line).is_none() {
            return Ok(line);
        }
        self.left = LONGEST;
        let line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let whole = self.read(line)?;
        self.out.clear();
        self.out.shrink_to(KEPT);
        serde_json::to_writer(&mut self.out, &whole).map_err(|error| error.to_string())?;
        Ok(&self.out)
    }

    /// Whether the line that was read last begins a new list of parts.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The value with its parts in their places.
    fn read(&mut self, value: Value) -> Result<Value, String> {
        match value {
            Value::Array(values) => self.list(values).map(Value::Array),
            Value::Object(fields) => {
                let first = fields.keys().next().and_then(|key| key.strip_prefix('='));
                if let Some(form) = first.map(str::to_owned) {
                    return self.form(&form, fields);
                }
                let read = fields.into_iter().map(|(key, value)| Ok((key, self.read(value)?)));
                read.collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
            plain => Ok(plain),
        }
    }

    fn list(&mut self, values: Vec<Value>) -> Result<Vec<Value>, String> {
        values.into_iter().map(|value| self.read(value)).collect()
    }

    /// Reads an object that stands for something; its first key is `=` and this form.
    fn form(&mut self, form: &str, mut fields: Map<String, Value>) -> Result<Value, String> {
        let first = fields.shift_remove(&format!("={form}")).unwrap_or_default();
        match (form, first) {
            ("", Value::Array(slice)) => self.slice(&slice),
            ("", part) => self.like(&part, fields),
            _ if !fields.is_empty() => Err("a part that does not end with its value".to_owned()),
            ("=", value) => Ok(value),
            ("+", Value::Array(values)) => join(self.list(values)?),
            ("+", _) => Err("joined parts that are no list".to_owned()),
            (number, value) => match number.parse() {
                Ok(number) => self.name(number, value),
                Err(_) => Err(no_number(number)),
            },
        }
    }

    /// A value that is a part from here on.
    fn name(&mut self, number: usize, value: Value) -> Result<Value, String> {
        if number == 0 {
            self.known.clear();
            (self.bytes, self.has_begun) = (0, true);
        }
        if number != self.known.len() {
            return Err(format!("found part {number}, expected part {}", self.known.len()));
        }
        self.known.push(None);
        let value = self.read(value)?;
        let size = size(&value, 0)?;
        self.bytes += size;
        if self.bytes > MOST {
            return Err(format!("more than {MOST} bytes of parts"));
        }
        if let Some(known) = self.known.get_mut(number) {
            *known = Some((Arc::new(value.clone()), size));
        }
        Ok(value)
    }

    /// A part, or the object that is like it, with other values for some keys.
    fn like(&mut self, number: &Value, mut changed: Map<String, Value>) -> Result<Value, String> {
        let (part, size) = self.part(number)?;
        let left = self.left.checked_sub(size);
        self.left = left.ok_or_else(|| format!("longer than {LONGEST} bytes with its parts"))?;
        if changed.is_empty() {
            return Ok(Value::clone(&part));
        }
        let model = part.as_object().ok_or("a part that is no object, but another is like it")?;
        let mut whole = Map::with_capacity(model.len());
        for (key, value) in model {
            let value = match changed.shift_remove(key) {
                Some(changed) => self.read(changed)?,
                None => value.clone(),
            };
            whole.insert(key.clone(), value);
        }
        match changed.is_empty() {
            true => Ok(whole.into()),
            false => Err("a key that the part has not".to_owned()),
        }
    }

    /// A slice of a text, by bytes of what JSON has between its quotes.
    fn slice(&self, slice: &[Value]) -> Result<Value, String> {
        let [part, from, len] = slice else {
            return Err("a slice without three numbers".to_owned());
        };
        let (part, _) = self.part(part)?;
        let json =
            Value::from(part.as_str().ok_or("a slice of a part that is no text")?).to_string();
        let json = safe(&json);
        let place = |at: &Value| at.as_u64().and_then(|at| usize::try_from(at).ok());
        let inside = json.get(1..json.len() - 1);
        let slice = place(from).and_then(|from| inside?.get(from..)?.get(..place(len)?));
        let slice = slice.ok_or("a slice beyond the end of its part")?;
        let text = serde_json::from_str::<Value>(&format!("\"{slice}\""));
        text.map_err(|_| "a slice within a character".to_owned())
    }

    fn part(&self, number: &Value) -> Result<(Arc<Value>, usize), String> {
        let part = number.as_u64().ok_or_else(|| no_number(&number.to_string()))?;
        let known = usize::try_from(part).ok().and_then(|part| self.known.get(part)?.clone());
        known.ok_or_else(|| format!("no line before this one has part {part}"))
    }
}

/// Texts, or arrays, one after the other.
fn join(values: Vec<Value>) -> Result<Value, String> {
    let mut values = values.into_iter();
    let mut whole = values.next().ok_or("no joined parts")?;
    for more in values {
        match (&mut whole, more) {
            (Value::String(text), Value::String(more)) => text.push_str(&more),
            (Value::Array(values), Value::Array(more)) => values.extend(more),
            _ => return Err("a text joined with something else".to_owned()),
        }
    }
    Ok(whole)
}

/// The bytes of a value in memory.
///
/// # Errors
/// The value is too deep.
fn size(value: &Value, depth: usize) -> Result<usize, String> {
    if depth > DEEPEST {
        return Err(format!("parts within parts, more than {DEEPEST} deep"));
    }
    let within = match value {
        Value::String(text) => text.len(),
        Value::Array(values) => {
            values.iter().map(|value| size(value, depth + 1)).sum::<Result<_, _>>()?
        }
        Value::Object(fields) => {
            let field =
                |(key, value): (&String, _)| Ok::<_, String>(key.len() + size(value, depth + 1)?);
            fields.iter().map(field).sum::<Result<usize, _>>()?
        }
        _ => 0,
    };
    Ok(size_of::<Value>() + within)
}

fn no_number(text: &str) -> String {
    format!("{text:?} is not the number of a part")
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
        for (line, why) in [
            (r#"{"a":{"=":7}}"#, "no line before this one has part 7"),
            (r#"{"a":{"=5":1}}"#, "found part 5, expected part 1"),
            (r#"{"a":{"=x":1}}"#, "\"x\" is not the number of a part"),
            (r#"{"a":{"=":[0,4,90]}}"#, "a slice beyond the end of its part"),
            (r#"{"a":{"=":0,"b":1}}"#, "a part that is no object, but another is like it"),
            (r#"{"a":{"=+":["x",[1]]}}"#, "a text joined with something else"),
            (r#"{"a":{"=+":7}}"#, "joined parts that are no list"),
            (r#"{"a":{"=1":"x"#, "EOF while parsing a string at line 1 column 13"),
        ] {
            let read = whole(&[r#"{"a":{"=0":"one text"}}"#, line]);
            assert_eq!(read.unwrap_err(), why, "{line}");
        }
    }

    #[test]
    fn parts_of_parts_fill_neither_the_memory_nor_the_stack() {
        // Each part has the one before, ten times or ten levels deeper.
        for (wide, why) in [(true, "longer than 268435456 bytes"), (false, "more than 128 deep")] {
            let mut parts = PartsReader::default();
            let line = |n: usize| match (n, wide) {
                (0, _) => r#"{"=0":"text"}"#.to_owned(),
                (n, true) => {
                    let before = format!(r#"{{"=":{}}}"#, n - 1);
                    format!(r#"{{"={n}":[{}]}}"#, [&*before; 10].join(","))
                }
                (n, false) => {
                    format!(r#"{{"={n}":{}{{"=":{}}}{}}}"#, "[".repeat(10), n - 1, "]".repeat(10))
                }
            };
            let failed = (0..30).find_map(|n| parts.whole(line(n).as_bytes()).err());
            assert!(failed.as_ref().is_some_and(|it| it.contains(why)), "{failed:?}");
        }
    }
}
