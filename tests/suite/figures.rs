//! Every number of README and guide is in `docs/figures.toml`: with the command that prints it, which the slow and the
//! long tests run, with the file that sets it, or as part of a name. `--nocapture` prints the list.

use std::fs;

use regex::Regex;

use crate::told::{List, Page, frameworks, numbers, root};

/// The words of a page: without code, keys, addresses of links, and the numbers of lists and exit codes.
fn prose(page: &str) -> String {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut text = text;
    for part in [
        r"(?s)<!-- keys.*?<!-- end of keys -->",
        r"(?s)<!-- frameworks.*?<!-- end of frameworks -->",
        r"(?s)```.*?```",
        r"`[^`]*`",
        r"<kbd>.*?</kbd>",
        r"\]\([^)]*\)",
        r"(?m)^ *\d+\. ",
        r"(?m)^\| \d+ \|",
    ] {
        text = Regex::new(part).unwrap().replace_all(&text, " ").into_owned();
    }
    words(&text)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as [`prose`] has it.
fn plain(text: &str) -> String {
    words(&Regex::new(r"`[^`]*`").unwrap().replace_all(text, " "))
}

/// The pages, with their part of the list.
fn pages(list: &List) -> impl Iterator<Item = (String, Option<&Page>)> {
    let guide = fs::read_dir(root().join("docs/guide")).unwrap();
    let guide = guide.map(|file| format!("docs/guide/{}", file.unwrap().file_name().display()));
    let mut files: Vec<String> = guide.filter(|file| file.ends_with(".md")).collect();
    files.push("README.md".to_owned());
    files.sort();
    files.into_iter().map(|file| {
        let page = list.page.iter().find(|page| page.file == file);
        (file, page)
    })
}

#[test]
fn every_number_of_a_page_is_listed_with_its_source() {
    let list = List::read();
    let unlisted = Regex::new(r".{0,30}\d.{0,30}").unwrap();
    let mut faults = Vec::new();
    for (file, page) in pages(&list) {
        let mut prose = prose(&file);
        let Some(page) = page else {
            faults.extend(numbers(&prose).iter().map(|number| format!("{file}: {number}")));
            continue;
        };
        let figures = page.figure.iter().map(|figure| {
            println!("{file}: {} <- {}", figure.says, figure.command);
            &figure.says
        });
        let settings = page.setting.iter().map(|setting| {
            println!("{file}: {} <- {}", setting.says, setting.file);
            &setting.says
        });
        for says in figures.chain(settings).chain(&page.names) {
            let says = plain(says);
            if !prose.contains(&says) {
                faults.push(format!("{file} does not say: {says}"));
            }
            prose = prose.replace(&says, " … ");
        }
        for found in unlisted.find_iter(&prose) {
            faults.push(format!("{file}: not in docs/figures.toml: {}", found.as_str()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_setting_is_what_its_file_has() {
    for page in List::read().page {
        for setting in page.setting {
            let text = fs::read_to_string(root().join(&setting.file)).unwrap();
            for has in &setting.has {
                assert!(text.contains(has), "{}: {} has no {has}", page.file, setting.file);
            }
        }
    }
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
