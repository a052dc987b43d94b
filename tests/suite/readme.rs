//! The README says what is true: its keys are those of the program, its configuration and its tool can be
//! used as they stand, and its commands do what they say.

use std::{fs, path::Path, process::Command};

use serde_json::json;
use toolyard::app::{config::Config, workspace::Workspace};
use toolyard::stage::builtin;
use toolyard::stage::sample::Sample;
use toolyard::tool::{Invocation, Tool, manifest::Manifest};
use toolyard::ui::{keymap::Keymap, keytable};

use crate::markdown;
use crate::program::Home;

const README: &str = include_str!("../../README.md");

/// The fenced blocks of this language, in order.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let of_it = markdown::blocks(README).into_iter().filter(move |(of, _)| *of == language);
    of_it.map(|(_, text)| text)
}

/// The block that begins with this comment.
fn block(language: &str, name: &str) -> &'static str {
    let begins = format!("# {name}\n");
    blocks(language).find(|text| text.starts_with(&begins)).expect("the README has this block")
}

/// Words of one page.
const LONGEST: usize = 1_300;

#[test]
fn it_is_one_page() {
    let words = README.split_whitespace().count();
    assert!(words <= LONGEST, "README.md has {words} words; put tables into the guide");
}

#[test]
fn the_page_of_keys_has_those_of_the_program() {
    let page = include_str!("../../docs/guide/keys.md");
    let (_, rest) = page.split_once("<!-- keys:").unwrap();
    let (_, rest) = rest.split_once("-->\n").unwrap();
    let (table, _) = rest.split_once("<!-- end of keys -->").unwrap();
    let keys = keytable::markdown(&Keymap::default());
    assert_eq!(
        table.trim(),
        keys.trim(),
        "put what `toolyard keys` prints into docs/guide/keys.md"
    );
}

#[test]
fn its_keys_are_in_the_keymap() {
    let keys = markdown::assert_keys("README.md", README);
    assert!(keys > 20, "{keys} keys");
}

#[test]
fn its_rust_is_that_of_the_manifest() {
    let version = format!("Rust {} or later", env!("CARGO_PKG_RUST_VERSION"));
    assert!(README.contains(&version), "README.md should say {version}");
}

#[test]
fn its_demo_is_as_large_as_it_says() {
    let demo = Workspace::open(None, Some(Sample::General), &[]).unwrap();
    let size = format!("{} tools, {} tasks,", demo.manifests.len(), demo.tasks.len());
    assert!(README.contains(&size), "README.md should say {size}");
}

#[test]
fn its_configuration_can_be_used() {
    let text = block("toml", "config.toml");
    for text in [text.to_owned(), text.replace("#key_env", "key_env")] {
        let config = Config::parse("config.toml", &text).unwrap();
        assert!(config.roles.values().all(|model| model.as_str() == "mine"));
    }
}

#[tokio::test]
async fn its_tool_can_be_called() {
    crate::processes::with_reaper();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("weather.py"), block("python", "tools/weather.py")).unwrap();
    let text = block("toml", "tools/weather.toml");
    let manifest = Manifest::parse("weather.toml", text, folder.path(), builtin::read).unwrap();
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: this test needs python3");
        return;
    }
    let invocation = Invocation { arguments: json!({"city": "Lisbon"}), seed: 0 };
    let output = manifest.call(&invocation).await.unwrap();
    assert_eq!(output.text.trim(), "It is sunny in Lisbon.");
}

#[test]
fn its_commands_work() {
    let home = Home::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let copied = Command::new("cp").arg("-R").args([&examples, &home.path("")]).status();
    assert!(copied.unwrap().success());
    let lines: Vec<_> = blocks("sh").flat_map(str::lines).collect();
    let lines: Vec<_> = lines.into_iter().filter(|line| line.starts_with("toolyard ")).collect();
    assert!(lines.len() > 3, "{lines:?}");
    for line in lines {
        let ran = home.shell(line);
        // Of a hundred tasks with a broken tool some may fail, and say so.
        let fails = (line.contains("--fault") || line.contains("--recorded")) && ran.code == 1;
        assert!(ran.code == 0 || fails, "{line}\n{}", ran.err);
    }
    for file in ["s.jsonl.zst", "report.json", "state.json", "moment.svg"] {
        let length = home.read(file).len();
        assert!(length > 200, "{file} has {length} bytes");
    }
}

#[test]
fn its_picture_of_a_watched_agent_is_up_to_date() {
    let home = Home::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let journal = "tests/data/journals/watched.jsonl";
    let size = "120x34";
    let path = root.join(journal);
    home.succeed(&["shot", path.to_str().unwrap(), "--size", size, "--out", "watch.svg"]);
    let is_same =
        home.read("watch.svg") == fs::read_to_string(root.join("docs/watch.svg")).unwrap();
    assert!(is_same, "run `toolyard shot {journal} --size {size} --out docs/watch.svg`");
}

#[test]
fn what_it_links_to_is_there() {
    markdown::assert_linked(README, Path::new(env!("CARGO_MANIFEST_DIR")));
}

/// Packages take their version from the manifest; a release has notes of the same version.
#[test]
fn the_changelog_begins_with_the_version_of_the_manifest() {
    let changelog = include_str!("../../CHANGELOG.md");
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## ")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(newest.starts_with(&format!("[{version}] - ")), "{newest}");
    let page = include_str!("../../docs/guide/install.md");
    let named = page.matches(&format!("toolyard-{version}")).count();
    assert_eq!(named, page.matches("toolyard-0.").count() + page.matches("toolyard-1.").count());
}
