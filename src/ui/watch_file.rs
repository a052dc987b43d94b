//! The watches of a workspace, `watches.toml`: the screen writes the file, and a person may edit it.

use std::path::PathBuf;

use serde::Serialize;

use super::watch::Watch;
use crate::domain::expression::{Expression, Scope};
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::TomlFile;
use crate::files::whole_file;

const HEAD: &str =
    "# Watches of this workspace. The screen of toolyard writes this file when they change.\n";

const EXPECTED: Expectation = Expectation {
    what: "the watches of a workspace",
    missing: "expected `watches`, a list of expressions such as \"spent / budget\"",
    largest: 1 << 20,
};

/// The file of watches.
#[derive(Clone, Debug, Default)]
pub struct WatchFile {
    /// `None`: the session has no workspace, and nothing is saved.
    path: Option<PathBuf>,
    pub saved: Vec<Expression>,
    /// Problem of the file, which is then left unchanged.
    pub wrong: Option<String>,
}

#[derive(Serialize)]
struct WatchFileContents<'a> {
    watches: Vec<&'a str>,
}

impl WatchFile {
    /// Reads the saved watches. Without a file there are none.
    pub fn read(path: Option<PathBuf>) -> Self {
        let Some(file) = path.as_ref().filter(|path| path.exists()) else {
            return Self { path, ..Self::default() };
        };
        let shown = file.display().to_string();
        let read = text_file::read(file, &EXPECTED).map_err(|problem| problem.to_string());
        let read = read.and_then(|text| parse(&shown, &text));
        match read {
            Ok(saved) => Self { path, saved, wrong: None },
            Err(wrong) => Self { path, wrong: Some(wrong), ..Self::default() },
        }
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// Why the watches cannot be saved, in words. The old file then still exists.
    pub fn write(&self, watches: &[Watch]) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        if let Some(wrong) = &self.wrong {
            return Err(format!("{wrong}; correct it or delete the file"));
        }
        let watches = watches.iter().map(|watch| watch.expression.text()).collect();
        let text = toml::to_string_pretty(&WatchFileContents { watches })
            .map_err(|error| error.to_string())?;
        let text = format!("{HEAD}{text}");
        whole_file::write(path, |out| out.write_all(text.as_bytes()))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn parse(file: &str, text: &str) -> Result<Vec<Expression>, String> {
    let read = TomlFile::read(file, text, |mut fields| {
        let list = fields.get("watches").map_or(Some(Vec::new()), |field| field.list());
        fields.finish();
        let read = list?.into_iter().map(|field| {
            let read = Expression::read(field.text()?, Scope::Session);
            read.map_err(|error| field.refuse(error.why())).ok()
        });
        read.collect::<Vec<_>>().into_iter().collect()
    });
    read.map_err(|problems| problems.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_has_its_line() {
        let text = "watches = [\"spent\", \"spnt\",\n \"ms > 3\"]\n";
        let said = parse("w.toml", text).unwrap_err();
        for expected in [
            "w.toml:1: watches[1]: there is no field `spnt`; did you mean `spent`?",
            "w.toml:2: watches[2]: `ms` belongs to a call, but there is none here",
        ] {
            assert!(said.contains(expected), "{said}\nnot {expected}");
        }
    }
}
