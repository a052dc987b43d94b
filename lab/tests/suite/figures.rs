//! Every number of the laboratory's pages, and those of papers in README, are in `figures.toml`. `--nocapture` prints the
//! list; `cargo test --test slow` runs its commands.

use std::fs;

use crate::told::{List, root, unlisted, unset};

#[test]
fn every_number_of_a_page_is_listed_with_its_source() {
    let pages = fs::read_dir(root().join("docs")).unwrap();
    let pages = pages.map(|file| format!("docs/{}", file.unwrap().file_name().display()));
    let mut files: Vec<String> = pages.filter(|file| file.ends_with(".md")).collect();
    files.push("README.md".to_owned());
    files.sort();
    let list = List::read();
    let mut faults = unlisted(&list, &files);
    // README's other numbers are in the list of its own suite.
    let readme = unlisted(&list, &["../README.md".to_owned()]);
    faults.extend(readme.into_iter().filter(|fault| fault.contains("does not say")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_setting_is_what_its_file_has() {
    let faults = unset(&List::read());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
