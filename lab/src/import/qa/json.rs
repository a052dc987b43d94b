//! Rows of JSON lines, and of a JSON document with a list of rows.

use std::fmt;
use std::io::{BufRead, Read};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::bounded::{Bounded, LARGEST, Meter};
use super::rows::{QuestionRow, Take};
use crate::files::json_file;
use crate::files::toml_file::{Problem, Problems};

const EXPECTED: &str = "an object such as {\"question\": TEXT, \"answer\": TEXT}";

pub fn each_line(
    file: &str,
    mut reader: impl BufRead,
    take: &mut Take<'_>,
) -> Result<(), Problems> {
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = reader.by_ref().take(LARGEST + 1).read_until(b'\n', &mut bytes);
        let of_line = |text: String| Problem::of_line(file, line, "", text);
        match read.map_err(|error| of_line(format!("cannot be read: {error}")))? {
            0 => return Ok(()),
            read if read as u64 > LARGEST => {
                let most = LARGEST >> 20;
                return Err(of_line(format!("longer than {most} MiB; expected {EXPECTED}")).into());
            }
            _ => {}
        }
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| of_line("not UTF-8; save the file as UTF-8".to_owned()))?;
        if !text.trim().is_empty() {
            let fields = json_file::read_line(file, line, text.trim_end(), EXPECTED)?;
            take(QuestionRow { line, fields })?;
        }
    }
    Ok(())
}

/// A list of rows, or an object with one list of rows, such as `{"data": […]}`.
pub fn each_of_document(
    file: &str,
    reader: impl Read,
    take: &mut Take<'_>,
) -> Result<(), Problems> {
    let (reader, meter) = Bounded::new(reader);
    let mut document = serde_json::Deserializer::from_reader(reader);
    let mut found = RowFeed { meter: &meter, take, rows: 0, refused: None };
    let read = List { found: &mut found, is_outer: true }.deserialize(&mut document);
    let read = read.and_then(|()| document.end());
    let (rows, refused) = (found.rows, found.refused);
    match (refused, read) {
        (Some(problems), _) => Err(problems),
        (None, Err(error)) => {
            let text = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let text = text.strip_suffix(&place).unwrap_or(&text).to_owned();
            let line = if error.line() > 0 { error.line() } else { meter.line() };
            Err(Problem::of_line(file, line, "", text).into())
        }
        (None, Ok(())) if rows == 0 => {
            let text = format!("no row found; expected a list of rows, each {EXPECTED}");
            Err(Problem::of_file(file, text).into())
        }
        (None, Ok(())) => Ok(()),
    }
}

struct RowFeed<'f, 't> {
    meter: &'f Meter,
    take: &'f mut Take<'t>,
    rows: usize,
    /// Why the reading ended early.
    refused: Option<Problems>,
}

/// A value that may be a list of rows.
struct List<'l, 'f, 't> {
    found: &'l mut RowFeed<'f, 't>,
    /// Whether this is the document itself, whose list may be inside an object.
    is_outer: bool,
}

impl<'de> DeserializeSeed<'de> for List<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let RowFeed { meter, take, rows, refused } = self.found;
        loop {
            meter.next_row();
            let Some(row) = list.next_element::<Value>()? else { return Ok(()) };
            match row {
                Value::Object(fields) => {
                    *rows += 1;
                    if let Err(problems) = take(QuestionRow { line: meter.line(), fields }) {
                        *refused = Some(problems);
                        return Err(A::Error::custom("refused"));
                    }
                }
                _ if self.is_outer => {
                    return Err(A::Error::custom(format!("not a row; expected {EXPECTED}")));
                }
                // This list is not the list of rows.
                _ => {}
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while object.next_key::<IgnoredAny>()?.is_some() {
            if self.is_outer {
                object.next_value_seed(List { found: self.found, is_outer: false })?;
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
