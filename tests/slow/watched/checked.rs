//! Watched agents in CI: checked against scenarios, and with a journal for each test.

use std::fs;

use crate::program::{Home, Ran};

/// A small agent, and a fault that answers for its model, so that it needs no endpoint.
const AGENT: &str = r#"curl --silent $OPENAI_BASE_URL/chat/completions --data '{"model": "m", "messages": [{"role": "user", "content": "Is it raining?"}]}'
"#;
const FAULT: &str = "models:answer:text=It is raining.";

fn home() -> Home {
    let home = Home::new();
    fs::write(home.path("agent.sh"), AGENT).unwrap();
    home
}

/// Runs the agent with these options, after these variables.
fn watch(home: &Home, variables: &str, options: &str) -> Ran {
    home.shell(&format!("{variables} toolyard watch --headless {options} -- sh agent.sh"))
}

fn check(home: &Home, scenario: &str, options: &str) -> Ran {
    fs::write(home.path("s.toml"), scenario).unwrap();
    watch(home, "", &format!("--scenario s.toml --no-journal {options}"))
}

#[test]
fn an_agent_is_checked_by_the_first_words_of_its_conversations() {
    let home = home();
    let faults = format!("faults = [\"{FAULT}\"]\n");
    let expect = "[expect]\nanswered = 1\n[[expect.conversation]]\nbegins = \"is it\"\n\
                  answered = true\ncontains = \"raining\"\nmodel_calls = 1\n";
    let options = "--junit j.xml --html p.html --report r.json";
    let good = check(&home, &format!("{faults}{expect}"), options);
    assert_eq!(good.code, 0, "{}", good.err);
    assert!(good.out.contains("\"content\":\"It is raining.\""), "{}", good.out);
    assert!(good.err.contains("scenario s passed: 4 of 4 expectations met"), "{}", good.err);
    let read = |file: &str| fs::read_to_string(home.path(file)).unwrap();
    assert_eq!(read("j.xml").matches("<testcase").count(), 4, "{}", read("j.xml"));
    assert!(read("p.html").contains("Is it raining?") && read("r.json").contains("\"answered\""));
    let other = expect.replace("is it", "is it snowing");
    let bad = check(&home, &format!("{faults}{other}"), "--junit j.xml");
    assert_eq!(bad.code, 1, "{}", bad.err);
    let says = "FAILED: a conversation begins with “is it snowing”: these came: “Is it raining?”";
    assert!(bad.err.contains(says), "{}", bad.err);
    assert!(read("j.xml").contains("<failure"), "{}", read("j.xml"));
    let wrong = check(&home, &format!("strategy = \"react\"\n{faults}{expect}"), "");
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(
        wrong.err.contains("s.toml:1: strategy: this is for the agent of toolyard"),
        "{}",
        wrong.err
    );
    let own = home.run(&["run", "--scenario", "s.toml", "--no-journal"]);
    assert_eq!(own.code, 2, "{}", own.err);
    assert!(own.err.contains("only a watched agent has conversations"), "{}", own.err);
}

#[test]
fn each_test_has_a_journal_in_a_folder() {
    let home = home();
    let pytest = "PYTEST_CURRENT_TEST='tests/test_a.py::test_b (call)'";
    let record = format!("--record tapes --fault '{FAULT}'");
    for (variables, journal) in [(pytest, "tests-test_a-py-test_b"), ("", "Is-it-raining")] {
        let ran = watch(&home, variables, &record);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(home.path(&format!("tapes/{journal}.jsonl.zst")).exists(), "{journal}");
    }
    let again = "--recorded tapes --strict --no-journal";
    let ran = watch(&home, pytest, again);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("1 of 1 model calls answered from the record"), "{}", ran.err);
    assert!(ran.out.contains("It is raining."), "{}", ran.out);
    let ran = watch(&home, "", again);
    assert!(ran.err.contains("1 of 2 model calls answered from the record"), "{}", ran.err);
    let ran = watch(&home, "TOOLYARD_TEST=other", again);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("tapes/other.jsonl.zst: the test other was not recorded"),
        "{}",
        ran.err
    );
    let twice = watch(&home, pytest, &record);
    assert_eq!(twice.code, 2, "{}", twice.err);
    assert!(twice.err.contains("a journal is never overwritten"), "{}", twice.err);
}
