//! Reads the variables of a program and the headers of requests. Their values are secrets.

use reqwest::header::{HeaderName, HeaderValue};

use super::expand::Expansion;
use super::server::{ConfigFormat, ServerReader};
use super::spellings::{ENV, ENV_FILE, HEADERS};
use super::transport::without_nul;
use super::{env_file, secret_tables};
use crate::files::toml_file::{Problems, TomlField, TomlFields};
use crate::net::client::{carries_key, holds_a_key};
use crate::net::learn;
use crate::net::secret::Secret;

/// Names with their values.
type SecretPairs = Vec<(String, Secret)>;

impl ServerReader<'_> {
    /// The variables of a program: those of its file first, which the others replace.
    pub(super) fn env(
        &self,
        fields: &mut TomlFields<'_>,
        expansion: &Expansion<'_>,
    ) -> Option<SecretPairs> {
        let none = Some(SecretPairs::new());
        let first = match self.format {
            ConfigFormat::Codex => {
                fields.get("env_vars").map_or(none.clone(), |field| self.passed(&field))
            }
            ConfigFormat::Shared | ConfigFormat::Own => {
                let name = if self.format == ConfigFormat::Own { "env_file" } else { ENV_FILE };
                let file = self.find(fields, name);
                file.map_or(none.clone(), |field| self.of_file(&field, expansion))
            }
        };
        let own =
            self.find(fields, ENV).map_or(none, |field| self.settings(&field, expansion, variable));
        Some([first?, own?].concat())
    }

    /// The headers of requests.
    pub(super) fn headers(
        &self,
        fields: &mut TomlFields<'_>,
        expansion: &Expansion<'_>,
    ) -> Option<SecretPairs> {
        let headers = self
            .find(fields, HEADERS)
            .map_or(Some(SecretPairs::new()), |field| self.settings(&field, expansion, header));
        if self.format != ConfigFormat::Codex {
            return headers;
        }
        let of_env = fields.get("env_http_headers").map_or(Some(SecretPairs::new()), |field| {
            let headers = secret_tables::table(&field)?.all();
            let read = headers.iter().map(|(name, field)| {
                let value = header(name, field, expansion.named(field)?)?;
                Some(((*name).to_owned(), learn::value(name, &value)))
            });
            all(read)
        });
        let bearer = fields.get("bearer_token_env_var").map_or(Some(SecretPairs::new()), |field| {
            let name = "Authorization";
            let token = expansion.named(&field)?;
            let value = header(name, &field, format!("Bearer {token}"))?;
            Some(vec![(name.to_owned(), learn::value(name, &value))])
        });
        if let Some(field) = fields.get("bearer_token") {
            field.refuse("a token must not be in this file; write bearer_token_env_var");
            return None;
        }
        Some([headers?, of_env?, bearer?].concat())
    }

    /// A table of names and texts, each of which `check` accepts.
    fn settings(
        &self,
        field: &TomlField<'_>,
        expansion: &Expansion<'_>,
        check: impl Fn(&str, &TomlField<'_>, String) -> Option<String>,
    ) -> Option<SecretPairs> {
        let settings = secret_tables::table(field)?.all();
        all(settings.iter().map(|(name, field)| {
            let text = field.plain()?;
            if self.format == ConfigFormat::Own && is_key(name) && !expansion.is_in(&text) {
                let scheme = if name.eq_ignore_ascii_case("authorization") { "Bearer " } else { "" };
                field.refuse(format!(
                    "a key must not be in a file: write {name} = \"{scheme}${{NAME}}\" for an environment variable"
                ));
                return None;
            }
            let value = check(name, field, expansion.of(field, &text)?)?;
            Some(((*name).to_owned(), learn::value(name, &value)))
        }))
    }

    /// The variables of a file.
    fn of_file(&self, field: &TomlField<'_>, expansion: &Expansion<'_>) -> Option<SecretPairs> {
        let path = self.path(&without_nul(field, expansion.text(field)?)?);
        if expansion.lacks() {
            return Some(SecretPairs::new());
        }
        let text = match (self.around.file)(&path) {
            Ok(text) => text,
            Err(problem) => {
                let why = format!("{}: {}", path.display(), problem.text);
                return expansion.without(&why, "").map_err(|why| field.refuse(why)).ok();
            }
        };
        let (variables, problems) = env_file::read(&path.display().to_string(), &text);
        if !problems.is_empty() {
            field.refuse_for(Problems(problems));
            return None;
        }
        let hide = |(name, value): (String, String)| {
            let value = learn::value(&name, &value);
            (name, value)
        };
        Some(variables.into_iter().map(hide).collect())
    }

    /// The variables that Codex passes on, as names or as tables with a name. A variable that is not set is left out.
    fn passed(&self, field: &TomlField<'_>) -> Option<SecretPairs> {
        let names = field.list()?;
        let read = names.iter().map(|field| {
            let name = match field.is_table() {
                true => field.table()?.need("name", "the name of a variable")?.text()?,
                false => field.text()?,
            };
            let value = (self.around.variable)(name);
            Some(value.map(|value| (name.to_owned(), learn::value(name, &value))))
        });
        Some(all(read)?.into_iter().flatten().collect())
    }
}

fn variable(name: &str, field: &TomlField<'_>, value: String) -> Option<String> {
    if name.is_empty() || name.contains(['=', '\0']) {
        field.refuse("not the name of an environment variable");
        return None;
    }
    without_nul(field, value)
}

fn header(name: &str, field: &TomlField<'_>, value: String) -> Option<String> {
    if HeaderName::try_from(name).is_err() {
        field.refuse("not the name of an HTTP header; expected letters, digits and `-`");
        return None;
    }
    if HeaderValue::try_from(value.as_str()).is_err() {
        field.refuse("a header's value is one line of printable characters");
        return None;
    }
    Some(value)
}

fn is_key(name: &str) -> bool {
    carries_key(name) || holds_a_key(name)
}

/// All items, if each is valid. All are read, so that the problems of all are noted.
fn all<T>(read: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let read: Vec<Option<T>> = read.collect();
    read.into_iter().collect()
}
