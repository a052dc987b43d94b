//! The pictures of the screen are made by one command.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::PROGRAM;

#[test]
fn one_command_draws_the_pictures_of_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/screens/README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.arg("scripts/screens.sh").arg(folder.path().join("out")).current_dir(root);
    command.env("TOOLYARD", PROGRAM).env("HOME", folder.path());
    for kind in ["CONFIG", "DATA", "STATE", "CACHE"] {
        command.env(format!("XDG_{kind}_HOME"), folder.path().join(kind));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let drawn = fs::read_dir(folder.path().join("out")).unwrap();
    let drawn: BTreeSet<String> =
        drawn.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let shown = page.split(['(', ')']).filter(|word| word.ends_with(".svg"));
    let shown: BTreeSet<String> = shown.map(str::to_owned).collect();
    assert_eq!(drawn, shown, "what the command draws, and what the page shows");
}
