//! A line of a journal: an event with its number and its time.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeStruct};
use serde_json::{Value, value::RawValue};

use super::Event;
use crate::json_place::{bare, path_of};

/// The receiver of the paths of unknown fields. It is one type for all readers, each of which is much code.
type UnknownFields<'a> = &'a mut dyn FnMut(serde_ignored::Path<'_>);

/// Line of a journal after the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Counted from 1, without gaps.
    pub n: u64,
    /// Microseconds since the session was opened.
    pub at: u64,
    pub event: Event,
    /// Data of a newer version that this one does not know; `None` for all other records.
    pub newer: Option<Box<Newer>>,
}

/// Fields unknown to this version. They are kept, so that writing the record again loses nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Newer {
    /// All data of the event, known or not.
    pub data: Value,
    /// The paths of the unknown fields, such as `plan.tools.0.risk`.
    pub fields: Vec<String>,
}

impl Record {
    pub fn new(n: u64, at: u64, event: impl Into<Event>) -> Self {
        Self { n, at, event: event.into(), newer: None }
    }

    /// Reads a line of JSON.
    ///
    /// # Errors
    /// A message that says what is wrong, with the field if it is known.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Raw<'a> {
            n: u64,
            at: u64,
            #[serde(borrow)]
            kind: Cow<'a, str>,
            #[serde(borrow, default)]
            data: Option<&'a RawValue>,
        }
        if let Some(record) = Self::read_plain(line) {
            return Ok(record);
        }
        let Raw { n, at, kind, data } =
            serde_json::from_slice(line).map_err(|error| without_place(&error))?;
        let data = data.map_or("null", RawValue::get);
        let mut fields = Vec::new();
        let Some(event) = Event::read(&kind, data, &mut |path| fields.push(path.to_string()))
        else {
            let data = serde_json::from_str(data).map_err(|error| without_place(&error))?;
            let event = Event::Unknown { kind: kind.into_owned(), data };
            return Ok(Self::new(n, at, event));
        };
        let newer = match fields.is_empty() {
            true => None,
            false => {
                let data = serde_json::from_str(data).map_err(|error| without_place(&error))?;
                Some(Box::new(Newer { data, fields }))
            }
        };
        Ok(Self { n, at, event: event?, newer })
    }

    /// Reads a line as this version writes it, if it can all be read: number, time and kind are where they are expected,
    /// and the data is looked at once.
    fn read_plain(line: &[u8]) -> Option<Self> {
        let line = str::from_utf8(line).ok()?.trim_ascii_end();
        let (n, rest) = number(line.strip_prefix("{\"n\":")?)?;
        let (at, rest) = number(rest.strip_prefix(",\"at\":")?)?;
        let (kind, rest) = rest.strip_prefix(",\"kind\":\"")?.split_once('"')?;
        let data = rest.strip_prefix(",\"data\":")?.strip_suffix('}')?;
        let mut is_known = true;
        let mut json = serde_json::Deserializer::from_str(data);
        let mut note = |_: serde_ignored::Path<'_>| is_known = false;
        let mut unknown: UnknownFields<'_> = &mut note;
        let data = serde_ignored::Deserializer::new(&mut json, &mut unknown);
        let event = Event::of_kind(kind, data)?.ok()?;
        json.end().ok()?;
        is_known.then_some(Self { n, at, event, newer: None })
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("Record", 4)?;
        line.serialize_field("n", &self.n)?;
        line.serialize_field("at", &self.at)?;
        line.serialize_field("kind", self.event.kind())?;
        match &self.newer {
            Some(newer) => line.serialize_field("data", &newer.data)?,
            None => line.serialize_field("data", &Data(&self.event))?,
        }
        line.end()
    }
}

impl Serialize for Event {
    /// As in a journal, but without number and time.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("Event", 2)?;
        line.serialize_field("kind", self.kind())?;
        line.serialize_field("data", &Data(self))?;
        line.end()
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Raw {
            kind: String,
            data: Value,
        }
        let Raw { kind, data } = Raw::deserialize(deserializer)?;
        // As text, so that events have one reader.
        let known = Self::read(&kind, &data.to_string(), &mut |_| {});
        let known = known.transpose().map_err(de::Error::custom)?;
        Ok(known.unwrap_or(Event::Unknown { kind, data }))
    }
}

/// The data of an event, without its kind.
struct Data<'a>(&'a Event);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.data(serializer)
    }
}

impl Event {
    /// Reads the data of a kind; `None` for a kind unknown to this version. `unknown` receives each
    /// unknown field.
    fn read(
        kind: &str,
        data: &str,
        mut unknown: UnknownFields<'_>,
    ) -> Option<Result<Self, String>> {
        let mut json = serde_json::Deserializer::from_str(data);
        let read = Self::of_kind(kind, serde_ignored::Deserializer::new(&mut json, &mut unknown))?;
        Some(read.map_err(|error| match path_of(data, &error).as_str() {
            "" => without_place(&error),
            // The column would be that of the data, not of the line.
            path => format!("data.{path}: {}", bare(&error)),
        }))
    }
}

/// serde's message without the line, which is always the first here.
fn without_place(error: &serde_json::Error) -> String {
    format!("{} (column {})", bare(error), error.column())
}

/// The number at the beginning, and what follows.
fn number(text: &str) -> Option<(u64, &str)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(len);
    let is_json = number == "0" || !number.starts_with('0');
    Some((number.parse().ok().filter(|_| is_json)?, rest))
}

/// A value of JSON; `None` if it cannot be read, or has fields that this version does not know.
pub fn read_known<T: de::DeserializeOwned>(json: &[u8]) -> Option<T> {
    let mut is_known = true;
    let value = read_noting(str::from_utf8(json).ok()?, &mut |_| is_known = false).ok()?;
    is_known.then_some(value)
}

/// Reads JSON as `serde_json::from_str` does, and as events are read. So a type that is in events is compiled for one
/// reader; a second one for all of them is a megabyte.
///
/// # Errors
/// Those of serde_json.
pub fn read_json<T: de::DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    read_noting(json, &mut |_| {})
}

/// A value as JSON, by way of its text. So a type that is in events is compiled for one writer; null if it cannot be
/// written.
pub fn json_of(value: &(impl Serialize + ?Sized)) -> Value {
    let text = serde_json::to_string(value).ok();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn read_noting<T: de::DeserializeOwned>(
    json: &str,
    mut unknown: UnknownFields<'_>,
) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_str(json);
    let value = T::deserialize(serde_ignored::Deserializer::new(&mut json, &mut unknown))?;
    json.end()?;
    Ok(value)
}
