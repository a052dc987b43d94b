//! What a release takes from others, or what the compiler does not check: actions of the workflows, build scripts of
//! dependencies, and unsafe code. Each is in a list of `tests/data`, so that a new one is seen.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::sources::{root, sources};

/// The platform whose dependencies are listed; others add some of their own.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// The lines of a list without comments, each divided at `|`. The last part of each is a reason.
fn list(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join("tests/data").join(name)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parts = |line: &str| line.split(" | ").map(|part| part.trim().to_owned()).collect();
    let list: Vec<Vec<String>> = lines.map(parts).collect();
    for line in &list {
        let reason = line.last().unwrap();
        assert!(
            line.len() > 1 && reason.contains(' '),
            "{name}: a line without a reason: {line:?}"
        );
    }
    list
}

/// The lines of code that have `unsafe` as a word, from that word on.
fn unsafe_code(path: &str, code: &str) -> Vec<(String, String)> {
    let is_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let found = code.match_indices("unsafe").filter_map(|(at, word)| {
        let (before, rest) = (code[..at].chars().next_back(), &code[at + word.len()..]);
        let line = code[at..].lines().next()?.trim().to_owned();
        (!is_of_word(before) && !is_of_word(rest.chars().next())).then_some(line)
    });
    found.map(|line| (path.to_owned(), line)).collect()
}

#[test]
fn every_unsafe_code_is_listed_with_its_reason() {
    let rust = ["src", "benches", "tests", "examples", "fuzz", "lab"];
    let rust: Vec<&str> = rust.into_iter().filter(|folder| root().join(folder).is_dir()).collect();
    let all = sources(&rust);
    let mut found: Vec<_> =
        all.iter().flat_map(|source| unsafe_code(&source.path, &source.code)).collect();
    let mut listed: Vec<_> =
        list("unsafe.txt").into_iter().map(|line| (line[0].clone(), line[1].clone())).collect();
    found.sort_unstable();
    listed.sort_unstable();
    assert_eq!(found, listed, "tests/data/unsafe.txt lists other code");
    let hidden = "fn unsafe_code() { unsafe{ x } } // unsafe\nunsafe impl Send for X {}";
    assert_eq!(unsafe_code("x", hidden).len(), 3, "comments are removed before");
}

#[test]
fn every_build_script_of_a_dependency_is_listed() {
    let words = ["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform"];
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    let ran = cargo.current_dir(root()).args(words).arg(PLATFORM).output();
    let about = match ran {
        Ok(ran) if ran.status.success() => serde_json::from_slice::<Value>(&ran.stdout).unwrap(),
        Ok(ran) => {
            let why = String::from_utf8_lossy(&ran.stderr);
            return println!("SKIPPED: cargo metadata needs all crates: {why}");
        }
        Err(why) => return println!("SKIPPED: there is no cargo: {why}"),
    };
    let is_script =
        |target: &Value| target["kind"].as_array().unwrap().contains(&"custom-build".into());
    let packages = about["packages"].as_array().unwrap().iter();
    let have = packages.filter(|it| it["targets"].as_array().unwrap().iter().any(is_script));
    let mut found: Vec<&str> = have.map(|package| package["name"].as_str().unwrap()).collect();
    found.sort_unstable();
    found.dedup();
    let listed: Vec<String> =
        list("build-scripts.txt").into_iter().map(|mut line| line.swap_remove(0)).collect();
    assert!(found.len() > 10, "{found:?}");
    assert_eq!(found, listed, "tests/data/build-scripts.txt lists others");
}

#[test]
fn actions_are_named_by_the_hash_of_a_commit() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("- uses: ")) {
            let (hash, tag) =
                line.split_once('@').unwrap().1.split_once(" # v").unwrap_or_default();
            let is_hash = hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_hash && !tag.is_empty(), "{}: {line}: a tag can move", path.display());
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}
