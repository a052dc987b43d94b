//! JSON with comments as a TOML document, so that it has the same readers.

use std::borrow::Cow;
use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::join;

/// The parser's options: comments and trailing commas are allowed, and no other extensions of JSON.
const ALLOWED: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) struct Document<'t> {
    pub table: DeTable<'t>,
    /// Duplicate keys, which JSON allows.
    pub repeated: Vec<Repeated>,
}

/// A duplicate key of one object. The places are bytes of the text.
pub(super) struct Repeated {
    pub path: String,
    pub first: usize,
    pub second: usize,
}

/// Why a text is not a document.
pub(super) struct JsoncFault {
    pub place: Range<usize>,
    pub text: String,
}

/// The document of a text.
///
/// # Errors
/// The text is not JSON, or not an object.
pub(super) fn document(text: &str) -> Result<Document<'_>, JsoncFault> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ALLOWED).map_err(|error| {
        let place = error.range().start..error.range().end;
        JsoncFault { place, text: format!("not JSON: {}", error.kind()) }
    })?;
    match parsed.value {
        Some(Value::Object(object)) => {
            let mut repeated = Vec::new();
            let table = table(object, "", &mut repeated);
            Ok(Document { table, repeated })
        }
        Some(_) | None => {
            Err(JsoncFault { place: 0..0, text: "expected an object in {braces}".to_owned() })
        }
    }
}

fn table<'t>(object: Object<'t>, path: &str, repeated: &mut Vec<Repeated>) -> DeTable<'t> {
    let mut table = DeTable::new();
    for property in object.properties {
        let start = property.range.start;
        let name = property.name.into_string();
        let path = join(path, &name);
        let first = table.get_key_value(name.as_str()).map(|(name, _)| name.span().start);
        if let Some(first) = first {
            repeated.push(Repeated { path, first, second: start });
            continue;
        }
        if let Some(value) = value(property.value, &path, repeated) {
            let name = Spanned::new(start..property.range.end, Cow::Owned(name));
            table.insert(name, value);
        }
    }
    table
}

/// The value; `None` for null.
fn value<'t>(
    value: Value<'t>,
    path: &str,
    repeated: &mut Vec<Repeated>,
) -> Option<Spanned<DeValue<'t>>> {
    let (range, value) = match value {
        Value::StringLit(text) => (text.range, DeValue::String(text.value)),
        Value::BooleanLit(flag) => (flag.range, DeValue::Boolean(flag.value)),
        // TOML writes every number of JSON in the same way.
        Value::NumberLit(number) => {
            let parsed = DeValue::parse(number.value).map(Spanned::into_inner);
            (number.range, parsed.unwrap_or(DeValue::String(Cow::Borrowed(number.value))))
        }
        Value::Object(object) => (object.range, DeValue::Table(table(object, path, repeated))),
        Value::Array(array) => (array.range, DeValue::Array(list(array, path, repeated))),
        Value::NullKeyword(_) => return None,
    };
    Some(Spanned::new(range.start..range.end, value))
}

/// A list. TOML has no null, so a null in it becomes an empty table, which no reader of texts or numbers accepts.
fn list<'t>(array: Array<'t>, path: &str, repeated: &mut Vec<Repeated>) -> DeArray<'t> {
    let mut list = DeArray::new();
    for (at, element) in array.elements.into_iter().enumerate() {
        let nothing = || Spanned::new(0..0, DeValue::Table(DeTable::new()));
        let path = format!("{path}[{at}]");
        list.push(value(element, &path, repeated).unwrap_or_else(nothing));
    }
    list
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::toml_file::{Problem, TomlFile};

    #[test]
    fn json_with_comments_has_the_readers_of_toml() {
        let text = "\u{feff}// hand-written\n{\n  \"a\": {\"x\": \"\\u00e4\", \"n\": null,},\n  \"b\": [1, -2.5e1, true, /* no */],\n  \"c\": 9,\n}\n";
        let (read, problems) = TomlFile::read_json("f.json", text, |mut fields| {
            fields.get("c").and_then(|field| field.flag());
            let mut a = fields.get("a").and_then(|field| field.table()).unwrap();
            assert!(a.get("n").is_none());
            let json: Vec<_> = fields.all().iter().map(|(_, field)| field.json()).collect();
            (json, fields.get("b").map(|field| field.line()), fields.unknown())
        });
        let (json, line, unknown) = read.unwrap();
        assert_eq!(json, [Some(json!({"x": "ä"})), Some(json!([1, -25.0, true])), Some(json!(9))]);
        assert_eq!((line, unknown), (Some(4), Vec::new()));
        let problems: Vec<_> = problems.iter().map(Problem::to_string).collect();
        assert_eq!(problems, ["f.json:5: c: expected true or false, got 9"]);
    }

    #[test]
    fn a_key_that_is_there_twice_is_a_problem_and_the_first_one_is_read() {
        let text = "{\"a\": {\"k\": 1,\n\"k\": 2},\n\"a\": {}}";
        let (read, problems) = TomlFile::read_json("f.json", text, |mut fields| {
            fields.get("a").and_then(|field| field.json())
        });
        assert_eq!(read.flatten(), Some(json!({"k": 1})));
        let problems: Vec<_> = problems.iter().map(Problem::to_string).collect();
        assert_eq!(
            problems,
            [
                "f.json:2: a.k: is there twice; line 1 counts, remove or rename one",
                "f.json:3: a: is there twice; line 1 counts, remove or rename one",
            ]
        );
    }

    #[test]
    fn broken_json_is_reported_with_its_line() {
        for (text, begins) in [
            ("{\n\"a\": ,\n}", "f.json:2: not JSON: "),
            ("{\n\"a\": 1\n", "f.json:1: not JSON: "),
            ("{\"a\" 1}", "f.json:1: not JSON: "),
            ("{'a': 1}", "f.json:1: not JSON: "),
            ("[]", "f.json:1: expected an object"),
            ("", "f.json:1: expected an object"),
            (&"[".repeat(100_000), "f.json:1: not JSON: "),
        ] {
            let (read, problems) = TomlFile::read_json("f.json", text, |_| ());
            assert!(read.is_none() && problems.len() == 1, "{problems:?}");
            assert!(problems[0].to_string().starts_with(begins), "{}", problems[0]);
        }
    }
}
