//! The count of lines that the notes and the changelog of the house compare.

use std::fs;
use std::process::Command;

use crate::sources::root;

#[test]
fn lines_of_code_are_counted_without_comments_and_tests() {
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: lines are counted by python3, which is not here");
    }
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("src/lib.rs", "//! Words.\n\npub mod one;\n"),
        ("lab/src/lib.rs", "mod two;\n"),
        ("lab/src/two/mod.rs", "fn one() {}\n"),
        (
            "src/one/mod.rs",
            "#[cfg(test)]\nmod made;\nmod two;\n// A reason.\nfn one() {\n    2;\n}\n",
        ),
        ("src/one/made.rs", "fn made() {}\n"),
        (
            "src/one/two.rs",
            "fn two() {}\n#[cfg(test)]\nfn three() {\n    4;\n}\nfn five() {}\n#[cfg(test)]\nmod tests {\n    use a;\n}\n",
        ),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let count = |folder: &std::path::Path| {
        let script = root().join("scripts/lines.py");
        let out = Command::new("python3").arg(script).arg(folder).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let said = count(folder.path());
    assert_eq!(
        said,
        "       6 one\n       2 lab\n       1 src\n       9 all, 7 without the laboratory\n"
    );
    let all = count(root());
    let rooms = all.lines().count() - 1;
    let others = 1 + usize::from(root().join("lab").is_dir());
    assert_eq!(rooms, crate::sources::rooms().len() + others, "rooms, src and lab: {all}");
}
