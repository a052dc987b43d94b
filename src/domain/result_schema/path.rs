//! Places in a schema: `crew[].job`. `[]` is any element of a list; a key that is not an identifier is written in
//! brackets and quotes, `["a b"]`. The empty path is the whole schema.

use std::fmt::Write;

use super::Schema;
use crate::words::clipped;

/// Characters of a key that a text shows.
const KEY: usize = 60;

/// The path of a field of the value at `path`.
pub(super) fn field(path: &str, key: &str) -> String {
    let is_name = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut path = path.to_owned();
    _ = match is_name {
        false => write!(path, "[{}]", quoted(key)),
        true if path.is_empty() => write!(path, "{key}"),
        true => write!(path, ".{key}"),
    };
    path
}

/// The path of the elements of the list at `path`.
pub(super) fn element(path: &str) -> String {
    format!("{path}[]")
}

/// A key as texts show it: in quotes only if it is not an identifier.
pub(super) fn plain(key: &str) -> String {
    let path = field("", key);
    if path == key { path } else { quoted(key) }
}

/// A key as JSON, on one line and not longer than a line.
fn quoted(key: &str) -> String {
    serde_json::Value::from(clipped(key, KEY)).to_string()
}

/// The schema at a path; `None` if the schema has no such place, or the path is invalid.
pub(super) fn resolve<'s>(schema: &'s Schema, path: &str) -> Option<&'s Schema> {
    let mut at = schema;
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("[]") {
            (at, rest) = (at.elements.as_deref()?, after);
            continue;
        }
        // Paths are matched against the fields themselves, so that no path is read in two ways.
        let first = rest.strip_prefix('.').filter(|_| rest.len() < path.len()).unwrap_or(rest);
        let fields = at.fields.as_ref()?.iter();
        let of_path = |(key, value): (&String, &'s Schema)| {
            let after = first.strip_prefix(field("", key).as_str())?;
            let ends = after.is_empty() || after.starts_with(['.', '[']);
            ends.then_some((value, after))
        };
        (at, rest) = fields.into_iter().find_map(of_path)?;
    }
    Some(at)
}
