//! Journals of earlier formats, written in the newest one.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::NamedTempFile;

use super::frames::FrameWriter;
use super::write::FRAME;
use super::{FORMAT, JournalError, JournalReader};
use crate::files::safe_json::safe;

/// Bytes that are written together.
const AT_ONCE: usize = 1 << 20;

/// A journal that was written in the newest format.
#[derive(Clone, Debug, PartialEq)]
pub struct Upgraded {
    /// The earlier format.
    pub from: u32,
    /// The bytes of the file before and after.
    pub bytes: [u64; 2],
    /// A remark about the end that was reached.
    pub remark: Option<String>,
}

impl JournalReader {
    /// The header as a line of the newest format; `None` if the journal has none.
    pub fn newest_head(&self) -> Option<String> {
        // Fields of other versions stay.
        let mut head: Value = serde_json::from_slice(&self.head).ok()?;
        head["toolyard_journal"] = FORMAT.into();
        Some(safe(&head.to_string()).into_owned())
    }

    /// The next event as a line of the newest format; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or the line is no JSON.
    pub fn newest_line(&mut self) -> Result<Option<String>, JournalError> {
        self.next_with(|_, line| {
            let text: &RawValue =
                serde_json::from_slice(line).map_err(|error| error.to_string())?;
            Ok(safe(text.get()).into_owned())
        })
    }
}

/// Writes a journal in the newest format, in its place and under its name; `None` if it has that format.
///
/// # Errors
/// The journal cannot be read, a running session writes it, or its folder cannot be written. It stays as it is then.
pub fn upgrade(path: &Path) -> Result<Option<Upgraded>, JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    // A link stays one.
    let place = path.canonicalize().map_err(io)?;
    let file = File::open(&place).map_err(io)?;
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(JournalError::Written { path: path.to_owned() });
    }
    let mut reader = JournalReader::open(path)?;
    let from = reader.header.toolyard_journal;
    if from == FORMAT && reader.is_packed() {
        return Ok(None);
    }
    let folder = place.parent().unwrap_or(Path::new("/"));
    let mut new = NamedTempFile::new_in(folder).map_err(io)?;
    write(&mut reader, &mut new)?;
    let last = JournalReader::open(new.path())?.go_behind(u64::MAX)?;
    if last != reader.place().n {
        return Err(io(io::Error::other(format!("its copy ends at event {last}"))));
    }
    let about = file.metadata().map_err(io)?;
    new.as_file().set_permissions(about.permissions()).map_err(io)?;
    new.as_file().sync_all().map_err(io)?;
    let bytes = [about.len(), new.as_file().metadata().map_err(io)?.len()];
    new.persist(&place).map_err(|error| io(error.error))?;
    Ok(Some(Upgraded { from, bytes, remark: reader.remark() }))
}

fn write(reader: &mut JournalReader, new: &mut NamedTempFile) -> Result<(), JournalError> {
    let path = new.path().to_owned();
    let io = |source| JournalError::Io { path: path.clone(), source };
    let mut frames = FrameWriter::new().map_err(io)?;
    reader.newest_head().iter().try_for_each(|head| frames.add(head)).map_err(io)?;
    while let Some(line) = reader.newest_line()? {
        frames.add(&line).map_err(io)?;
        if reader.place().n.is_multiple_of(FRAME) {
            frames.end().map_err(io)?;
        }
        if frames.waiting > AT_ONCE {
            frames.write(new).map_err(io)?;
        }
    }
    frames.end().map_err(io)?;
    frames.write(new).map(drop).map_err(io)
}
