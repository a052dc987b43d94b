//! The order in which journals of a folder continue each other. A session has an id, since another session may get the
//! same file name. Journals of older versions have none; for them the name decides.

use std::path::{Path, PathBuf};

use crate::store::journal::{self, Header, folder};

/// The journal that continues this one. `past_of`: the number of records of this one that the other copies first.
pub(super) fn in_turn(path: &Path, past_of: impl Fn(&Path) -> u64) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let own = header(path)?;
    let continues = |other: &PathBuf| {
        other != path && header(other).is_some_and(|other| other.continues(name, &own))
    };
    // A journal whose session was killed before it had copied this one adds nothing, unless it is still written.
    let adds = |other: &PathBuf| {
        let is_written = journal::is_written(other).unwrap_or(true);
        let lines = journal::Summary::of(other).map_or(0, |summary| summary.events);
        is_written || lines > past_of(path)
    };
    beside(path).filter(continues).find(adds)
}

/// The journal that the one with this header continues: the file of that name if it is that session, else another file.
pub(super) fn by(path: &Path, own: &Header) -> Option<PathBuf> {
    let named = path.with_file_name(own.continues.as_ref()?);
    let is_it = |other: &PathBuf| {
        let name = other.file_name().and_then(|name| name.to_str());
        let earlier = header(other).filter(|_| other != path);
        earlier.zip(name).is_some_and(|(earlier, name)| own.continues(name, &earlier))
    };
    Some(named).into_iter().chain(beside(path)).find(is_it)
}

/// The journals of the same folder, the newest first.
fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let all = folder::journals(folder.unwrap_or(Path::new("."))).unwrap_or_default();
    all.into_iter().filter_map(|kept| Some(path.with_file_name(kept.path.file_name()?)))
}

fn header(path: &Path) -> Option<Header> {
    journal::JournalReader::open(path).ok().map(|reader| reader.header)
}
