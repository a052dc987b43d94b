//! Files that toolyard wrote outside of workspaces: a person who removes toolyard deletes them.

use std::fs;
use std::path::{Path, PathBuf};

use super::Finding;
use crate::config::{Config, own_folders};
use crate::{serve, ui};

const ABOUT: &str = "files outside of workspaces";

/// Lists what is in toolyard's folders, and in the configured places.
pub(super) fn files(config: &Config) -> Finding {
    let configured = config.session.journals.iter().chain(&config.experience.file).cloned();
    let mut places: Vec<PathBuf> = own_folders();
    places.extend(serve::folders());
    places.extend(configured);
    places.sort();
    // A configured place may be in another one.
    places.dedup_by(|later, before| later.starts_with(before));
    let listed: Vec<_> = places.iter().filter_map(|place| listed(place)).collect();
    if listed.is_empty() {
        return Finding::ok(ABOUT, "none");
    }
    Finding::ok(ABOUT, listed.join("\n")).advise("to remove toolyard, delete these and the program")
}

/// A place and what is in it; `None`: it does not exist, or is empty.
fn listed(place: &Path) -> Option<String> {
    let Ok(entries) = fs::read_dir(place) else {
        let bytes = fs::symlink_metadata(place).ok()?.len();
        return Some(format!("{} ({})", place.display(), ui::text::bytes(bytes)));
    };
    let mut names: Vec<_> = entries
        .flatten()
        .map(|entry| {
            let (files, bytes) = sum(&entry.path());
            let name = entry.file_name().to_string_lossy().into_owned();
            let bytes = ui::text::bytes(bytes);
            match entry.path().is_dir() {
                true => format!("{name}/ (files: {files}, {bytes})"),
                false => format!("{name} ({bytes})"),
            }
        })
        .collect();
    names.sort();
    (!names.is_empty()).then(|| format!("{}: {}", place.display(), names.join(", ")))
}

/// The number of files below a path, and their bytes. Follows no links.
fn sum(path: &Path) -> (u64, u64) {
    let Ok(about) = fs::symlink_metadata(path) else { return (0, 0) };
    if !about.is_dir() {
        return (1, about.len());
    }
    let below = fs::read_dir(path).into_iter().flatten().flatten();
    below
        .map(|entry| sum(&entry.path()))
        .fold((0, 0), |(files, bytes), more| (files + more.0, bytes + more.1))
}
