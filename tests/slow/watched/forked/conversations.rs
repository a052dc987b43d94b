//! What changes in the conversations of an agent that forks.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Session, answers, calls};

/// The questions of the agent. Each number is looked up; two of them are asked for at once.
const QUESTIONS: &str = "Sum: 4 7 9;Sum: 21 5;Sum: 8 8 8 1";
/// Of each question: its requests, and its answer.
const RECORDED: [(&str, usize, &str); 3] =
    [("Sum: 4 7 9", 3, "20"), ("Sum: 21 5", 2, "26"), ("Sum: 8 8 8 1", 3, "25")];
fn recorded() -> BTreeMap<String, String> {
    RECORDED
        .iter()
        .map(|(question, _, answer)| (*question, *answer))
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .collect()
}

/// The question of a body.
fn question(body: &Value) -> &str {
    body["messages"][0]["content"].as_str().unwrap()
}

/// Forks at each result, each reply and each prompt. The endpoint gets requests of the changed conversation only, none of
/// them from before the change, and each with the change in it.
fn forks_change_only_their_conversation(streams: bool, every: usize) {
    let session = Session::record(QUESTIONS, streams, &[], |_| {});
    let (events, all) = (session.events(), recorded());
    let requests = |question: &str| RECORDED.iter().find(|it| it.0 == question).unwrap().1;
    let mut tried = 0;
    for (call, question_of, before) in calls(&events, "ToolCallFinished").into_iter().step_by(every)
    {
        let (said, bodies) = session.fork(&["--call", &call.to_string(), "--set", "result=1000"]);
        let has_it =
            |body: &Value| question(body) == question_of && body.to_string().contains("1000");
        assert!(bodies.iter().all(has_it), "call {call}: {bodies:?}");
        assert_eq!(bodies.len(), requests(&question_of) - before, "call {call}");
        for (question, answer) in &said {
            let was = &all[question];
            assert_eq!(*question != question_of, answer == was, "call {call}: {said:?}");
        }
        assert!(said[&question_of].parse::<i64>().unwrap() > 1000 && said.len() == 3, "{said:?}");
        tried += 1;
    }
    for (call, question_of, _) in calls(&events, "ModelCallFinished").into_iter().step_by(every) {
        let call = call.to_string();
        let (said, bodies) = session.fork(&["--call", &call, "--set", "reply=Enough."]);
        assert!(
            bodies.is_empty() && said[&question_of] == "Enough.",
            "{call}: {bodies:?} {said:?}"
        );
        assert_eq!(said.iter().filter(|(question, said)| all[*question] != **said).count(), 1);
        // Without a change its conversation is live from there, and says the same.
        let (said, bodies) = session.fork(&["--call", &call]);
        assert!(
            said == all && bodies.iter().all(|body| question(body) == question_of),
            "{bodies:?}"
        );
        tried += 2;
    }
    for (call, question_of, before) in
        calls(&events, "ModelCallRequested").into_iter().step_by(every)
    {
        let (said, bodies) =
            session.fork(&["--call", &call.to_string(), "--set", "prompt=Sum: 500"]);
        assert!(bodies.iter().all(|body| question(body) == "Sum: 500"), "{bodies:?}");
        let is_first = before == 1;
        assert_eq!(bodies.len(), if is_first { 2 } else { 1 });
        let others = said.iter().filter(|(question, _)| **question != question_of);
        assert!(others.clone().all(|(question, said)| all[question] == *said), "{said:?}");
        tried += 1;
    }
    eprintln!("{tried} forks of a watched agent, streams: {streams}");
}

#[test]
fn forks_of_an_agent_change_only_their_conversation() {
    forks_change_only_their_conversation(false, 1);
}

#[test]
fn forks_of_an_agent_that_streams_change_only_their_conversation() {
    forks_change_only_their_conversation(true, 3);
}

/// The texts of a picture, row by row.
fn texts(svg: &str) -> String {
    let (mut texts, mut row) = (String::new(), "");
    for line in svg.lines().filter(|line| line.starts_with("<text")) {
        let y = line.split("y=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let said = line.split('>').nth(1).and_then(|rest| rest.split('<').next()).unwrap();
        texts.push_str(if y == row { "" } else { "\n" });
        texts.push_str(&said.replace('\u{a0}', " "));
        row = y;
    }
    texts
}

/// A fork beside the session that it came from: only the conversation that was changed differs, in whatever order they came.
#[test]
fn a_fork_of_an_agent_stands_beside_its_origin() {
    let session = Session::record(QUESTIONS, false, &[], |_| {});
    let of_origin = calls(&session.events(), "ToolCallFinished");
    for (at, (call, question, _)) in of_origin.iter().enumerate() {
        let (call, journal) = (call.to_string(), format!("f{at}.jsonl.zst"));
        session.fork(&["--call", &call, "--set", "result=1000", "--journal", &journal]);
        let shot = ["shot", &journal, "--pane", "twin", "--size", "160x80", "--out", "twin.svg"];
        session.home.succeed(&shot);
        let picture = texts(&session.home.read("twin.svg"));
        let of_others = |kind: &str| {
            let all = calls(&session.events(), kind);
            all.iter().filter(|(_, own, _)| own != question).count()
        };
        assert!(picture.contains("look returned something else"), "call {call}: {picture}");
        assert!(picture.contains("look → 1000 "), "call {call}: {picture}");
        let same = picture.matches("the same").count();
        let least = of_others("ToolCallFinished") + of_others("ModelCallFinished");
        assert!(same > least, "call {call}: {same} of {least} and more");
        std::fs::remove_file(session.home.path("twin.svg")).unwrap();
    }
}

#[test]
fn arguments_change_what_the_agent_does_and_faults_act_behind_the_moment_only() {
    let session = Session::record("Sum: 4 7 9", false, &[], |_| {});
    let events = session.events();
    let all = calls(&events, "ToolCallRequested");
    let [first, .., last] = &all[..] else { panic!("{all:?}") };
    let (said, bodies) =
        session.fork(&["--call", &last.0.to_string(), "--set", "arguments={\"n\": 90}"]);
    assert_eq!((said["Sum: 4 7 9"].as_str(), bodies.len()), ("101", 1));
    assert!(bodies[0].to_string().contains("{\\\"n\\\":90}"), "{}", bodies[0]);
    // At the first call of an answer the other one is requested already.
    let (said, bodies) =
        session.fork(&["--call", &first.0.to_string(), "--fault", "look:error:text=down"]);
    assert_eq!((said["Sum: 4 7 9"].as_str(), bodies.len()), ("-989", 2));
    assert!(!bodies[0].to_string().contains("down") && bodies[1].to_string().contains("down"));
}

#[test]
fn a_fork_that_cannot_be_says_why() {
    let session = Session::record("Sum: 4 7", false, &[], |_| {});
    let fork = |options: &[&str]| {
        let ran =
            session.run(".", &[&["fork", "j.jsonl.zst", "--headless"], options].concat(), &[]);
        assert_eq!(ran.code, 2, "{options:?}: {ran:?}");
        ran.err
    };
    let call = calls(&session.events(), "ToolCallFinished")[0].0.to_string();
    for (options, why) in [
        (&["--at", "9"][..], "this was not started from here yet: add --trust-journal"),
        (&["--at", "999", "--trust-journal"], "there is no event 999"),
        (&["--at", "2", "--trust-journal"], "expected a number from"),
        (
            &["--at", "9", "--trust-journal", "--knob", "alpha=1"],
            "--knob is for sessions of toolyard's",
        ),
        (
            &["--at", "9", "--trust-journal", "--set", "score:look=1"],
            "a result, a reply, arguments or a prompt",
        ),
        (&["--call", &call, "--trust-journal", "--set", "reply=No"], "is not a model call"),
        (&["--call", "99", "--trust-journal", "--set", "reply=No"], "there is no call 99"),
        (&["--call", &call, "--trust-journal", "--set", "arguments={\"n\": \"x\"}"], "arguments.n"),
    ] {
        let told = fork(options);
        assert!(told.contains(why), "{options:?}: {told}");
    }
    // A journal of an agent that was started elsewhere, and one with a key in its command.
    let lines = session.home.read("j.jsonl.zst");
    let (head, rest) = lines.split_once('\n').unwrap();
    let mut head: Value = serde_json::from_str(head).unwrap();
    head["spec"]["agent"]["command"][1] = "--key=[key]".into();
    session.home.write("j.jsonl.zst", format!("{head}\n{rest}"));
    assert!(
        fork(&["--at", "20", "--trust-journal"])
            .contains("a key of its command is not in the journal: --key=[key]")
    );
    head["spec"]["agent"]["command"][1] = "x".into();
    head["spec"]["agent"]["folder"] = "/nowhere/at/all".into();
    session.home.write("j.jsonl.zst", format!("{head}\n{rest}"));
    assert!(fork(&["--at", "20", "--trust-journal"]).contains("the agent's folder: No such file"));
    head["spec"]["agent"] = Value::Null;
    session.home.write("j.jsonl.zst", format!("{head}\n{rest}"));
    assert!(
        fork(&["--at", "20", "--trust-journal"])
            .contains("the journal has no command; add it: toolyard fork")
    );
}

#[test]
fn other_models_are_asked_behind_the_moment_and_checked() {
    let session = Session::record("Sum: 4 7 9;Sum: 21 5", false, &[], |_| {});
    let replies = calls(&session.events(), "ModelCallFinished");
    let (call, of, before) =
        replies.iter().find(|(_, of, n)| of == "Sum: 4 7 9" && *n == 2).unwrap();
    let call = call.to_string();
    let fork = ["fork", "j.jsonl.zst", "--call", &call, "--headless", "--trust-journal"];
    // The check is in the agent's folder, and sees the person's address, not that of toolyard.
    let check = "test -f notes.txt && echo $OPENAI_BASE_URL > ../seen";
    let one = ["--model", "big/one \"x\"", "--verify", check];
    let ran = session.run(".", &[&fork[..], &one].concat(), &[]);
    assert!(ran.code == 0 && ran.err.contains("verify passed"), "{ran:?}");
    let bodies = std::mem::take(&mut *session.asked.lock().unwrap());
    let later: Vec<_> = bodies.iter().filter(|body| body["model"] == "big/one \"x\"").collect();
    assert_eq!((later.len(), *before), (1, 2), "{bodies:?}");
    assert!(later.iter().all(|body| question(body) == of));
    assert_eq!(session.home.read("seen").trim(), session.environment("OPENAI_BASE_URL"));
    let several = |check: &str| {
        let several = ["--model", "a", "--model=b", "--verify", check, "--verify-limit", "1"];
        session.run(".", &[&fork[..], &several].concat(), &[])
    };
    for (check, code, word) in [("true", 0, "passed"), ("sleep 99 & sleep 99", 1, "FAILED")] {
        let ran = several(check);
        let lines: Vec<_> = ran.out.lines().collect();
        let [head, recorded, a, b] = &lines[..] else { panic!("{ran:?}") };
        assert!(head.ends_with("verified") && recorded.starts_with("recorded"), "{ran:?}");
        assert!(a.starts_with("a ") && b.starts_with("b ") && a.ends_with(word), "{ran:?}");
        assert_eq!(ran.code, code, "{ran:?}");
    }
    assert!(session.home.path("j-b-2.jsonl.zst").exists());
    let alone = session.run(".", &[&fork[..], &["--model", "solver=a"]].concat(), &[]);
    assert!(alone.code == 2 && alone.err.contains("has no roles"), "{alone:?}");
}

#[test]
fn an_agent_that_asks_something_else_never_comes_to_the_moment_and_is_told() {
    let session = Session::record("Sum: 4 7", false, &[], |_| {});
    let reply = calls(&session.events(), "ModelCallFinished")[0].0.to_string();
    let fork = ["fork", "j.jsonl.zst", "--call", &reply, "--set", "reply=No.", "--headless"];
    let other = [("AGENT_QUESTIONS", "Sum: 1")];
    let ran = session.run(".", &[&fork[..], &["--trust-journal"]].concat(), &other);
    assert!(ran.code == 0 && answers(&ran)["Sum: 1"] == "1", "{ran:?}");
    assert!(ran.err.contains("the agent did not come to the moment of the fork"), "{ran:?}");
}
