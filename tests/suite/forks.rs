//! `toolyard fork`: from a moment of a session, with something changed there.

use serde_json::Value;

use crate::forking;
use crate::program::Home;

#[test]
fn forks_without_an_edit_equal_their_originals() {
    let tried = forking::tried(40);
    let first: Vec<_> = tried.differing.iter().take(20).collect();
    assert!(tried.forks > 400, "{}", tried.forks);
    assert!(tried.reordered * 20 < tried.forks, "{} are in another order", tried.reordered);
    assert!(first.is_empty(), "{} of {} differ: {first:#?}", tried.differing.len(), tried.forks);
}

/// A home with the journal of a session of two tasks.
fn home() -> Home {
    let home = Home::new();
    assert_eq!(said(&home, "run --strategy react --tasks-limit 2 --fresh --journal s.jsonl").0, 0);
    home
}

/// The exit code of a command, its output and its errors.
fn said(home: &Home, arguments: &str) -> (i32, String, String) {
    let words: Vec<_> = arguments.split_whitespace().collect();
    let ran = home.run(&words);
    (ran.code, ran.out, ran.err)
}

/// The events of a journal.
fn events(home: &Home, journal: &str) -> Vec<Value> {
    let (_, text, _) = said(home, &format!("journal cat {journal}"));
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn told(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["kind"] == kind).count()
}

#[test]
fn what_changes_acts_at_the_moment_and_what_comes_before_is_as_it_was() {
    let home = home();
    let original = events(&home, "s.jsonl");
    for (change, kind, at) in [
        ("--call 2 --set result=Nothing.", "CallEdited", 13),
        ("--at 11 --set result=Nothing.", "CallEdited", 13),
        ("--call 1 --set reply=No.", "CallEdited", 10),
        ("--call 2 --set arguments={\"query\":\"Porto\"}", "CallEdited", 11),
        ("--call 3 --set prompt=Why?", "CallEdited", 16),
        ("--at 20 --set score:search_web=-3", "ScoreSet", 20),
        ("--at 20 --set tool:search_web=off", "ToolSwitched", 20),
        ("--at 20 --knob max_steps=5", "KnobTurned", 20),
        ("--at 20 --strategy toolnet", "StrategyChosen", 20),
        ("--at 20 --model planner=simulated", "RoleBound", 20),
        ("--at 20 --fault search_web:error", "FaultArmed", 20),
        ("--at 20 --break search_web", "BreakpointSet", 20),
    ] {
        let fork = format!("fork s.jsonl {change} --headless --journal f.jsonl");
        let (code, _, errors) = said(&home, &fork);
        assert!(matches!(code, 0 | 1), "{change}: {errors}");
        let fork = events(&home, "f.jsonl");
        assert_eq!(told(&fork, kind), told(&original, kind) + 1, "{change}");
        assert_eq!(told(&fork, "CommandRefused"), 0, "{change}");
        let changed = fork.iter().position(|event| event["kind"] == kind).unwrap();
        assert!((at..at + 6).contains(&changed), "{change} at {changed}");
        for (one, other) in fork[..at].iter().zip(&original) {
            assert_eq!(one["kind"], other["kind"], "{change}");
        }
        let (_, text, _) = said(&home, "journal cat f.jsonl");
        let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!((&header["parent"], &header["parent_event"]), (&"s.jsonl".into(), &at.into()));
        std::fs::remove_file(home.path("f.jsonl")).unwrap();
    }
}

#[test]
fn a_model_that_the_session_did_not_have_joins_it() {
    let home = home();
    let fork =
        "fork s.jsonl --at 20 --model judge=http://127.0.0.1:9/v1#m --headless --journal f.jsonl";
    assert_eq!(said(&home, fork).0, 0);
    let fork = events(&home, "f.jsonl");
    assert_eq!((told(&fork, "ModelsAdded"), told(&fork, "RoleBound")), (1, 1));
    assert_eq!(told(&fork, "SessionEnded"), 1);
}

#[test]
fn what_cannot_be_is_said_before_anything_happens() {
    let home = home();
    let range = "expected a number from 5, where the first task begins, to 43, the last event";
    for (arguments, why) in [
        ("--at 44", format!("s.jsonl: there is no event 44; {range}")),
        ("--at 0", format!("s.jsonl: there is no event 0; {range}")),
        ("--at 4", format!("s.jsonl: no task has begun by event 4; {range}")),
        ("--call 99", "s.jsonl: there is no call 99".to_owned()),
        (
            "--at 7 --set result=No",
            "s.jsonl: event 7, StepStarted, is not one of a call".to_owned(),
        ),
        ("--call 1 --set result=No", "s.jsonl: call 1 is not a tool call".to_owned()),
        ("--call 2 --set reply=No", "s.jsonl: call 2 is not a model call".to_owned()),
        ("--call 2 --set arguments={}", "arguments.query: missing".to_owned()),
        ("--at 9 --set uses:gone=1", "tool gone does not exist at that moment".to_owned()),
        ("--at 9 --set fault:1=off", "there is no fault 1".to_owned()),
        ("--call 2 --set result=a --set prompt=b", "only one part of a call can change".to_owned()),
        ("--at 9 --set answer=b", "expected result=TEXT".to_owned()),
        ("--at 9 --calls alive", "there is no source `alive`".to_owned()),
        ("--at 9 --model boss=small", "--model boss=small: the role is one of".to_owned()),
        ("--at 9 --model nobody", "nobody".to_owned()),
        ("--at 9 --knob tau=7", "tau takes a number from 0 to 1".to_owned()),
        ("", "--at".to_owned()),
    ] {
        let fork = format!("fork s.jsonl {arguments} --headless --journal f.jsonl");
        let (code, _, errors) = said(&home, &fork);
        assert_eq!(code, 2, "{arguments}: {errors}");
        assert!(errors.contains(&why), "{arguments}: {errors}");
        assert!(!home.path("f.jsonl").exists(), "{arguments}");
    }
}

#[test]
fn a_fork_that_was_killed_before_its_moment_is_not_resumed() {
    let home = home();
    let fork = "fork s.jsonl --call 2 --set result=Nothing. --headless --journal f.jsonl";
    assert_eq!(said(&home, fork).0, 1);
    let cut = |lines: usize| {
        let (_, text, _) = said(&home, "journal cat f.jsonl");
        let kept: Vec<_> = text.lines().take(lines).collect();
        home.write("g.jsonl", &(kept.join("\n") + "\n"));
    };
    cut(13);
    let (code, _, errors) = said(&home, "resume g.jsonl --headless --trust-journal");
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("before event 13, where it was to go its own way: fork "), "{errors}");
    // Behind its moment it goes on, with what was changed.
    cut(20);
    let (code, _, errors) = said(&home, "resume g.jsonl --headless --trust-journal");
    assert_eq!(code, 1, "{errors}");
    let resumed = events(&home, "g.2.jsonl");
    assert_eq!(told(&resumed, "CallEdited"), 1);
    assert_eq!(told(&resumed, "SessionEnded"), 1);
}
