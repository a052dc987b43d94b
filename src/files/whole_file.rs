//! Replaces files atomically: a reader sees the old text or the new one, never a part, even after an interruption.

use std::io::{self, Write as _};
use std::{ffi::OsString, fs, path::Path};

/// Replaces a file by what `give` writes. A link is followed, and a special file such as a pipe is written to
/// directly.
///
/// # Errors
/// The system's error, or that of `give`. The old file still exists in that case.
pub fn write<T, E: From<io::Error>>(
    path: &Path,
    give: impl FnOnce(&mut dyn io::Write) -> Result<T, E>,
) -> Result<T, E> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => write_to(path, give),
        Ok(_) => replace(&fs::canonicalize(path)?, give),
        Err(_) => replace(path, give),
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
    give: impl FnOnce(&mut dyn io::Write) -> Result<T, E>,
) -> Result<T, E> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.new", std::process::id()));
    let beside = path.with_file_name(name);
    let written = write_through(&beside, give)
        .and_then(|given| fs::rename(&beside, path).map(|()| given).map_err(E::from));
    if written.is_err() {
        // The first error is reported; a failure to remove the remainder adds nothing.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_through<T, E: From<io::Error>>(
    path: &Path,
    give: impl FnOnce(&mut dyn io::Write) -> Result<T, E>,
) -> Result<T, E> {
    let mut out = io::BufWriter::new(fs::File::create(path)?);
    let given = give(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()?;
    Ok(given)
}
