//! The journals of a folder.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io, num::NonZeroUsize, thread};

use super::{JournalError, JournalReader, Summary, index_of, is_written};

/// How the names of journals end; older ones are files of text.
const ENDS: [&str; 2] = [".jsonl.zst", ".jsonl"];

/// The file name of a journal with this stem.
pub fn file_name(stem: &str) -> String {
    format!("{stem}{}", ENDS[0])
}

/// The file names that a journal with this stem may have, that of new ones first.
pub fn names(stem: &str) -> [String; 2] {
    ENDS.map(|end| format!("{stem}{end}"))
}

/// The place of a journal with this stem beside another one, whose end it has.
pub fn beside(journal: &Path, stem: &str) -> PathBuf {
    let name = journal.file_name().unwrap_or_default().to_string_lossy();
    let end = ENDS.into_iter().find(|end| name.ends_with(end)).unwrap_or(ENDS[0]);
    journal.with_file_name(format!("{stem}{end}"))
}

/// The file name of a journal without its end: `a` for `a.jsonl.zst`, `a.jsonl` and `a.txt`.
pub fn stem(journal: &Path) -> String {
    let name = journal.file_name().unwrap_or_default().to_string_lossy();
    let end = ENDS.iter().find_map(|end| name.strip_suffix(end));
    let other = || journal.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    end.map_or_else(other, str::to_owned)
}

/// Whether a file has the name of a journal.
pub fn is_named(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| ENDS.iter().any(|end| name.ends_with(end)))
}

/// A journal in a folder.
#[derive(Clone, Debug)]
pub struct JournalFile {
    pub path: PathBuf,
    /// The time of the last write.
    pub written: SystemTime,
}

/// The journals of a folder by their last change, the newest first. A folder that does not exist has none.
///
/// # Errors
/// The folder cannot be read.
pub fn journals(folder: &Path) -> io::Result<Vec<JournalFile>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut kept = Vec::new();
    for entry in entries {
        let path = entry?.path();
        // A journal that another program deletes meanwhile is skipped.
        let Ok(about) = path.symlink_metadata() else { continue };
        if about.is_file() && is_named(&path) {
            kept.push(JournalFile { written: about.modified()?, path });
        }
    }
    kept.sort_by(|a, b| (b.written, &b.path).cmp(&(a.written, &a.path)));
    Ok(kept)
}

/// Journals with their summaries, in the same order; a damaged journal, or one of another version, has an error. They
/// are read on all cores.
pub fn summaries(kept: &[JournalFile]) -> Vec<(&Path, Result<Summary, JournalError>)> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let part = kept.len().div_ceil(cores).max(1);
    let of = |kept: &[JournalFile]| -> Vec<_> {
        kept.iter().map(|kept| Summary::of(&kept.path)).collect()
    };
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

/// The bytes that a journal and its index take.
pub fn size(path: &Path) -> u64 {
    [path, &index_of(path)].iter().map(|path| path.metadata().map_or(0, |about| about.len())).sum()
}

/// Deletes a journal with its index, and the files of its agent that were kept. A missing file is not an error.
///
/// # Errors
/// A running session writes the journal ([`JournalError::Written`]), or a file cannot be deleted.
pub fn delete(journal: &Path) -> Result<(), JournalError> {
    if journal.exists() && is_written(journal)? {
        return Err(JournalError::Written { path: journal.to_owned() });
    }
    let tree = JournalReader::open(journal).ok().and_then(|reader| reader.header.tree());
    if let Some(Err(why)) = tree.map(|tree| tree.delete()) {
        let (path, source) = (journal.to_owned(), io::Error::other(why));
        return Err(JournalError::Io { path, source });
    }
    // The index goes first: an index without a journal would stay for ever.
    for path in [&*index_of(journal), journal] {
        match fs::remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(JournalError::Io { path: path.to_owned(), source });
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_goes_with_its_index_and_one_that_is_written_stays() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("a.jsonl");
        let both = [journal.clone(), index_of(&journal)];
        both.iter().for_each(|path| fs::write(path, "1234").unwrap());
        assert_eq!(size(&journal), 8);
        let writer = fs::File::open(&journal).unwrap();
        writer.lock().unwrap();
        assert!(matches!(delete(&journal), Err(JournalError::Written { .. })));
        assert!(both.iter().all(|path| path.exists()));
        drop(writer);
        delete(&journal).unwrap();
        assert!(!both.iter().any(|path| path.exists()));
        delete(&journal).unwrap();
    }
}
