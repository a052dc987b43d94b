//! Fields whose type serde reads, with errors like those of the other fields.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{TomlFields, join};
use crate::domain::words;
use crate::json_file;

/// A whole text. It becomes JSON first, so that its type is compiled for one reader.
///
/// # Errors
/// The first fault, without its line: for texts that are part of the program.
pub fn read_embedded<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    json_file::read_part(toml::from_str(text).map_err(|error| error.to_string())?)
}

impl TomlFields<'_> {
    /// All fields that were not requested, as one value; `None` if any is invalid. Each field is also read alone, so
    /// that the problems of all of them are noted.
    pub fn rest<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut rest = Map::new();
        let mut is_valid = true;
        for (key, field) in self.all() {
            if self.known.contains(&key) || self.done.contains(&key) {
                continue;
            }
            let Some(value) = field.json() else {
                is_valid = false;
                continue;
            };
            let alone = Map::from_iter([(key.to_owned(), value.clone())]);
            is_valid &= self.read::<T>(key, alone).is_some();
            rest.insert(key.to_owned(), value);
        }
        if is_valid { self.read("", rest) } else { None }
    }

    /// Reads one field, or all of them.
    fn read<T: DeserializeOwned>(&self, name: &str, table: Map<String, Value>) -> Option<T> {
        let (path, text) = match json_file::read_value(Value::Object(table)) {
            Ok(value) => return Some(value),
            Err(fault) => fault,
        };
        let (text, unknown) = self.said(&text, path == name || path.is_empty());
        let path = if path.is_empty() { name } else { &path };
        let field = match unknown {
            Some(key) if path != key && !path.ends_with(&format!(".{key}")) => join(path, key),
            _ => path.to_owned(),
        };
        let field = if field.is_empty() { self.path.clone() } else { join(&self.path, &field) };
        let problem = self.lines().problem(&field, text);
        self.file.problems.borrow_mut().push(problem);
        None
    }

    /// An error of serde in the form of the other readers, and its unknown key.
    fn said<'e>(&self, message: &'e str, is_top: bool) -> (String, Option<&'e str>) {
        let mut quoted = message.split('`').skip(1).step_by(2);
        if message.starts_with("unknown field `") {
            let word = quoted.next().unwrap_or_default();
            let own = self.known.iter().copied().filter(|_| is_top);
            let known: Vec<&str> = own.chain(quoted).collect();
            let expected = words::expected(word, known.iter().copied());
            return (format!("unknown key; {expected}"), Some(word));
        }
        if message.starts_with("unknown variant `") {
            let word = quoted.next().unwrap_or_default();
            let known: Vec<&str> = quoted.collect();
            let expected = words::expected(word, known.iter().copied());
            return (format!("{word:?} is not a valid value; {expected}"), None);
        }
        (plain(message).unwrap_or_else(|| message.to_owned()), None)
    }
}

/// `expected true or false, got 3` for `invalid type: integer `3`, expected a boolean`; `None` for other messages.
fn plain(message: &str) -> Option<String> {
    let begins = ["invalid type: ", "invalid value: "];
    let rest = begins.iter().find_map(|begin| message.strip_prefix(begin))?;
    let (got, expected) = rest.rsplit_once(", expected ")?;
    let expected = match expected {
        "a boolean" => "true or false",
        "a string" | "path string" => "a text in quotes",
        "a sequence" => "a list in [brackets]",
        "a map" => "a table of keys and values",
        "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
        "i64" => "a whole number",
        other => other,
    };
    let got = match got {
        "map" => "a table",
        "sequence" => "a list",
        other => {
            let kinds = ["string ", "integer ", "floating point ", "boolean "];
            let value = kinds.iter().find_map(|kind| other.strip_prefix(kind));
            value.unwrap_or(other).trim_matches('`')
        }
    };
    Some(format!("expected {expected}, got {got}"))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use crate::toml_file::{Problem, TomlFile};

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Rest {
        size: u8,
        kind: BracketKind,
        parts: Vec<LengthPart>,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum BracketKind {
        #[default]
        Round,
        Square,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct LengthPart {
        length: u8,
    }

    fn read(text: &str) -> Result<(Option<String>, Rest), Vec<String>> {
        let read = TomlFile::read("f.toml", text, |mut fields| {
            let name = fields.get("name").and_then(|field| field.text()).map(str::to_owned);
            Some((name, fields.rest::<Rest>()?))
        });
        read.map_err(|problems| problems.0.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn the_rest_is_read_by_serde() {
        let text = "name = \"n\"\nsize = 3\nkind = \"square\"\n[[parts]]\nlength = 4\n";
        let (name, rest) = read(text).unwrap();
        assert_eq!((name.as_deref(), rest.size), (Some("n"), 3));
        assert!(matches!(rest.kind, BracketKind::Square) && rest.parts[0].length == 4);
        assert!(read("").is_ok());
    }

    #[test]
    fn each_invalid_field_is_named_with_its_line() {
        let text =
            "nmae = 1\nsize = -3\nkind = \"squre\"\n[[parts]]\nlength = 1\n[[parts]]\nlenght = 2\n";
        let mut found = read(text).unwrap_err();
        found.sort();
        assert_eq!(
            found,
            [
                "f.toml:1: nmae: unknown key; did you mean `name`? (known: name, size, kind, parts)",
                "f.toml:2: size: expected a whole number of at least 0, got -3",
                "f.toml:3: kind: \"squre\" is not a valid value; did you mean `square`? (known: round, square)",
                "f.toml:7: parts[1].lenght: unknown key; did you mean `length`? (known: length)",
            ]
        );
    }
}
