//! Reads an OpenAPI file: JSON or YAML, version 3.0 or 3.1. Sizes and depths are bounded, so that no file takes the
//! memory of the machine, however it repeats itself.

use std::path::Path;

use oas3::Spec;
use serde_json::Value;

use super::settled::settled;
use crate::domain::words::clipped;
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::Problem;

const FILE: Expectation = Expectation {
    what: "an OpenAPI file",
    missing: "expected an OpenAPI file (.json, .yaml or .yml)",
    largest: 32 << 20,
};

/// Characters of a library's message that an error shows.
const SHOWN: usize = 200;

/// The file, as OpenAPI 3.1.
///
/// # Errors
/// It cannot be read, is no JSON or YAML, has another version or no operations, or a part has another form.
pub(super) fn read(path: &Path) -> Result<Spec, Problem> {
    let file = path.display().to_string();
    let text = text_file::read(path, &FILE)?;
    let document = match text.trim_start().starts_with('{') {
        true => json(&file, &text)?,
        false => yaml(&file, &text)?,
    };
    check(&document).map_err(|text| Problem::of_file(&file, text))?;
    serde_path_to_error::deserialize(settled(document)).map_err(|error| {
        let field = error.path().to_string();
        let why = clipped(&error.inner().to_string(), SHOWN);
        let text =
            format!("not as OpenAPI has it: {why}; correct it, or remove this part of the file");
        Problem { field, ..Problem::of_file(&file, text) }
    })
}

fn json(file: &str, text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text)
        .map_err(|error| Problem::of_line(file, error.line(), "", format!("not JSON: {error}")))
}

fn yaml(file: &str, text: &str) -> Result<Value, Problem> {
    // Aliases count each time that they are used.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 8_000_000,
            max_nodes: 4_000_000,
            max_depth: 100,
            max_documents: 1,
        },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let why = error.to_string();
        // An error within an alias is known by its words alone.
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

/// Whether it is an OpenAPI document of a version that is known, and has operations.
fn check(document: &Value) -> Result<(), String> {
    let expected = "expected an OpenAPI document of version 3.0 or 3.1";
    if !document.is_object() {
        return Err(format!("{expected}, which is an object with `openapi`, `info` and `paths`"));
    }
    let said = |field: &str| match document.get(field)? {
        Value::String(text) => Some(clipped(text, 20)),
        other => Some(clipped(&other.to_string(), 20)),
    };
    if let Some(version) = said("swagger") {
        return Err(format!(
            "is Swagger {version}; {expected}: convert it, for example by `npx swagger2openapi FILE`"
        ));
    }
    match said("openapi") {
        None => return Err(format!("{expected}, got one without a field `openapi`")),
        Some(version) if is_of(&version, "3.0") || is_of(&version, "3.1") => {}
        Some(version) => return Err(format!("{expected}, got version {version}")),
    }
    let has_paths = document["paths"].as_object().is_some_and(|paths| !paths.is_empty());
    if !has_paths {
        return Err("has no paths; expected at least one operation in `paths`".to_owned());
    }
    Ok(())
}

fn is_of(version: &str, line: &str) -> bool {
    version.strip_prefix(line).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
