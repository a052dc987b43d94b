//! Variables in the texts of a configuration. Each program has its own ways to write them.

use std::borrow::Cow;
use std::cell::RefCell;

use super::surroundings::Surroundings;
use crate::domain::words;
use crate::files::toml_file::TomlField;
use crate::net::learn;

/// How variables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// No variables: Claude Desktop and Codex.
    Plain,
    /// `${NAME}` and `${NAME:-default}`: Claude Code, and toolyard itself.
    Shell,
    /// `${env:NAME}`, `${userHome}` and others: Cursor and VS Code.
    Editor,
    /// The shell dialect and the editor dialect: the file does not say which program it belongs to, or the program has
    /// parts of both.
    Either,
    /// The shell dialect, the editor dialect, and `$NAME`: Gemini CLI.
    Dollar,
    /// `{env:NAME}`: opencode.
    Braces,
}

/// Variables of editors other than `env:NAME` and `input:ID`.
const OF_EDITORS: [&str; 5] =
    ["userHome", "workspaceFolder", "workspaceFolderBasename", "pathSeparator", "/"];

/// Reaction to a variable without a value, or to a missing file of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unset {
    /// Report a problem of the field.
    Refuse,
    /// Note the reason, and use an empty value.
    Note,
}

/// Replaces variables in texts by their values.
pub(super) struct Expansion<'s> {
    pub dialect: Dialect,
    pub around: &'s Surroundings<'s>,
    pub unset: Unset,
    /// Reasons why values are missing, where [`Unset::Note`] applies.
    noted: RefCell<Vec<String>>,
}

impl<'s> Expansion<'s> {
    pub fn new(dialect: Dialect, around: &'s Surroundings<'s>, unset: Unset) -> Self {
        Self { dialect, around, unset, noted: RefCell::default() }
    }

    /// Returns the text of a field with the values of its variables. Each variable without a value is a problem of the
    /// field.
    pub fn text(&self, field: &TomlField<'_>) -> Option<String> {
        self.of(field, field.text()?)
    }

    /// Expands a text of this field in the same way.
    pub fn of(&self, field: &TomlField<'_>, text: &str) -> Option<String> {
        let mut expanded = String::with_capacity(text.len());
        let text = match self.dialect {
            Dialect::Dollar => Cow::Owned(with_braces(text)),
            Dialect::Braces => text.replace("{env:", "${env:").replace("{file:", "${file:").into(),
            Dialect::Plain | Dialect::Shell | Dialect::Editor | Dialect::Either => {
                Cow::Borrowed(text)
            }
        };
        let mut rest = &*text;
        let mut is_right = true;
        while let Some((before, reference, after)) = self.next(rest) {
            expanded.push_str(before);
            match self.value(reference) {
                Ok(value) => expanded.push_str(&value),
                Err(why) => {
                    field.refuse(why);
                    is_right = false;
                }
            }
            rest = after;
        }
        expanded.push_str(rest);
        is_right.then_some(expanded)
    }

    /// The value of the variable that a field names. A mistaken name is usually a key, which no message repeats.
    pub fn named(&self, field: &TomlField<'_>) -> Option<String> {
        let name = field.filled("the name of an environment variable")?;
        let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let value = match self.variable(name) {
            Some(value) => Ok(value),
            None if name.chars().all(is_capital) => self.of_environment(name),
            None => self.without(
                "the environment variable that it names is not set",
                "; set it, and write its name and not its value",
            ),
        };
        value.map_err(|why| field.refuse(why)).ok()
    }

    /// Whether a missing value was noted.
    pub fn lacks(&self) -> bool {
        !self.noted.borrow().is_empty()
    }

    /// Why the server cannot be started, if a missing value was noted.
    pub fn why_unset(&self) -> Option<String> {
        let noted = self.noted.borrow();
        (!noted.is_empty()).then(|| noted.join("; "))
    }

    /// Whether a text has a variable.
    pub fn is_in(&self, text: &str) -> bool {
        self.next(text).is_some()
    }

    /// Splits a text at its first variable: text before it, reference within the braces, text after it.
    fn next<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str, &'t str)> {
        let (before, rest) = text.split_once("${").filter(|_| self.dialect != Dialect::Plain)?;
        let (reference, after) = rest.split_once('}')?;
        Some((before, reference, after))
    }

    fn value(&self, reference: &str) -> Result<String, String> {
        match self.dialect {
            Dialect::Plain => Ok(format!("${{{reference}}}")),
            Dialect::Shell => self.shell(reference),
            Dialect::Editor => self.editor(reference),
            Dialect::Either | Dialect::Dollar | Dialect::Braces
                if OF_EDITORS.contains(&reference) =>
            {
                self.editor(reference)
            }
            Dialect::Either | Dialect::Dollar | Dialect::Braces => {
                match reference.split_once(':') {
                    Some((_, rest)) if !rest.starts_with('-') => self.editor(reference),
                    _ => self.shell(reference),
                }
            }
        }
    }

    fn shell(&self, reference: &str) -> Result<String, String> {
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        if !is_name(name) {
            return Err(format!(
                "${{{reference}}} is not a variable; expected ${{NAME}} or ${{NAME:-default}}"
            ));
        }
        match (self.variable(name), default) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => Ok(default.to_owned()),
            (None, None) => {
                self.without(&is_unset(name), &format!("; set it, or write ${{{name}:-default}}"))
            }
        }
    }

    fn editor(&self, reference: &str) -> Result<String, String> {
        let Surroundings { home, workspace, .. } = self.around;
        let workspace_name = || workspace.file_name().unwrap_or(workspace.as_os_str());
        match reference {
            "userHome" => home
                .map(|home| home.display().to_string())
                .ok_or_else(|| "${userHome} needs a home directory; write the path".to_owned()),
            "workspaceFolder" => Ok(workspace.display().to_string()),
            "workspaceFolderBasename" => Ok(workspace_name().display().to_string()),
            "pathSeparator" | "/" => Ok(std::path::MAIN_SEPARATOR_STR.to_owned()),
            _ => match reference.split_once(':') {
                Some(("env", name)) if name.contains(":-") => self.shell(name),
                Some(("env", name)) if !name.is_empty() => self.of_environment(name),
                Some(("input", id)) => self.input(id),
                Some(_) | None => Err(unknown(reference)),
            },
        }
    }

    fn of_environment(&self, name: &str) -> Result<String, String> {
        match self.variable(name) {
            Some(value) => Ok(value),
            None => self.without(&is_unset(name), "; set it"),
        }
    }

    /// Returns the value of an input that an editor asks a person for; here it comes from the environment.
    fn input(&self, id: &str) -> Result<String, String> {
        let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let name: String = id.chars().map(upper).collect();
        match self.variable(&name) {
            Some(value) => Ok(value),
            None => self.without(
                &format!("an editor asks for the input {id:?}, toolyard does not"),
                &format!("; set the environment variable {name}"),
            ),
        }
    }

    /// Notes why a value is missing, and returns an empty one.
    ///
    /// # Errors
    /// Missing values are refused ([`Unset::Refuse`]).
    pub fn without<T: Default>(&self, why: &str, advice: &str) -> Result<T, String> {
        if self.unset == Unset::Refuse {
            return Err([why, advice].concat());
        }
        let mut noted = self.noted.borrow_mut();
        if !noted.iter().any(|other| other == why) {
            noted.push(why.to_owned());
        }
        Ok(T::default())
    }

    /// The value of an environment variable, which may be a secret wherever it is used.
    fn variable(&self, name: &str) -> Option<String> {
        let value = (self.around.variable)(name)?;
        drop(learn::value(name, &value));
        Some(value)
    }
}

/// The text with `${NAME}` in place of each `$NAME`.
fn with_braces(text: &str) -> String {
    let mut parts = text.split('$');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        match is_name(name) {
            true => all.extend(["${", name, "}", rest]),
            false => all.extend(["$", part]),
        }
    }
    all
}

fn is_unset(name: &str) -> String {
    format!("the environment variable {name} is not set")
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn unknown(reference: &str) -> String {
    if is_name(reference) && words::nearest(reference, OF_EDITORS.into_iter()).is_none() {
        return format!("unknown variable; write ${{env:{reference}}} for one of the environment");
    }
    let known = OF_EDITORS.into_iter().chain(["env:NAME", "input:ID"]);
    format!("unknown variable ${{{reference}}}; {}", words::expected(reference, known))
}
