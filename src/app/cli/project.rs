//! The project whose folder is the working directory: its configuration is used without an option, after one question.

use std::fs;
use std::path::{Path, PathBuf};

use super::init::CONFIG;
use super::{out, question, trouble::Trouble};
use crate::config::Config;
use crate::shell::SessionArgs;
use crate::trust_answers::{Brought, Kind};

/// The most bytes of a file that is looked at.
const LARGEST: u64 = 1 << 20;

/// The configuration that is named, else that of the project in the working directory, if a person agrees to it now or
/// agreed to its text earlier. It goes before the user's own file, and `TOOLYARD_CONFIG` before it.
///
/// # Errors
/// The file of answers is damaged or cannot be written.
pub fn config(named: Option<PathBuf>) -> Result<Option<PathBuf>, Trouble> {
    let file = Path::new(CONFIG);
    if named.is_some() || std::env::var_os("TOOLYARD_CONFIG").is_some() || !is_project(file) {
        return Ok(named);
    }
    let brought = Brought::file(Kind::Configuration, file).map_err(Trouble::Usage)?;
    let is_used = match brought.answer().map_err(Trouble::Usage)? {
        Some(is_used) => is_used,
        None if question::is_there() => {
            let is_used = question::agrees(&format!(
                "This folder has a {CONFIG} for toolyard. Use its models and tools?"
            ));
            brought.keep(is_used).map_err(Trouble::Failed)?;
            is_used
        }
        None => {
            let note = "not used: you have not agreed to this file; to use it, add --config";
            out::tell(format!("toolyard: {CONFIG}: {note} {CONFIG}\n"));
            false
        }
    };
    Ok(is_used.then(|| file.to_owned()))
}

/// Completes the options of a session by that configuration, unless they name where everything comes from.
///
/// # Errors
/// As [`config`].
pub fn complete(session: &mut SessionArgs) -> Result<(), Trouble> {
    if session.sample.is_none() && session.recorded.is_none() {
        session.config.config = config(session.config.config.take())?;
    }
    Ok(())
}

/// Remembers that a person wants the project that is written now.
pub fn remember(config: &Path) {
    // Without it, there is one question more.
    let _ = Brought::file(Kind::Configuration, config).and_then(|brought| brought.keep(true));
}

/// Whether the file is a configuration of toolyard. Other programs have files of this name: it has to be one by its fields,
/// or to name the program, as that of `toolyard init` does. In the latter case mistakes are reported as in every configuration.
fn is_project(file: &Path) -> bool {
    // Reading a pipe would wait.
    let is_small = file.metadata().is_ok_and(|about| about.is_file() && about.len() <= LARGEST);
    let Some(text) = is_small.then(|| fs::read_to_string(file).ok()).flatten() else {
        return false;
    };
    text.contains("toolyard") || text.contains('=') && Config::load(file).is_ok()
}
