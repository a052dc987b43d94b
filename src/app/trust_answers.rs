//! The answers of a person about what a folder brings: its MCP file, an address of its variables, itself as a workspace,
//! a setting. One file of the user has them all, so that a folder cannot bring its own.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config;
use crate::files::text_file::{self, Expectation};
use crate::files::{json_file, sha256};
use crate::net::known::without_known;
use crate::store::json_store;

/// The name of the file.
pub const FILE: &str = "trust.json";
/// The most answers that are kept; the oldest are forgotten first, and asked for again.
const MOST: usize = 1000;

const EXPECTED: Expectation = Expectation {
    what: "answers about folders, as toolyard writes them; delete the file to be asked again",
    missing: "it is written with the first answer",
    largest: 4 << 20,
};

/// A kind of thing that a folder or a journal brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[strum(serialize = "MCP file")]
    McpFile,
    #[strum(serialize = "address")]
    Address,
    #[strum(serialize = "workspace")]
    Workspace,
    #[strum(serialize = "configuration")]
    Configuration,
    #[strum(serialize = "setting")]
    Setting,
}

/// A thing that may be used only if a person agrees to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
    pub kind: Kind,
    /// The file or folder.
    pub place: PathBuf,
    /// SHA-256 of a file's text, an address without its secrets, or a setting; empty for a workspace.
    pub what: String,
}

/// A person's answer about such a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    #[serde(flatten)]
    pub brought: Brought,
    pub used: bool,
}

impl Brought {
    /// A file as it is now.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn file(kind: Kind, file: &Path) -> Result<Self, String> {
        // Reading a pipe would wait.
        let is_file = file.metadata().map(|about| about.is_file());
        let hash = is_file.and_then(|is_file| match is_file {
            true => sha256::of_file(file),
            false => Err(io::Error::other("no regular file")),
        });
        let what = hash.map_err(|why| format!("{}: {why}", file.display()))?;
        Ok(Self { kind, place: whole(file), what })
    }

    /// An address that the variables of a folder name.
    pub fn address(folder: &Path, shown: &str) -> Self {
        // Known keys are not written, so that the comparison has to be without them.
        Self { kind: Kind::Address, place: whole(folder), what: without_known(shown).into_owned() }
    }

    /// A setting of the sessions that began with this journal.
    pub fn setting(journal: &Path, text: &str) -> Self {
        let folder = journal.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = whole(folder.unwrap_or(Path::new(".")));
        let place = folder.join(journal.file_name().unwrap_or_default());
        Self { kind: Kind::Setting, place, what: without_known(text).into_owned() }
    }

    /// A folder as a workspace.
    pub fn workspace(folder: &Path) -> Self {
        Self { kind: Kind::Workspace, place: whole(folder), what: String::new() }
    }

    /// The answer of a person; `None` if there is none about exactly this.
    ///
    /// # Errors
    /// The file of answers is damaged.
    pub fn answer(&self) -> Result<Option<bool>, String> {
        let found = all()?.into_iter().find(|answer| answer.brought == *self);
        Ok(found.map(|answer| answer.used))
    }

    /// Keeps the answer. Of a file only the latest counts; a folder may have several addresses, a journal several settings.
    ///
    /// # Errors
    /// The file of answers cannot be read or written.
    pub fn keep(self, used: bool) -> Result<(), String> {
        let mut all = all()?;
        let is_replaced = |other: &Brought| {
            (other.kind, &other.place) == (self.kind, &self.place)
                && (!matches!(self.kind, Kind::Address | Kind::Setting) || other.what == self.what)
        };
        all.retain(|answer| !is_replaced(&answer.brought));
        all.push(Answer { brought: self, used });
        all.drain(..all.len().saturating_sub(MOST));
        save(&all)
    }
}

/// All answers, the oldest first.
///
/// # Errors
/// The file is damaged.
pub fn all() -> Result<Vec<Answer>, String> {
    let Some(file) = config::default_answers().filter(|file| file.exists()) else {
        return Ok(Vec::new());
    };
    let read = text_file::read(&file, &EXPECTED)
        .and_then(|text| json_file::read(&file.display().to_string(), &text, EXPECTED.what));
    read.map_err(|problem| problem.to_string())
}

/// Forgets the answer of this number, from 1, or all about a folder and what is in it. Returns how many.
///
/// # Errors
/// The file cannot be read or written.
pub fn forget(which: &str) -> Result<usize, String> {
    let mut all = all()?;
    let before = all.len();
    match which.parse::<usize>() {
        Ok(number) if (1..=before).contains(&number) => drop(all.remove(number - 1)),
        Ok(_) => {}
        Err(_) => {
            let folder = whole(Path::new(which));
            all.retain(|answer| !answer.brought.place.starts_with(&folder));
        }
    }
    let forgotten = before - all.len();
    if forgotten > 0 {
        save(&all)?;
    }
    Ok(forgotten)
}

fn save(all: &[Answer]) -> Result<(), String> {
    // Without a home, each start asks.
    let Some(file) = config::default_answers() else { return Ok(()) };
    if let Some(folder) = file.parent() {
        // The error of the write is more helpful.
        let _ = std::fs::create_dir_all(folder);
    }
    json_store::save(&file, &all).map_err(|error| error.to_string())
}

/// A path without links, or an absolute one where nothing is there any more.
pub fn whole(path: &Path) -> PathBuf {
    let whole = path.canonicalize().or_else(|_| std::path::absolute(path));
    whole.unwrap_or_else(|_| path.to_owned())
}
