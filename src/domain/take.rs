//! Paths by which a program takes values out of a JSON result: `results[0].id`, `crew[job=Director].name`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The path from a result to one value in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Take(Vec<TakePart>);

/// Step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakePart {
    /// The field of an object.
    Key(String),
    /// The element of a list, from 0.
    Place(usize),
    /// The first object of a list whose field has this text.
    Where { key: String, text: String },
}

impl Take {
    pub fn parts(&self) -> &[TakePart] {
        &self.0
    }

    /// The value, if this result has it.
    pub fn of<'v>(&self, result: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(result, |value, part| match part {
            TakePart::Key(key) => value.get(key),
            TakePart::Place(place) => value.get(place),
            TakePart::Where { key, text } => {
                let has = |each: &&Value| each.get(key).and_then(Value::as_str) == Some(text);
                value.as_array()?.iter().find(has)
            }
        })
    }
}

/// Form of a path, for messages.
const FORM: &str = "expected keys, places and entries, as results[0].id or crew[job=Director].name";

impl FromStr for Take {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} leads to no value; {FORM}");
        let mut parts = Vec::new();
        for field in split(text) {
            let (key, places) = field.split_at(field.find('[').unwrap_or(field.len()));
            // Only a path for a result that is itself a list may begin without a key.
            match key {
                "" if parts.is_empty() && !places.is_empty() => {}
                "" => return Err(wrong()),
                key => parts.push(TakePart::Key(key.to_owned())),
            }
            let mut rest = places;
            while !rest.is_empty() {
                let inner = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let (inner, after) = inner.ok_or_else(wrong)?;
                parts.push(match inner.split_once('=') {
                    Some((key, text)) if !key.is_empty() => {
                        TakePart::Where { key: key.to_owned(), text: text.to_owned() }
                    }
                    _ => TakePart::Place(inner.parse().map_err(|_| wrong())?),
                });
                rest = after;
            }
        }
        Ok(Self(parts))
    }
}

/// The fields between full stops outside brackets.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    text.split(move |c| {
        is_inside = if is_inside { c != ']' } else { c == '[' };
        c == '.' && !is_inside
    })
}

impl Display for Take {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            match part {
                TakePart::Key(key) if i == 0 => write!(f, "{key}")?,
                TakePart::Key(key) => write!(f, ".{key}")?,
                TakePart::Place(place) => write!(f, "[{place}]")?,
                TakePart::Where { key, text } => write!(f, "[{key}={text}]")?,
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for Take {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Take> for String {
    fn from(take: Take) -> Self {
        take.to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_way_leads_to_its_value_and_reads_as_written() {
        let result = json!({"crew": [{"job": "Mr. X", "name": "A"}, {"job": "Y", "name": "B"}]});
        let take = |text: &str| text.parse::<Take>().unwrap();
        assert_eq!(take("crew[job=Mr. X].name").of(&result), Some(&json!("A")));
        assert_eq!(take("crew[1].name").of(&result), Some(&json!("B")));
        assert_eq!(take("crew[job=Z].name").of(&result), None);
        assert_eq!(take("[0]").of(&json!([7])), Some(&json!(7)));
        for text in ["crew[job=Mr. X].name", "[0][1].a.b[2]", "a"] {
            assert_eq!(take(text).to_string(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", ".", "a.", "a..b", "a[", "a[x]", "a[-1]", "a[=x]", "a[0]b", "a.[0]"] {
            let error = text.parse::<Take>().unwrap_err();
            assert!(error.contains("results[0].id"), "{text}: {error}");
        }
    }
}
