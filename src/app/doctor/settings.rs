//! The configuration itself, and the folder for journals.

use std::io;
use std::path::{Path, PathBuf};

use super::{Finding, Subject, in_force};
use crate::config::{Config, LoadedConfig, default_journals, default_path};
use crate::ui::theme;
use crate::ui::{KeymapError, keymap::Keymap};

const ABOUT: &str = "configuration";

/// Reads the configuration as a start would; `None`: it has faults.
pub(super) fn configuration(subject: &Subject<'_>, findings: &mut Vec<Finding>) -> Option<Config> {
    let mut config = match Config::settle(subject.config, subject.environment) {
        Ok(LoadedConfig { config, file }) => {
            findings.push(Finding::ok(ABOUT, read_from(file)));
            config
        }
        Err(problems) => {
            let failed = |problem: &_| Finding::fail(ABOUT, format!("{problem}"));
            findings.extend(problems.0.iter().map(failed));
            return None;
        }
    };
    let variables = in_force(subject.environment);
    if !variables.is_empty() {
        let text = format!("changed by the environment: {}", variables.join(", "));
        findings.push(Finding::ok(ABOUT, text));
    }
    if let Some(Err(why)) = subject.model.map(|model| config.bind_all(model)) {
        findings.push(Finding::fail(ABOUT, format!("--model: {why}")));
        return None;
    }
    findings
        .extend(config.gone.notices.iter().map(|notice| Finding::warn(ABOUT, notice.to_string())));
    for warning in theme::load::find(&config.ui.theme, None).1 {
        findings.push(Finding::warn(ABOUT, warning.to_string()));
    }
    // Invalid keys prevent a start; the rest are keys that now do another action.
    for taken in Keymap::new(&config.ui.keys).1 {
        findings.push(Finding::warn(ABOUT, moved(&taken)));
    }
    Some(config)
}

fn moved(taken: &KeymapError) -> String {
    match taken {
        KeymapError::Conflict { key, first, second } => {
            format!("ui.keys: `{key}` now does `{first}` instead of `{second}`")
        }
        KeymapError::Lost { .. } | KeymapError::Unknown { .. } => format!("ui.{taken}"),
    }
}

fn read_from(file: Option<PathBuf>) -> String {
    match (file, default_path()) {
        (Some(file), _) => format!("read from {}", file.display()),
        (None, Some(place)) => format!("defaults; {} does not exist", place.display()),
        (None, None) => "defaults; there is no home directory".to_owned(),
    }
}

/// Whether journals can be written.
pub(super) fn journals(config: &Config) -> Finding {
    const ABOUT: &str = "journals";
    let Some(folder) = config.session.journals.clone().or_else(default_journals) else {
        return Finding::fail(ABOUT, "no home directory for journals")
            .advise("set session.journals in the configuration, or use --journal FILE");
    };
    match try_to_write(&folder) {
        Ok(()) => Finding::ok(ABOUT, format!("written to {}", folder.display())),
        Err(error) => {
            Finding::fail(ABOUT, format!("{} is not writable: {error}", folder.display()))
                .advise("make it writable, or set session.journals in the configuration")
        }
    }
}

/// Writes a file and removes it again: only this gives certainty. A missing folder would be created
/// by the first session, in the nearest existing one.
fn try_to_write(folder: &Path) -> io::Result<()> {
    let there = folder.ancestors().find(|folder| folder.exists());
    let folder = there.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".toolyard-doctor-").tempfile_in(folder)?.close()
}
