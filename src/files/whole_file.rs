//! Replaces files atomically: a reader sees the old text or the new one, never a part, even after an interruption.

use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::{fs, path::Path};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// The end of the name of a file that is being written.
const ENDING: &str = ".new";

/// Replaces a file by the output of `give`. A link is followed, and a special file such as a pipe is written to
/// directly. The system's mask determines who may read it, as for any new file.
///
/// # Errors
/// The system's error, or that of `give`. The old file still exists in that case.
pub fn write<T, E: From<io::Error>>(
    path: &Path,
    give: impl FnOnce(&mut dyn io::Write) -> Result<T, E>,
) -> Result<T, E> {
    write_with(path, 0o666, give)
}

/// The same for content of sessions, which only its owner may read.
///
/// # Errors
/// As [`write()`].
pub fn write_private<T, E: From<io::Error>>(
    path: &Path,
    give: impl FnOnce(&mut dyn io::Write) -> Result<T, E>,
) -> Result<T, E> {
    write_with(path, 0o600, give)
}

fn write_with<T, E: From<io::Error>>(
    path: &Path,
    mode: u32,
    give: impl FnOnce(&mut dyn io::Write) -> Result<T, E>,
) -> Result<T, E> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => write_to(path, give),
        Ok(_) => replace(&fs::canonicalize(path)?, mode, give),
        Err(_) => replace(path, mode, give),
    }
}

/// Writes to a pipe or a device, which a file must not replace.
fn write_to<T, E: From<io::Error>>(
    path: &Path,
    give: impl FnOnce(&mut dyn io::Write) -> Result<T, E>,
) -> Result<T, E> {
    let mut out = io::BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
    let given = give(&mut out)?;
    out.flush()?;
    Ok(given)
}

fn replace<T, E: From<io::Error>>(
    path: &Path,
    mode: u32,
    give: impl FnOnce(&mut dyn io::Write) -> Result<T, E>,
) -> Result<T, E> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    remove_remainders(folder, &prefix);
    // Nobody can guess the name, and the file must be new, so a planted link is not followed.
    let mut builder = tempfile::Builder::new();
    let own = format!("{prefix}{}.", std::process::id());
    builder.prefix(&own).suffix(ENDING).permissions(fs::Permissions::from_mode(mode));
    let mut out = io::BufWriter::new(builder.tempfile_in(folder)?);
    let given = give(&mut out)?;
    out.flush()?;
    let beside = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    beside.as_file().sync_all()?;
    beside.persist(path).map_err(|error| error.error)?;
    Ok(given)
}

/// Removes the remainders of writes to this file by processes that were killed. A remainder that cannot be removed does
/// no harm.
fn remove_remainders(folder: &Path, prefix: &str) {
    let is_remainder = |name: &str| {
        let inner = name.strip_prefix(prefix).and_then(|name| name.strip_suffix(ENDING));
        let process = inner.and_then(|inner| inner.split('.').next()?.parse().ok());
        let process = process.and_then(Pid::from_raw);
        process.is_some_and(|process| test_kill_process(process) == Err(Errno::SRCH))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_remainder) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_text(path: &Path, text: &str) -> io::Result<()> {
        write(path, |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn a_planted_link_is_not_followed_and_remainders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let own = format!(".a.json.{}.new", std::process::id());
        fs::write(at("victim"), "mine").unwrap();
        std::os::unix::fs::symlink(at("victim"), at(&own)).unwrap();
        // No process has this number.
        fs::write(at(".a.json.2147483646.new"), "old form").unwrap();
        fs::write(at(".a.json.2147483646.Xy12.new"), "half").unwrap();
        fs::write(at(".a.json.mine"), "not ours").unwrap();
        write_text(&at("a.json"), "new").unwrap();
        assert_eq!(fs::read_to_string(at("victim")).unwrap(), "mine");
        assert_eq!(fs::read_to_string(at("a.json")).unwrap(), "new");
        let left = fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<_> =
            left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        let mut expected = [".a.json.mine", &own, "a.json", "victim"];
        expected.sort_unstable();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_text(&path, "old").unwrap();
        let failed: io::Result<()> = write(&path, |out| {
            out.write_all(b"half")?;
            Err(io::ErrorKind::Other.into())
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
