//! `toolyard resume`: what goes on, what is taken from the journal, and what is refused.

use std::fs::File;

use serde_json::Value;

use crate::program::Home;

const RUN: [&str; 8] =
    ["run", "--strategy", "toolnet", "--tasks-limit", "4", "--fresh", "--journal", "j.jsonl"];

/// A journal that ends in the middle of the line that ends its second task.
fn torn(home: &Home) {
    home.succeed(&RUN);
    tear(home, "j.jsonl");
}

fn tear(home: &Home, journal: &str) {
    let whole = home.read(journal);
    let (cut, _) = whole.match_indices("\"TaskFinished\"").nth(1).unwrap();
    home.write(journal, &whole[..cut]);
}

fn state(home: &Home, journal: &str) -> Value {
    serde_json::from_str(&home.succeed(&["replay", journal, "--json"])).unwrap()
}

#[test]
fn a_torn_journal_goes_on_in_a_new_one_that_has_everything() {
    let home = Home::new();
    torn(&home);
    let before = home.read("j.jsonl");
    let said = home.succeed(&["resume", "j.jsonl", "--headless"]);
    assert!(said.starts_with("resuming j.jsonl\n"), "{said}");
    assert!(said.contains("session resumed: "), "{said}");
    assert!(said.contains("4 of 4 answered"), "{said}");
    assert_eq!(home.read("j.jsonl"), before, "the old journal is not touched");
    let state = state(&home, "j.2.jsonl");
    assert_eq!(state["tasks_done"], 4);
    let origins: Vec<&str> = state["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["origin"].as_str().unwrap())
        .collect();
    assert!(origins.contains(&"recorded") && origins.contains(&"live"), "{origins:?}");
    // It is what the session would have been without the interruption.
    let whole = Home::new();
    whole.succeed(&RUN);
    let whole = self::state(&whole, "j.jsonl");
    for field in ["answer", "correct", "outcome"] {
        let of = |state: &Value| -> Vec<Value> {
            state["tasks"].as_array().unwrap().iter().map(|task| task[field].clone()).collect()
        };
        assert_eq!(of(&state), of(&whole), "{field}");
    }
    let refused = home.run(&["resume", "j.jsonl", "--headless"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("it was resumed in j.2.jsonl: resume that"), "{}", refused.err);
}

#[test]
fn case_11_1_a_session_is_known_by_its_id_and_not_by_the_name_of_its_file() {
    let home = Home::new();
    torn(&home);
    home.succeed(&["resume", "j.jsonl", "--headless"]);
    // Another session gets the name.
    std::fs::remove_file(home.path("j.jsonl")).unwrap();
    torn(&home);
    let said = home.succeed(&["resume", "j.jsonl", "--headless"]);
    assert!(said.starts_with("resuming j.jsonl\n") && said.contains("4 of 4 answered"), "{said}");
    assert_eq!(state(&home, "j.3.jsonl")["tasks_done"], 4);
    let refused = home.run(&["resume", "j.jsonl", "--headless"]);
    assert!(refused.err.contains("it was resumed in j.3.jsonl: resume that"), "{refused:?}");
    // Under another name it is the same session.
    std::fs::rename(home.path("j.jsonl"), home.path("k.jsonl")).unwrap();
    let refused = home.run(&["resume", "k.jsonl", "--headless"]);
    assert!(refused.err.contains("it was resumed in j.3.jsonl: resume that"), "{refused:?}");
}

#[test]
fn a_session_goes_on_from_an_earlier_journal_of_another_name_and_never_from_another_session() {
    let home = Home::new();
    torn(&home);
    home.succeed(&["resume", "j.jsonl", "--headless"]);
    tear(&home, "j.2.jsonl");
    std::fs::rename(home.path("j.jsonl"), home.path("old.jsonl")).unwrap();
    torn(&home);
    // The journal whose name it has is another session now.
    let said = home.succeed(&["resume", "j.2.jsonl", "--headless"]);
    assert!(said.contains("4 of 4 answered"), "{said}");
    std::fs::remove_file(home.path("old.jsonl")).unwrap();
    std::fs::remove_file(home.path("j.3.jsonl")).unwrap();
    let refused = home.run(&["resume", "j.2.jsonl", "--headless"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let why = "it continues the journal j.jsonl, which is missing from its folder";
    assert!(refused.err.contains(why), "{refused:?}");
}

/// Journals of older versions have no ids.
#[test]
fn a_journal_without_an_id_is_known_by_its_name() {
    let home = Home::new();
    torn(&home);
    home.succeed(&["resume", "j.jsonl", "--headless"]);
    for name in ["j.jsonl", "j.2.jsonl"] {
        let (head, rest) = home
            .read(name)
            .split_once('\n')
            .map(|(head, rest)| (head.to_owned(), rest.to_owned()))
            .unwrap();
        let mut head: Value = serde_json::from_str(&head).unwrap();
        let fields = head.as_object_mut().unwrap();
        assert!(fields.remove("id").is_some());
        assert_eq!(fields.remove("continues_id").is_some(), name == "j.2.jsonl");
        home.write(name, format!("{head}\n{rest}"));
    }
    let refused = home.run(&["resume", "j.jsonl", "--headless"]);
    assert!(refused.err.contains("it was resumed in j.2.jsonl: resume that"), "{refused:?}");
}

#[test]
fn a_session_that_was_killed_before_its_first_task_is_resumed_once() {
    let home = Home::new();
    home.succeed(&RUN);
    let whole = home.read("j.jsonl");
    for lines in [2, 4] {
        let begun: Vec<&str> = whole.lines().take(lines).collect();
        assert!(!begun.concat().contains("TaskStarted"));
        home.write("toolyard/journals/a.jsonl", begun.join("\n") + "\n");
        let said = home.succeed(&["resume", "--headless"]);
        assert!(said.contains("4 of 4 answered"), "{said}");
        let again = home.run(&["resume", "--headless"]);
        assert!(
            again.code == 2 && again.err.contains("no session in it can be resumed"),
            "{again:?}"
        );
        std::fs::remove_dir_all(home.path("toolyard/journals")).unwrap();
    }
}

/// The simulated model knows after an interruption what it has read before, also after a second one.
#[test]
fn cached_tokens_are_those_of_a_session_without_an_interruption() {
    let home = Home::new();
    home.succeed(&["run", "--strategy", "react", "--tasks-limit", "5", "--journal", "whole.jsonl"]);
    let cached = |journal: &str| -> Vec<u64> {
        let state = state(&home, journal);
        let tasks = state["tasks"].as_array().unwrap().iter();
        tasks.map(|task| task["cached"].as_u64().unwrap()).collect()
    };
    let whole = cached("whole.jsonl");
    assert!(whole.len() == 5 && whole.iter().all(|cached| *cached > 0), "{whole:?}");
    for (end, nth) in [("\"TaskFinished\"", 1), ("\"ModelCallFinished\"", 4)] {
        let text = home.read("whole.jsonl");
        let (cut, _) = text.match_indices(end).nth(nth).unwrap();
        home.write("j.jsonl", &text[..cut]);
        home.run(&["resume", "j.jsonl", "--headless"]);
        assert_eq!(cached("j.2.jsonl"), whole, "cut at {end}");
        let text = home.read("j.2.jsonl");
        let (cut, _) = text.match_indices("\"TaskFinished\"").nth(2).unwrap();
        home.write("j.2.jsonl", &text[..cut]);
        home.run(&["resume", "j.2.jsonl", "--headless"]);
        assert_eq!(cached("j.3.jsonl"), whole, "cut at {end} and again");
        for name in ["j.jsonl", "j.2.jsonl", "j.3.jsonl"] {
            std::fs::remove_file(home.path(name)).unwrap();
        }
    }
}

#[test]
fn the_newest_session_that_did_not_end_is_found() {
    let home = Home::new();
    let none = home.run(&["resume", "--headless"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("no session in it can be resumed"), "{}", none.err);
    torn(&home);
    std::fs::create_dir_all(home.path("toolyard/journals")).unwrap();
    std::fs::rename(home.path("j.jsonl"), home.path("toolyard/journals/j.jsonl")).unwrap();
    // One that has ended is newer.
    home.succeed(&["run", "--task", "What is 1 + 1?", "--fresh"]);
    let said = home.succeed(&["resume", "--json"]);
    let kinds: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone())
        .collect();
    assert_eq!(
        (&kinds[0], kinds.last().unwrap()),
        (&"SessionOpened".into(), &"SessionEnded".into())
    );
    assert!(home.path("toolyard/journals/j.2.jsonl").exists());
    assert_eq!(home.run(&["resume", "--headless"]).code, 2, "nothing is left");
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let home = Home::new();
    torn(&home);
    let refused = |journal: &str, more: &[&str]| {
        let ran = home.run(&[&["resume", journal, "--headless"], more].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(!home.path("j.2.jsonl").exists(), "nothing was begun");
        ran.err
    };
    assert!(refused("no.jsonl", &[]).contains("no.jsonl: No such file"));
    home.write("text.jsonl", "hello\n");
    assert!(refused("text.jsonl", &[]).contains("text.jsonl:1: no journal header"));
    let text = home.read("j.jsonl");
    home.write("new.jsonl", text.replacen("\"toolyard_journal\":4", "\"toolyard_journal\":99", 1));
    assert!(refused("new.jsonl", &[]).contains("written in format 99"));
    home.write("line.jsonl", text.replacen("\"kind\":\"TaskStarted\"", "\"kind\":7", 1));
    assert!(refused("line.jsonl", &[]).contains("line.jsonl:"));
    home.write(
        "spec.jsonl",
        text.replacen("\"strategy\":\"toolnet\"", "\"strategie\":\"toolnet\"", 1),
    );
    assert!(
        refused("spec.jsonl", &[])
            .contains("the journal's spec: strategie: unknown field `strategie`")
    );
    home.write("mine.toml", "[models.mine]\nkind = \"simulated\"\n[roles]\ndefault = \"mine\"\n");
    home.write("other.toml", "");
    let run = ["run", "--config", "mine.toml", "--tasks-limit", "3", "--fresh", "--journal"];
    home.succeed(&[&run[..], &["m.jsonl"]].concat());
    tear(&home, "m.jsonl");
    let said = refused("m.jsonl", &["--config", "other.toml"]);
    assert!(said.contains("its model mine is not configured"), "{said}");
    // Another program writes to it.
    let written = File::options().append(true).open(home.path("j.jsonl")).unwrap();
    written.lock().unwrap();
    let said = refused("j.jsonl", &[]);
    assert!(
        said.contains("it is still being written: toolyard attach j.jsonl shows its session"),
        "{said}"
    );
    drop(written);
    home.succeed(&["resume", "j.jsonl", "--headless"]);
}

#[test]
fn a_journal_without_a_spec_needs_to_be_told_where_its_tools_are() {
    let home = Home::new();
    home.write("w/tools/say.toml", "name = \"say\"\ndescription = \"Says it.\"\neffect = \"read\"\n[source]\ncommand = [\"cat\"]\n");
    home.write("w/tasks.txt", "Say hello.\nSay it again.\n");
    home.run(&["run", "--workspace", "w", "--journal", "j.jsonl", "--fresh"]);
    let text = home.read("j.jsonl");
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(
        header["spec"]["workspace"].as_str().unwrap().ends_with("/w"),
        "a whole path: {header}"
    );
    let mut bare = header;
    bare.as_object_mut().unwrap().remove("spec");
    let lines = text.lines().skip(1).take_while(|line| !line.contains("TaskFinished"));
    let lines: Vec<&str> = lines.collect();
    home.write("old.jsonl", format!("{bare}\n{}\n", lines.join("\n")));
    let ran = home.run(&["resume", "old.jsonl", "--headless"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("its session worked in w, not in"), "{}", ran.err);
    assert!(ran.err.contains("add --workspace DIR"), "{}", ran.err);
    let ran = home.run(&["resume", "old.jsonl", "--headless", "--workspace", "w"]);
    assert!(ran.code <= 1 && ran.out.contains("Say it again."), "{ran:?}");
}
