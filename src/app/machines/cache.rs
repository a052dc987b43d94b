//! Packed files that this machine has seen, by their hashes.

use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io::Write};

use super::pack::hash;
use crate::config;

/// Files that were not read for this long are removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

fn folder() -> Option<PathBuf> {
    config::default_packs()
}

/// The files with this hash, if they are here and whole.
pub fn get(name: &str) -> Option<Vec<u8>> {
    let bytes = fs::read(folder()?.join(name)).ok()?;
    (hash(&bytes) == name).then_some(bytes)
}

/// Keeps files. Where that fails, they come from the server each time.
pub fn put(name: &str, bytes: &[u8]) {
    let Some(folder) = folder() else { return };
    let written = fs::create_dir_all(&folder).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        file.write_all(bytes)?;
        file.persist(folder.join(name)).map_err(|error| error.error).map(drop)
    });
    if let Err(error) = written {
        tracing::info!(%error, "the files of a job are not kept");
    }
}

/// Removes what is old.
pub fn clear() {
    for entry in
        folder().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten()
    {
        let read = entry.metadata().and_then(|about| about.accessed()).ok();
        let age = read.and_then(|read| read.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            // Another worker may have removed it.
            let _ = fs::remove_file(entry.path());
        }
    }
}
