//! Every number of README and guide is in `docs/figures.toml`: with the command that prints it, which the slow and the
//! long tests run, with the file that sets it, or as part of a name. `--nocapture` prints the list.

use std::fs;

use crate::told::{List, frameworks, root, unlisted, unset};

#[test]
fn every_number_of_a_page_is_listed_with_its_source() {
    let guide = fs::read_dir(root().join("docs/guide")).unwrap();
    let guide = guide.map(|file| format!("docs/guide/{}", file.unwrap().file_name().display()));
    let mut files: Vec<String> = guide.filter(|file| file.ends_with(".md")).collect();
    files.push("README.md".to_owned());
    files.sort();
    let faults = unlisted(&List::read(), &files);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_setting_is_what_its_file_has() {
    let faults = unset(&List::read());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_table_of_frameworks_is_the_one_that_is_kept() {
    let page = fs::read_to_string(root().join("docs/guide/watch.md")).unwrap();
    let (_, rest) = page.split_once("<!-- frameworks").unwrap();
    let (table, _) = rest.split_once("\n<!-- end of frameworks -->").unwrap();
    let told: Vec<&str> = table.lines().skip(3).collect();
    let kept = frameworks::for_the_guide();
    assert_eq!(told, kept, "the page should have:\n{}", kept.join("\n"));
}
