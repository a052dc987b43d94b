//! `toolyard journal`: the lines of a journal, and journals of earlier formats in the newest format.

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::{out, trouble::Trouble};
use crate::store::journal::{self, FORMAT, JournalReader};
use crate::ui::text::{bytes, clean};

/// Bytes that are printed together.
const AT_ONCE: usize = 64 << 10;

#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// Print the header of a journal and each event as a line of JSON.
    Cat {
        /// Journal to read, of any format.
        journal: PathBuf,
    },
    /// Convert journals of earlier formats to the newest format, in place.
    Upgrade {
        /// Journals to convert.
        #[arg(required = true, value_name = "JOURNAL")]
        journals: Vec<PathBuf>,
    },
}

/// Does what is requested.
///
/// # Errors
/// A journal cannot be read or written.
pub fn journal(command: &JournalCommand) -> Result<(), Trouble> {
    match command {
        JournalCommand::Cat { journal } => cat(journal),
        JournalCommand::Upgrade { journals } => journals.iter().try_for_each(|path| upgrade(path)),
    }
}

fn cat(path: &Path) -> Result<(), Trouble> {
    let mut reader = JournalReader::open(path).map_err(Trouble::usage)?;
    let mut text = reader.newest_head().map_or_else(String::new, |head| head + "\n");
    loop {
        let line = reader.newest_line();
        if let Ok(Some(line)) = &line {
            text.push_str(line);
            text.push('\n');
        }
        let goes_on = matches!(line, Ok(Some(_)));
        if text.len() >= AT_ONCE || !goes_on {
            if !out::print_if_read(&text)? {
                return Ok(());
            }
            text.clear();
        }
        if !goes_on {
            reader.remark().iter().for_each(|remark| out::warn(&clean(remark)));
            return line.map(drop).map_err(Trouble::usage);
        }
    }
}

fn upgrade(path: &Path) -> Result<(), Trouble> {
    let done = journal::upgrade(path).map_err(Trouble::usage)?;
    let name = path.display().to_string();
    let name = clean(&name);
    let Some(done) = done else {
        return out::print_line(format!("{name}: has format {FORMAT}"));
    };
    done.remark.iter().for_each(|remark| out::warn(&clean(remark)));
    let [before, after] = done.bytes.map(bytes);
    let from = done.from;
    out::print_line(format!("{name}: format {from}, {before} → format {FORMAT}, {after}"))
}
