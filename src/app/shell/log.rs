//! `--log FILE`: a log of effects, files and connections, for debugging the program itself. Events
//! tell what an agent did; these lines tell of endpoints, programs and files.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::{fs::OpenOptions, path::PathBuf};

use clap::Args;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::{fmt, layer::SubscriberExt};

use super::{out::expect_folder, trouble::Trouble};
use crate::files::private;
use crate::net::known::without_keys;

#[derive(Debug, Args)]
pub struct LogArgs {
    /// Append a log of model requests, programs and files to this file.
    #[arg(long, value_name = "FILE", global = true)]
    log: Option<PathBuf>,
    /// Lowest level of the log: error, warn, info, debug or trace.
    #[arg(
        long,
        value_name = "LEVEL",
        global = true,
        env = "TOOLYARD_LOG",
        hide_env_values = true,
        default_value = "info"
    )]
    log_level: LevelFilter,
}

/// Why lines of the log are lost.
static LOST: Mutex<Option<String>> = Mutex::new(None);

/// Says that lines of the log are lost, and why.
pub fn lost() -> Option<String> {
    LOST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A file of lines without keys.
struct LogWriter<W> {
    to: W,
    path: PathBuf,
}

impl<W: Write> Write for LogWriter<W> {
    /// Writes a whole line to the system at once: other sessions may write to the same file.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = without_keys(&String::from_utf8_lossy(line));
        let written = self.to.write_all(text.as_bytes());
        if let Err(error) = &written {
            // A message now would corrupt the screen.
            let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert_with(|| {
                format!("{}: the log is incomplete: {error}", self.path.display())
            });
        }
        written.map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl LogArgs {
    /// Starts the log, if requested.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn start(&self) -> Result<(), Trouble> {
        let Some(path) = &self.log else { return Ok(()) };
        expect_folder(path)?;
        let file = private::open(path, OpenOptions::new().append(true).create(true));
        let file = file.map_err(|error| {
            Trouble::Usage(format!("{}: cannot write the log: {error}", path.display()))
        })?;
        tracing::subscriber::set_global_default(subscriber(
            LogWriter { to: file, path: path.clone() },
            self.log_level,
        ))
        .map_err(Trouble::failed)
    }
}

fn subscriber<W: Write + Send + 'static>(
    to: LogWriter<W>,
    level: LevelFilter,
) -> impl tracing::Subscriber + Send + Sync {
    let lines = fmt::layer().with_ansi(false).log_internal_errors(false);
    // Libraries may log headers and bodies, and so keys. The names of our crates begin with this.
    let own = Targets::new().with_target("toolyard", level);
    tracing_subscriber::registry().with(lines.with_writer(Mutex::new(to))).with(own)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_line_has_level_target_and_fields_but_no_key_and_nothing_of_libraries() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let to = LogWriter { to: file.reopen().unwrap(), path: file.path().to_owned() };
        let own = subscriber(to, LevelFilter::INFO);
        tracing::subscriber::with_default(own, || {
            let _span = tracing::info_span!("call", tool = "curl").entered();
            tracing::info!(said = "Bearer sk-proj-abcdefghij\n\u{1b}[2J", "refused");
            tracing::debug!("too small to be written");
            tracing::error!(target: "h2", "not ours");
        });
        let written = fs::read_to_string(file.path()).unwrap();
        let (time, line) = written.split_once("  INFO ").unwrap();
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
        let place = "call{tool=\"curl\"}: toolyard_app::shell::log::tests: ";
        let said = "refused said=\"Bearer [key]\\n\\u{1b}[2J\"\n";
        assert_eq!(line, format!("{place}{said}"));
    }
}
