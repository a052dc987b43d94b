//! Workspaces: real data brought in, and what is learned in one session and known in the next.

use serde_json::{Value, json};

use crate::program::Home;

/// A workspace with a tool that works and one that never does.
fn two_calculators(home: &Home) {
    for (name, builtin) in [("calc", "calculator"), ("broken", "no_such_program")] {
        let source = match builtin {
            "calculator" => "builtin = \"calculator\"".to_owned(),
            program => format!("command = [\"{program}\"]"),
        };
        home.write(
            &format!("w/tools/{name}.toml"),
            format!(
                "name = \"{name}\"\ndescription = \"Calculates an expression.\"\neffect = \"read\"\n[parameters]\n\
                 required = [\"expression\"]\nproperties.expression.type = \"string\"\n[source]\n\
                 {source}\n"
            ),
        );
    }
    let step = json!({ "tools": ["broken", "calc"], "arguments": { "expression": "6*7" } });
    let task = json!({ "task": "What is 6 times 7?", "gold": "42", "chain": [step] });
    home.write("w/tasks.jsonl", format!("{task}\n"));
}

/// The scores that a session began with.
fn known(home: &Home, journal: &str) -> Value {
    let events = home.read(journal);
    let loaded = events.lines().find(|line| line.contains("\"GraphLoaded\"")).unwrap();
    let event: Value = serde_json::from_str(loaded).unwrap();
    event["data"]["scores"].clone()
}

#[test]
fn what_is_learned_is_known_in_the_next_session() {
    let home = Home::new();
    two_calculators(&home);
    let session = |journal: &str, more: &[&str]| {
        let run = ["run", "--workspace", "w", "--tasks-limit", "3", "--report", "r.json"];
        let ran = home.run(&[&run[..], &["--journal", journal], more].concat());
        assert!(ran.code < 2, "{ran:?}");
    };
    session("1.jsonl", &[]);
    assert_eq!(known(&home, "1.jsonl"), json!({}));
    let first = home.json("r.json")["scores"].clone();
    assert!(first.as_object().is_some_and(|scores| !scores.is_empty()), "{first}");
    assert_eq!(home.json("w/learned.json")["scores"], first);

    session("2.jsonl", &[]);
    assert_eq!(known(&home, "2.jsonl"), first, "the second begins where the first ended");
    let kept = home.read("w/learned.json");
    assert_eq!(home.json("w/learned.json")["scores"], home.json("r.json")["scores"]);

    session("3.jsonl", &["--fresh"]);
    assert_eq!(known(&home, "3.jsonl"), json!({}), "a fresh one knows nothing");
    assert_eq!(home.read("w/learned.json"), kept, "and leaves what was learned alone");

    home.write("elsewhere.json", &kept);
    session("4.jsonl", &["--learned", "elsewhere.json", "--knob", "learn=off"]);
    assert_eq!(known(&home, "4.jsonl"), home.json("w/learned.json")["scores"]);
    assert_eq!(home.read("w/learned.json"), kept);
}

#[test]
fn the_environment_and_flags_come_after_the_file() {
    let home = Home::new();
    two_calculators(&home);
    home.write("c.toml", "[session]\nseed = 5\nstrategy = \"react\"\nworkspace = \"w\"\n");
    let opening = |variables: &[(&str, &str)], flags: &[&str]| -> Value {
        let run = ["run", "--json", "--no-journal", "--fresh", "--tasks-limit", "0"];
        let mut command = home.command(&[&run[..], flags].concat());
        let output = command.envs(variables.iter().copied()).output().unwrap();
        crate::program::Ran::of(output).lines()[0]["data"].clone()
    };
    let opened = opening(&[("TOOLYARD_CONFIG", "c.toml")], &[]);
    assert_eq!((&opened["seed"], &opened["strategy"]), (&json!(5), &json!("react")));
    assert!(opened["workspace"].as_str().unwrap().ends_with('w'), "{opened}");
    let variables = [("TOOLYARD_CONFIG", "c.toml"), ("TOOLYARD_SEED", "6")];
    assert_eq!(opening(&variables, &[])["seed"], 6);
    let opened = opening(&variables, &["--seed", "7", "--strategy", "direct"]);
    assert_eq!((&opened["seed"], &opened["strategy"]), (&json!(7), &json!("direct")));
    assert_eq!(opening(&[], &["--config", "c.toml"])["seed"], 5);
    // Where the platform looks by itself.
    home.write("toolyard/config.toml", "[session]\nseed = 9\n");
    assert_eq!(opening(&[], &[])["seed"], 9);
}
