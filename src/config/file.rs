//! The configuration's file: where it lies, and getting its text without trusting it.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use directories::ProjectDirs;

use crate::toml_file::{Problem, Problems};

/// A larger file is no configuration; it would only be slow to say so.
const LARGEST: u64 = 1024 * 1024;

/// The configuration's place in the platform's directory for them; `None` where the user has no home.
pub fn default_path() -> Option<PathBuf> {
    Some(directories()?.config_dir().join("config.toml"))
}

/// Where journals are kept by default: in the platform's directory for data.
pub fn default_journals() -> Option<PathBuf> {
    Some(directories()?.data_dir().join("journals"))
}

fn directories() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "toolyard")
}

/// The text of a configuration file.
pub(super) fn read(path: &Path) -> Result<String, Problems> {
    let problem = |text: String| Problem::of_file(path.display().to_string(), text);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| problem(why(path, &error)))?;
    if bytes.len() as u64 > LARGEST {
        let text = format!("longer than {} KiB; expected a configuration in TOML", LARGEST / 1024);
        return Err(problem(text).into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        let text = "not UTF-8; save the file as UTF-8 without changing its content".to_owned();
        Problem { line: Some(line), ..problem(text) }.into()
    })
}

fn why(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "there is no such file; start from config.example.toml, or leave --config out"
                .to_owned()
        }
        _ if path.is_dir() => {
            "a directory; expected a configuration file such as config.toml in it".to_owned()
        }
        _ => format!("cannot be read: {error}"),
    }
}
