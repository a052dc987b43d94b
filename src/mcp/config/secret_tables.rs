//! Reads tables and lists that may have secrets in them. Every value of `env` and `headers` is a secret, unless it clearly is
//! not one ([`crate::net::learn::value`]).

use crate::files::toml_file::{TomlField, TomlFields};

/// The fields of a table. A text in place of the table may be a secret, so it is not repeated.
pub(super) fn table<'f>(field: &TomlField<'f>) -> Option<TomlFields<'f>> {
    unless_text(field, "a table of keys and values")?.table()
}

/// The elements of a list. A text in place of the list is not repeated either.
pub(super) fn list<'f>(field: &TomlField<'f>) -> Option<Vec<TomlField<'f>>> {
    unless_text(field, "a list in [brackets]")?.list()
}

fn unless_text<'a, 'f>(field: &'a TomlField<'f>, expected: &str) -> Option<&'a TomlField<'f>> {
    if field.is_text() {
        field.refuse(format!("expected {expected}, got a text"));
        return None;
    }
    Some(field)
}
