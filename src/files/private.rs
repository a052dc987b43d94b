//! Files that only their owner can read: an agent's input and output must stay hidden from other users of the machine.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The mode of a new file.
const MODE: u32 = 0o600;
/// The permissions of others.
const OTHERS: u32 = 0o077;

/// Opens a file to write. A new one is private, and so is an existing one from now on.
///
/// # Errors
/// The system's error.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.mode(MODE).open(path)?;
    let about = file.metadata()?;
    if let Some(only_own) = only_own(&about) {
        // A file of another user stays unchanged.
        let _ = file.set_permissions(only_own);
    }
    Ok(file)
}

/// Writes a whole file.
///
/// # Errors
/// The system's error.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    open(path, options.write(true).create(true).truncate(true))?.write_all(bytes)
}

/// Makes an existing file private, without opening it: closing a file ends all locks that this process has on it. A
/// file of another user stays unchanged.
pub fn tighten(path: &Path) {
    if let Some(only_own) = path.metadata().ok().as_ref().and_then(only_own) {
        let _ = fs::set_permissions(path, only_own);
    }
}

/// The permissions that make a file private; `None` if it is private already, or is a pipe or a device.
fn only_own(about: &fs::Metadata) -> Option<Permissions> {
    let mode = about.permissions().mode();
    (about.is_file() && mode & OTHERS != 0).then(|| Permissions::from_mode(mode & 0o7700))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_files_are_private_and_existing_ones_become_so() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let [new, old, other] = ["new", "old", "other"].map(|name| folder.path().join(name));
        for path in [&old, &other] {
            fs::write(path, "x").unwrap();
            fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
        }
        write(&new, b"y").unwrap();
        open(&old, OpenOptions::new().append(true)).unwrap();
        tighten(&other);
        assert_eq!([&new, &old, &other].map(|path| mode(path)), [0o600; 3]);
    }
}
