//! The journals of a folder.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io, num::NonZeroUsize, thread};

use super::{JournalError, Summary};

/// A journal in a folder.
#[derive(Clone, Debug)]
pub struct Kept {
    pub path: PathBuf,
    /// When something was written to it last.
    pub written: SystemTime,
}

/// The journals of a folder by their last change, the newest first. A folder that does not exist has none.
///
/// # Errors
/// The folder cannot be read.
pub fn journals(folder: &Path) -> io::Result<Vec<Kept>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut kept = Vec::new();
    for entry in entries {
        let path = entry?.path();
        // A journal that another program deletes meanwhile is none.
        let Ok(about) = path.symlink_metadata() else { continue };
        if about.is_file() && path.extension().is_some_and(|extension| extension == "jsonl") {
            kept.push(Kept { written: about.modified()?, path });
        }
    }
    kept.sort_by(|a, b| (b.written, &b.path).cmp(&(a.written, &a.path)));
    Ok(kept)
}

/// Journals with what a list says of each, in the same order: one that is damaged or of another version has an
/// error. They are read on all cores.
pub fn summaries(kept: &[Kept]) -> Vec<(&Path, Result<Summary, JournalError>)> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let part = kept.len().div_ceil(cores).max(1);
    let of =
        |kept: &[Kept]| -> Vec<_> { kept.iter().map(|kept| Summary::of(&kept.path)).collect() };
    let read = thread::scope(|scope| {
        let threads: Vec<_> =
            kept.chunks(part).map(|part| (part, scope.spawn(move || of(part)))).collect();
        // A part whose thread panicked is read here.
        let joined =
            threads.into_iter().map(|(part, thread)| thread.join().unwrap_or_else(|_| of(part)));
        joined.flatten().collect::<Vec<_>>()
    });
    kept.iter().map(|kept| &*kept.path).zip(read).collect()
}
