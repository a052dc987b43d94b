//! What people expect of any command: colours where they are shown, errors where nothing else can be told, pictures
//! in a form that they can open.

use crate::program::{Home, Ran};

fn coloured(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = home.command(arguments);
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    Ran::of(command.output().unwrap())
}

const FORCED: [(&str, &str); 1] = [("CLICOLOR_FORCE", "1")];

#[test]
fn colours_are_for_terminals() {
    let home = Home::new();
    let run = ["run", "--tasks-limit", "1", "--fresh", "--no-journal"];
    for arguments in [&run[..], &["doctor"], &["plan", "--task", "x", "--budget", "3"]] {
        let plain = coloured(&home, arguments, &[]).out;
        assert!(!plain.contains('\u{1b}'), "{plain}");
        let painted = coloured(&home, arguments, &FORCED).out;
        assert!(painted.contains("\u{1b}["), "{painted}");
        // Colours add nothing that can be read.
        let parts = painted.split('\u{1b}').enumerate();
        let read: String = parts
            .map(|(n, part)| if n == 0 { part } else { part.split_once('m').unwrap().1 })
            .collect();
        assert_eq!(read, plain);
    }
    let off = coloured(&home, &["doctor"], &[("NO_COLOR", "1")]).out;
    assert!(!off.contains('\u{1b}'), "{off}");
}

#[test]
fn a_full_disk_is_told() {
    let home = Home::new();
    let run = "toolyard run --tasks-limit 1 --no-journal";
    for line in [&format!("{run} --json"), run, "toolyard doctor", "toolyard doctor --json"] {
        let ran = home.shell(&format!("{line} > /dev/full"));
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert!(ran.err.contains("No space left on device"), "{line}: {ran:?}");
    }
    // Who reads no further needs no message.
    let ran = home.shell("toolyard doctor | head -1");
    assert_eq!((ran.code, &*ran.err), (0, ""), "{ran:?}");
}

#[test]
fn a_picture_of_another_form_is_refused_with_the_way_to_it() {
    let home = Home::new();
    home.succeed(&["run", "--tasks-limit", "1", "--fresh", "--journal", "j.jsonl"]);
    let ran = home.run(&["shot", "j.jsonl", "--out", "x.PNG"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--out x.svg"), "{ran:?}");
    assert!(ran.err.contains("rsvg-convert --format png --output x.PNG x.svg"), "{ran:?}");
    assert!(!home.path("x.PNG").exists());
    home.succeed(&["shot", "j.jsonl", "--out", "x.svg"]);
    assert!(home.read("x.svg").starts_with("<svg"));
}

#[test]
fn a_comparison_explains_its_abbreviations_and_says_what_is_left() {
    let home = Home::new();
    let compare = ["compare", "--strategies", "react,direct", "--tasks-limit", "1", "--jobs", "1"];
    let ran = home.run(&compare);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("2 combinations on embedded demo: 1 task × 5 seeds"), "{ran:?}");
    for long in ["AC: average cost of a task in credits", "EM: exact match", "PBC: solved within"] {
        assert_eq!(ran.out.matches(long).count(), 1, "{ran:?}");
    }
    let told: Vec<_> = ran.err.lines().collect();
    assert!(told[0].contains("1/2 react done, ") && told[0].ends_with(" left"), "{ran:?}");
    assert!(told[1].ends_with("2/2 direct done"), "{ran:?}");
}

#[test]
fn a_run_takes_its_task_as_the_screen_does() {
    let home = Home::new();
    let out = home.succeed(&["run", "What is 17 times 23?", "--fresh", "--no-journal"]);
    assert!(out.contains("What is 17 times 23?  → ") && out.contains("1 of 1 answered"), "{out}");
    home.write("t.txt", "What is 17 times 23?");
    let ran = home.run(&["run", "t.txt", "--no-journal"]);
    assert!(ran.code == 2 && ran.err.contains("write --tasks t.txt"), "{ran:?}");
}

#[test]
fn the_version_says_how_the_program_was_built() {
    let home = Home::new();
    assert_eq!(home.succeed(&["--version"]), format!("toolyard {}\n", env!("CARGO_PKG_VERSION")));
    for order in [["--version", "--json"], ["-V", "--json"]] {
        let version: serde_json::Value = serde_json::from_str(&home.succeed(&order)).unwrap();
        assert_eq!(version["name"], "toolyard");
        assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(version["features"], serde_json::json!(["stage"]));
        let target = version["target"].as_str().unwrap();
        assert!(target.starts_with(std::env::consts::ARCH), "{target}");
        // The folder of the program has the name of its profile.
        let folder = std::path::Path::new(crate::PROGRAM).parent().unwrap().file_name().unwrap();
        let profile = if folder == "debug" { "dev" } else { folder.to_str().unwrap() };
        assert_eq!(version["profile"], profile);
    }
}

#[test]
fn the_doctor_lists_what_is_outside_of_workspaces() {
    let home = Home::new();
    let about = "files outside of workspaces: ";
    assert!(home.run(&["doctor"]).out.contains(&format!("{about}none")));
    home.succeed(&["run", "--tasks-limit", "1"]);
    let told = home.run(&["doctor"]).out;
    let (_, listed) = told.split_once(about).unwrap();
    let (listed, _) = listed.split_once("→ to remove toolyard, delete these").unwrap();
    for part in ["experience.sqlite (", "journals/ (files: 1, "] {
        assert!(listed.contains(part), "{part} is not in {listed}");
    }
    assert!(!listed.contains("tasks"), "{listed}");
}
