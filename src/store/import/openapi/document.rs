//! Reads a description of an API: OpenAPI 3, Swagger 2.0 or a Postman collection, in JSON or YAML. Sizes and depths are
//! bounded, so that no file exhausts the memory, however often it repeats itself.

use std::path::Path;

use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};

use super::{lines, literal_texts, postman, swagger};
use crate::domain::words::clipped;
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::Problem;

const FILE: Expectation = Expectation {
    what: "an OpenAPI file",
    missing: "expected an OpenAPI file (.json, .yaml or .yml)",
    largest: 64 << 20,
};

/// Characters of a library's message that an error shows.
const SHOWN: usize = 200;

const EXPECTED: &str = "expected OpenAPI of version 3.0, 3.1 or 3.2, Swagger 2.0, or a Postman collection of version 2";

/// A description of an API in the form of OpenAPI 3, whatever form its file has.
pub(super) struct Document {
    pub file: String,
    pub root: Value,
    /// Notes about content that was lost when another format was converted to OpenAPI.
    pub remarks: Vec<String>,
    text: String,
}

impl Document {
    /// A problem with the field of these names, with its line in the file.
    pub fn problem(&self, field: &[String], text: impl Into<String>) -> Problem {
        let line = lines::line_of(&self.text, field);
        let field = field.join(".");
        Problem { line, field, ..Problem::of_file(&self.file, text) }
    }

    /// The file's own name, which references within it may use.
    pub fn name(&self) -> &str {
        Path::new(&self.file).file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }
}

/// # Errors
/// The file cannot be read, is neither JSON nor YAML, does not describe an API, or has no operations.
pub(super) fn read(path: &Path) -> Result<Document, Problem> {
    let file = path.display().to_string();
    let text = text_file::read(path, &FILE)?;
    let plain = text.trim_start_matches('\u{feff}').trim_start();
    let is_named_json = path.extension().is_some_and(|ending| ending == "json");
    let mut root = match plain.starts_with('{') {
        true => match json(&file, plain) {
            // A flow mapping of YAML begins with a brace, too.
            Err(problem) => match yaml(&file, plain) {
                Ok(root) if !is_named_json => root,
                _ => return Err(problem),
            },
            root => root?,
        },
        false => yaml(&file, &text)?,
    };
    literal_texts::restore(&mut root, &text, |scalar| yaml(&file, scalar).ok());
    let mut document = Document { file, root, remarks: Vec::new(), text };
    check(&mut document)?;
    Ok(document)
}

fn json(file: &str, text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text)
        .map_err(|error| Problem::of_line(file, error.line(), "", format!("not JSON: {error}")))
}

/// YAML 1.2 with its core schema, where `y`, `on` and `1_000` are texts.
fn yaml(file: &str, text: &str) -> Result<Value, Problem> {
    // Aliases count each time they are used.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 8_000_000,
            max_nodes: 4_000_000,
            max_depth: 100,
            max_documents: 1,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let why = error.to_string();
        // An error within an alias can only be recognised by its message.
        let is_bomb = why.contains("budget breached") || why.contains("alias replay");
        let text = match is_bomb {
            true => "repeats or nests too much to be read; write it without aliases".to_owned(),
            false => {
                let why = clipped(why.lines().next().unwrap_or_default(), SHOWN);
                format!("not YAML that can be read: {why}")
            }
        };
        let line = error.location().and_then(|place| usize::try_from(place.line()).ok());
        Problem { line, ..Problem::of_file(file, text) }
    })
}

/// Brings the document into the form of OpenAPI 3.
///
/// # Errors
/// The document has another form, or no operations.
fn check(document: &mut Document) -> Result<(), Problem> {
    if !document.root.is_object() {
        let text = format!("{EXPECTED}, which is an object with `openapi`, `info` and `paths`");
        return Err(document.problem(&[], text));
    }
    // Postman's own interface wraps a collection.
    if let Some(inner) =
        document.root.get_mut("collection").filter(|inner| inner["item"].is_array())
    {
        document.root = inner.take();
    }
    let said = |field: &str| match document.root.get(field)? {
        Value::String(text) => Some(clipped(text, 20)),
        other => Some(clipped(&other.to_string(), 20)),
    };
    let at = |field: &str| [field.to_owned()];
    if postman::is_collection(&document.root) {
        let converted = postman::converted(&document.root);
        let (root, remarks) =
            converted.map_err(|(field, text)| document.problem(&at(field), text))?;
        (document.root, document.remarks) = (root, remarks);
        return Ok(());
    }
    match (said("swagger"), said("openapi")) {
        (Some(version), _) if is_of(&version, "2") => {
            let root = std::mem::take(&mut document.root);
            (document.root, document.remarks) = swagger::converted(root);
        }
        (Some(version), _) => {
            let text = format!("{EXPECTED}, got Swagger {version}");
            return Err(document.problem(&at("swagger"), text));
        }
        (None, Some(version)) if is_of(&version, "3") => {}
        (None, Some(version)) => {
            let text = format!("{EXPECTED}, got version {version}");
            return Err(document.problem(&at("openapi"), text));
        }
        (None, None) => {
            let text = format!("{EXPECTED}, got one without a field `openapi`");
            return Err(document.problem(&[], text));
        }
    }
    let has_paths = document.root["paths"].as_object().is_some_and(|paths| !paths.is_empty());
    if !has_paths {
        let text = "has no paths; expected at least one operation in `paths`";
        return Err(document.problem(&at("paths"), text));
    }
    Ok(())
}

fn is_of(version: &str, line: &str) -> bool {
    version.strip_prefix(line).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_has_the_words_of_its_core_schema() {
        let text = "required: [x, y]\nenum: [on, off, yes, No, true, null, ~]\nlist:\n- y\n- n\nn: 1_000\ny: 2\n\
                    on: 3\n200: a\ntime: 12:30:45\ndate: 2020-01-01\nnan: .nan\nz: 0x1F\n";
        assert_eq!(
            yaml("f", text).unwrap(),
            json!({
                "required": ["x", "y"], "enum": ["on", "off", "yes", "No", true, null, null], "list": ["y", "n"],
                "n": "1_000", "y": 2, "on": 3, "200": "a", "time": "12:30:45", "date": "2020-01-01",
                "nan": ".nan", "z": 31,
            })
        );
        assert_eq!(yaml("f", "a: 1\nb: 2\na: 3\n").unwrap(), json!({ "a": 3, "b": 2 }));
    }

    #[test]
    fn values_of_texts_stay_as_they_are_written() {
        let text = "s:\n  type: string\n  enum: [010, 1e3, 0x10, 1.10, True, ~]\n  default: 2.0\n";
        let mut root = yaml("f", text).unwrap();
        literal_texts::restore(&mut root, text, |scalar| yaml("f", scalar).ok());
        let values = json!(["010", "1e3", "0x10", "1.10", "True", null]);
        assert_eq!(root["s"], json!({ "type": "string", "enum": values, "default": "2.0" }));
    }
}
