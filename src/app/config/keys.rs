//! Sources of endpoints' keys. A key is never in the file; a setting that contains one is refused,
//! and its value is not repeated: messages end in logs and in questions to other people.

use indexmap::IndexMap;
use reqwest::header::{HeaderName, HeaderValue};

use crate::files::toml_file::{TomlField, TomlFields};
use crate::model::secret::{HeaderSource, KeySource};
use crate::net::client::{carries_key, holds_a_key};

/// Advice for a file that contains a key.
pub(super) const NO_KEYS: &str = "a key must not be in a file: write \
    key_env = \"NAME_OF_A_VARIABLE\", or \
    key_command = [\"program\", \"argument\"] for a program that prints the key";

/// The source of the key, if one is sent.
pub(super) fn key(fields: &mut TomlFields<'_>) -> Option<KeySource> {
    let env = fields.get("key_env");
    let command = fields.get("key_command");
    match (env, command) {
        (Some(_), Some(command)) => {
            command.refuse("conflicts with key_env; set only one of the two");
            None
        }
        (Some(env), None) => variable(&env).map(KeySource::Env),
        (None, Some(command)) => {
            let words = if command.is_text() { Vec::new() } else { command.texts()? };
            if words.first().is_none_or(String::is_empty) {
                // It may be the key itself, so it is not repeated.
                command.refuse(
                    "expected a program that prints the key, and its arguments, such as \
                     [\"pass\", \"show\", \"openai\"]",
                );
                return None;
            }
            Some(KeySource::Command(words))
        }
        (None, None) => None,
    }
}

/// The name of an environment variable. Lower case is refused, because a mistaken value is usually
/// a key, which must not become a name that messages show.
fn variable(field: &TomlField<'_>) -> Option<String> {
    let name = field.text()?;
    let good = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    if !begins || !name.chars().all(good) {
        field.refuse(
            "expected the name of an environment variable in capital letters, such as \
             OPENAI_API_KEY; the key itself must not be in a file",
        );
        return None;
    }
    Some(name.to_owned())
}

/// The valid headers.
pub(super) fn headers(field: &TomlField<'_>) -> IndexMap<String, HeaderSource> {
    let Some(fields) = field.table() else { return IndexMap::new() };
    let header =
        |(name, field): (&str, TomlField<'_>)| Some((name.to_owned(), header(name, &field)?));
    fields.all().into_iter().filter_map(header).collect()
}

/// A text, or `{ env = "NAME" }`.
fn header(name: &str, field: &TomlField<'_>) -> Option<HeaderSource> {
    if HeaderName::try_from(name).is_err() {
        field.refuse("not the name of an HTTP header; expected letters, digits and `-`");
        return None;
    }
    if !field.is_text() {
        let mut fields = field.table()?;
        let env = fields.need("env", "env = \"NAME_OF_A_VARIABLE\"");
        fields.forbid(holds_a_key, NO_KEYS);
        fields.finish();
        return variable(&env?).map(HeaderSource::Env);
    }
    if carries_key(name) || holds_a_key(name) {
        field.refuse(format!(
            "this header carries a key, which must not be in a file: write \
             {name} = {{ env = \"NAME_OF_A_VARIABLE\" }}"
        ));
        return None;
    }
    let text = field.text()?;
    if HeaderValue::try_from(text).is_err() {
        field.refuse("a header's value is one line of printable characters");
        return None;
    }
    Some(HeaderSource::Literal(text.to_owned()))
}
