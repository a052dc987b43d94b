//! A journal without events. Its file has another name until its first event is in it, so a session that is killed
//! before leaves no journal that has nothing in it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempPath;

use super::lines::is_packed;
use crate::files::private;

/// The end of the temporary name.
const ENDING: &str = ".new";
/// The ends of such a name in a folder of journals.
const LEFT: [&str; 2] = [".jsonl.zst.new", ".jsonl.new"];
/// The most attempts to reserve the name while other sessions delete the new file as a remainder.
const TRIES: usize = 100;
/// The time between two attempts.
const BETWEEN: Duration = Duration::from_millis(1);

/// Reserves the name of a journal. Returns the new file and its path until it gets the name; dropping the path deletes
/// the file there.
///
/// # Errors
/// The name is in use ([`io::ErrorKind::AlreadyExists`]), or the file cannot be made.
pub(super) fn reserve(path: &Path) -> io::Result<(File, TempPath)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let beside = place(path)?;
    delete_remainders(folder);
    for _ in 0..TRIES {
        let made = private::open(&beside, OpenOptions::new().append(true).create_new(true));
        let file = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match gone_or(delete_remainder(&beside)) {
                    // A session holds its lock for long, one that clears the folder only for a moment.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => sleep(BETWEEN),
                    done => done?,
                }
                continue;
            }
            made => made?,
        };
        // Nobody resumes a session that runs. A file system without locks cannot tell.
        let is_locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if is_locked && is_at(&file, &beside) {
            let beside = TempPath::try_from_path(beside)?;
            let is_taken = path.symlink_metadata().is_ok();
            return if is_taken { Err(taken()) } else { Ok((file, beside)) };
        }
    }
    Err(taken())
}

fn taken() -> io::Error {
    io::ErrorKind::AlreadyExists.into()
}

/// The place of a journal's file before its first event: `.j.jsonl.zst.new` for `j.jsonl.zst`.
pub(super) fn place(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(ENDING);
    Ok(path.with_file_name(beside))
}

/// Deletes files that killed sessions have left in a folder. A file that cannot be deleted does no harm.
fn delete_remainders(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name
            .to_str()
            .is_some_and(|name| name.starts_with('.') && LEFT.iter().any(|end| name.ends_with(end)))
        {
            let _ = delete_remainder(&entry.path());
        }
    }
}

/// Treats a file that another process has deleted, at any moment, as deleted.
fn gone_or(deleted: io::Result<()>) -> io::Result<()> {
    deleted
        .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Deletes a new journal that no session writes. Only a process that has locked such a file deletes it.
///
/// # Errors
/// A session writes it, it is something else, or it is gone ([`io::ErrorKind::NotFound`]).
fn delete_remainder(path: &Path) -> io::Result<()> {
    if !path.symlink_metadata()?.is_file() {
        return Err(taken());
    }
    let file = File::open(path)?;
    file.try_lock().map_err(|_| taken())?;
    let mut beginning = Vec::new();
    (&file).take(super::BEGINNING.len() as u64).read_to_end(&mut beginning)?;
    let is_ours = super::BEGINNING.starts_with(&beginning) || is_packed(&beginning);
    if !is_ours {
        return Err(taken());
    }
    if is_at(&file, path) { fs::remove_file(path) } else { Ok(()) }
}

/// Whether this file is still at this place.
fn is_at(file: &File, path: &Path) -> bool {
    let id = |about: fs::Metadata| (about.dev(), about.ino());
    let there = path.symlink_metadata().map(id).ok();
    there.is_some() && there == file.metadata().map(id).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into()).collect();
        names.sort();
        names
    }

    /// Each clears the folder of remainders, and may take a file that another one has just made for one.
    #[test]
    fn many_sessions_reserve_names_in_one_folder_at_once() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let folder = folder.path();
                scope.spawn(move || {
                    for n in 0..1500 {
                        let path = folder.join(format!("{thread}-{n}.jsonl"));
                        reserve(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
                    }
                });
            }
        });
    }

    #[test]
    fn a_name_is_reserved_for_one_process_and_free_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.jsonl");
        let reserved = reserve(&path).unwrap();
        assert_eq!(names(folder.path()), [Path::new(".j.jsonl.new")]);
        let again = reserve(&path).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        drop(reserved);
        assert!(names(folder.path()).is_empty());
        fs::write(&path, "mine").unwrap();
        assert_eq!(reserve(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(folder.path()), [Path::new("j.jsonl")]);
    }

    #[test]
    fn many_that_reserve_one_name_are_told_nothing_but_that_it_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.jsonl");
        let errors = || (0..400).filter_map(|_| reserve(&path).err()).collect::<Vec<_>>();
        let errors = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(errors)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let other = errors.iter().find(|error| error.kind() != io::ErrorKind::AlreadyExists);
        assert!(other.is_none(), "{other:?}");
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn only_what_a_killed_session_left_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path(".a.jsonl.new"), "").unwrap();
        fs::write(path(".a.jsonl.zst.new"), b"\x28\xb5\x2f\xfd\x04").unwrap();
        fs::write(path(".b.jsonl.new"), "{\"toolyard_journal\":2,").unwrap();
        fs::write(path(".c.jsonl.new"), "of another program").unwrap();
        fs::create_dir(path(".d.jsonl.new")).unwrap();
        let written = reserve(&path("e.jsonl")).unwrap();
        let reserved = reserve(&path("b.jsonl")).unwrap();
        let left = [".b.jsonl.new", ".c.jsonl.new", ".d.jsonl.new", ".e.jsonl.new"];
        assert_eq!(names(folder.path()), left.map(PathBuf::from));
        assert!(reserve(&path("c.jsonl")).is_err() && reserve(&path("d.jsonl")).is_err());
        drop((written, reserved));
    }
}
