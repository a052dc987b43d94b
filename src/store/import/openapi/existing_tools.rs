//! The tools that a folder has already. Tools of an earlier import keep their names, since graphs, scores and journals
//! refer to them by name, and no other tool loses its file.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::files::toml_file::TomlFields;
use crate::files::toml_file::TomlFile;

/// A manifest that another import made.
#[derive(Debug)]
pub(super) struct Earlier {
    pub name: String,
    pub file: PathBuf,
}

/// The tools in a folder of manifests.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// Imported tools by their operations.
    pub imported: HashMap<String, Earlier>,
    /// Names and files of all other tools.
    pub others: Vec<String>,
}

/// Reads the names of all manifests in a folder; a manifest that cannot be read is named after its file.
pub(super) fn of(folder: &Path) -> Folder {
    let mut found = Folder::default();
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    files.sort();
    for file in files.into_iter().filter(|file| file.extension().is_some_and(|it| it == "toml")) {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let text = fs::read_to_string(&file).unwrap_or_default();
        let (read, _) = TomlFile::read_what_is_right("", &text, said);
        match read.flatten() {
            Some((name, operation)) if !operation.is_empty() => {
                let earlier = Earlier { name, file };
                if let Some(Earlier { name, .. }) = found.imported.insert(operation, earlier) {
                    found.others.push(name);
                }
            }
            Some((name, _)) => found.others.extend([name].into_iter().chain(stem)),
            None => found.others.extend(stem),
        }
    }
    found
}

/// The name of a manifest and the operation that it was made from.
fn said(mut fields: TomlFields<'_>) -> Option<(String, String)> {
    let name = fields.get("name")?.text()?.to_owned();
    let source = fields.get("source").and_then(|source| source.table());
    let operation = source.and_then(|mut source| source.get("operation")?.text());
    Some((name, operation.unwrap_or_default().to_owned()))
}
