//! `[reader]`: the small local model that reads along, and its heads.

use std::path::{Path, PathBuf};

use super::read::path;
use crate::files::toml_file::Fields;

/// The files of a reader. They are opened where they are needed, never at the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReaderSettings {
    /// A model file (GGUF); `None`: there is no reader.
    pub model: Option<PathBuf>,
    /// Files of trained heads.
    pub heads: Vec<PathBuf>,
}

/// Relative paths start at `folder`.
pub(super) fn reader(fields: &mut Fields<'_>, folder: &Path, reader: &mut ReaderSettings) {
    fields.put("model", &mut reader.model, |field| path(field, folder).map(Some));
    fields.put("heads", &mut reader.heads, |field| {
        Some(field.list()?.iter().filter_map(|field| path(field, folder)).collect())
    });
}
