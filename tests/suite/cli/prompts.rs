//! The prompts of a workspace: they are read, listed and written, and bad files are refused.

use std::{collections::BTreeSet, fs};

use toolyard::domain::{Prompt, prompt::PROMPTS};

use crate::program::Home;

/// A workspace with one tool and one task.
fn workspace(home: &Home) {
    home.write(
        "w/tools/calc.toml",
        "name = \"calc\"\ndescription = \"Calculates.\"\n[source]\nbuiltin = \"calculator\"\n\
         [parameters]\nrequired = [\"expression\"]\nproperties.expression.type = \"string\"\n",
    );
    home.write("w/tasks.txt", "What is 6 times 7?\n");
}

#[test]
fn the_table_lists_exactly_the_files_that_there_are() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/prompts");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let files: BTreeSet<_> = files.map(|name| name.into_string().unwrap()).collect();
    let listed: BTreeSet<_> = PROMPTS.iter().map(|spec| format!("{}.md", spec.name)).collect();
    assert_eq!(files, listed);
}

#[test]
fn a_file_of_the_workspace_stands_in_for_the_built_in_text() {
    let home = Home::new();
    workspace(&home);
    home.write("w/prompts/actor.md", "\n  Solve it in verse, then call Finish.\n\n");
    home.write("w/prompts/.actor.md.swp", "an editor's");
    let run = ["run", "--workspace", "w", "--strategy", "react", "--fresh", "--json"];
    let ran = home.run(&[&run[..], &["--journal", "j.jsonl"]].concat());
    let events = ran.lines();
    let prompts = &events[0]["data"]["prompts"];
    assert_eq!(prompts["actor"]["text"], "Solve it in verse, then call Finish.");
    let hashes = prompts.as_object().unwrap().values();
    let hashes: BTreeSet<_> = hashes.map(|prompt| prompt["hash"].as_str().unwrap()).collect();
    assert_eq!(hashes.len(), PROMPTS.len(), "a hash for each prompt, and none of two");
    let asked = events.iter().find(|event| event["kind"] == "ModelCallRequested").unwrap();
    let told = asked["data"]["request"]["messages"][0]["text"].as_str().unwrap();
    assert_eq!(told, "Solve it in verse, then call Finish.");

    let table = home.succeed(&["prompts", "--workspace", "w"]);
    let own: Vec<_> = table.lines().filter(|line| line.starts_with('*')).collect();
    assert!(own.len() == 1 && own[0].starts_with("* actor "), "{table}");
    assert_eq!(table.lines().count(), 1 + PROMPTS.len());
    let shown = home.succeed(&["prompts", "actor", "--workspace", "w"]);
    assert_eq!(shown, "Solve it in verse, then call Finish.\n");
    let built_in = home.succeed(&["prompts", "actor"]);
    assert_eq!(built_in.trim_end(), Prompt::Actor.spec().built_in);
    // The exit code depends on the terminal, so it is not checked.
    let found = home.run(&["doctor", "--workspace", "w"]).out;
    assert!(found.contains("ok    prompts: the workspace overrides actor\n"), "{found}");

    // A journal of a program with another built-in text.
    let journal = home.read("j.jsonl");
    let solver = prompts["solver"]["hash"].as_str().unwrap();
    let ran = home.run(&["replay", "j.jsonl", "--report", "r.json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    home.write("old.jsonl", journal.replacen(solver, "0123456789abcdef", 1));
    let ran = home.run(&["replay", "old.jsonl", "--report", "r.json"]);
    let says = "old.jsonl: recorded with prompts that differ from the built-in ones: solver";
    assert!(ran.code == 0 && ran.err.contains(says), "{ran:?}");
}

#[test]
fn a_comparison_does_not_go_on_with_other_prompts() {
    let home = Home::new();
    workspace(&home);
    let compare = ["compare", "--strategies", "react", "--workspace", "w", "--out", "kept"];
    home.succeed(&compare);
    home.write("w/prompts/actor.md", "Solve it, then call Finish.");
    let ran = home.run(&compare);
    assert!(ran.code == 2 && ran.err.contains("other settings: prompts was "), "{ran:?}");
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_what_was_expected() {
    let long = "Finish ".repeat(10_000);
    let cases: [(&str, &[u8], &[&str]); 10] = [
        ("actr.md", b"x", &["unknown prompt; expected NAME.md, did you mean `actor`?"]),
        ("actor.txt", b"x", &["expected NAME.md, did you mean `actor`?"]),
        ("direct.md", b" \n", &["direct.md: empty; expected how to answer without tools"]),
        ("budget.md", b"{costs}, {budget}", &["{left} is missing; put it where its value"]),
        ("planner-again.md", b"Again.", &["{why} is missing"]),
        ("planner-lack.md", b"Say what.", &["`Lacking:` is missing; toolyard needs it"]),
        ("judge.md", b"Judge.", &["`helpful` is missing"]),
        ("actor.md", long.as_bytes(), &["longer than 64 KiB; expected the text of a prompt"]),
        ("solver.md", b"unknown\n\xff", &["solver.md:2: not UTF-8"]),
        ("direct.md", b"a\nb\x1b[2J", &["direct.md:2: a control character; expected text alone"]),
    ];
    for (name, text, says) in cases {
        let home = Home::new();
        workspace(&home);
        home.write(&format!("w/prompts/{name}"), text);
        for command in [&["run", "--workspace", "w"][..], &["prompts", "--workspace", "w"]] {
            let ran = home.run(command);
            assert_eq!(ran.code, 2, "{name}: {ran:?}");
            let place = format!("w/prompts/{name}");
            for phrase in says.iter().chain([&place.as_str()]) {
                assert!(ran.err.contains(phrase), "{name}: {phrase}: {}", ran.err);
            }
        }
    }
    let home = Home::new();
    workspace(&home);
    fs::create_dir_all(home.path("w/prompts/actor.md")).unwrap();
    home.write("w/prompts/actr.md", "x");
    let ran = home.run(&["run", "--workspace", "w"]);
    assert!(ran.err.contains("actor.md: not a file; expected"), "{ran:?}");
    assert!(ran.err.contains("actr.md: unknown prompt"), "all is said at once: {ran:?}");
    let ran = home.run(&["prompts", "actr"]);
    let says = "unknown prompt \"actr\"; did you mean `actor`?";
    assert!(ran.code == 2 && ran.err.contains(says), "{ran:?}");
}

#[test]
fn prompts_are_written_to_be_changed_and_never_over_a_file() {
    let home = Home::new();
    workspace(&home);
    let written = home.succeed(&["prompts", "judge", "--write", "w"]);
    assert_eq!(written, "w/prompts/judge.md\n");
    home.write("w/prompts/judge.md", "Be helpful.");
    let ran = home.run(&["prompts", "--write", "w"]);
    assert!(ran.code == 2 && ran.err.contains("judge.md: file exists"), "{ran:?}");
    assert_eq!(home.read("w/prompts/judge.md"), "Be helpful.");
    assert_eq!(fs::read_dir(home.path("w/prompts")).unwrap().count(), 1, "nothing else is written");

    let written = home.succeed(&["prompts", "--write", "new/place"]);
    assert_eq!(written.lines().count(), PROMPTS.len());
    for spec in PROMPTS {
        let file = home.read(&format!("new/place/prompts/{}.md", spec.name));
        assert_eq!(file, format!("{}\n", spec.built_in));
    }
    // What is written as it was overrides nothing.
    let table = home.succeed(&["prompts", "--workspace", "new/place"]);
    assert!(!table.contains('*'), "{table}");
}
