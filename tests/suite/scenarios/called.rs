//! Expectations on the arguments of calls and on every answer, of agents of toolyard and of watched ones.

use serde_json::json;
use toolyard::app::scenario::{Observed, Scenario, check};
use toolyard::domain::{Outcome, RunEvent, RunId, TaskEvent, TaskId};

use super::root;
use crate::fake_endpoint::{Fake, Script, json as document};
use crate::program::{Home, text};
use crate::story::Story;

#[test]
fn a_call_is_expected_with_some_of_its_arguments() {
    let home = Home::new();
    let book = |field: &str, room: &str| {
        format!("{field} = [{{ tool = \"book_room\", args = {{ room = \"{room}\" }} }}]\n")
    };
    let workspace = root().join("examples/scenarios/bookings");
    let session = format!(
        "workspace = {:?}\nstrategy = \"react\"\ntasks_limit = 1\nfresh = true\n",
        text(&workspace)
    );
    let [same, other] = ["N12", "N99"];
    for (expect, says, code) in [
        (
            book("used", same),
            "  ok: book_room {\"room\":\"N12\"} is used: 1 call with {\"room\":\"N12\",\"day\":\"2026-12-01\"}\n",
            0,
        ),
        (
            book("used", other),
            "  FAILED: book_room {\"room\":\"N99\"} is used: no such call; the nearest one has {\"room\":\"N12\",\"day\":\"2026-12-01\"}\n",
            1,
        ),
        (
            book("not_used", other),
            "  ok: book_room {\"room\":\"N99\"} is not used: no such call; ",
            0,
        ),
        (
            book("not_used", same),
            "  FAILED: book_room {\"room\":\"N12\"} is not used: 1 call with {\"room\":\"N12\",",
            1,
        ),
    ] {
        for table in ["[expect]", "[expect]\n[[expect.task]]\ntask = 1"] {
            home.write("s.toml", format!("{session}{table}\n{expect}"));
            let ran = home.run(&["run", "--no-journal", "--scenario", "s.toml"]);
            let out = ran.out.replace("task 1: ", "");
            assert!(ran.code == code && out.contains(says), "{expect}: {ran:?}");
        }
    }
}

/// A script that asks two questions in one conversation. For the first one its model wants a call.
fn agent(home: &Home) -> Vec<Script> {
    let function =
        json!({"name": "find_flight", "arguments": "{\"to\":\"BER\",\"date\":\"2026-12-03\"}"});
    let call = json!({"id": "c1", "type": "function", "function": function});
    let said = |text: &str| json!({"role": "assistant", "content": text});
    let asks = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let mut messages = vec![json!({"role": "user", "content": "When does it fly?"})];
    let mut script = String::new();
    for (file, more) in [
        ("a.json", Vec::new()),
        (
            "b.json",
            vec![asks.clone(), json!({"role": "tool", "tool_call_id": "c1", "content": "9"})],
        ),
        ("c.json", vec![said("It flies at 9."), json!({"role": "user", "content": "And seats?"})]),
    ] {
        messages.extend(more);
        home.write(file, json!({"model": "m", "messages": messages}).to_string());
        script +=
            &format!("curl --silent --output o $OPENAI_BASE_URL/chat/completions --data @{file}\n");
    }
    home.write("agent.sh", script);
    let answer = |message| {
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        document("200 OK", &json!({"model": "m", "choices": [choice]}).to_string())
    };
    [asks, said("It flies at 9."), said("No seats.")].map(answer).into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_and_every_answer_of_a_watched_agent_are_checked() {
    let home = Home::new();
    let call = |args: &str| format!("[{{ tool = \"find_flight\", args = {{ {args} }} }}]\n");
    let (day, to) = (call("date = \"2026-12-04\""), call("to = \"BER\""));
    let of_answers = |question: &str| {
        format!(
            "[[expect.conversation]]\nbegins = \"when does\"\nquestion = {question}\ncontains = \"flies\"\n"
        )
    };
    let failing = format!("[expect]\nused = {day}not_used = {to}{}", of_answers("\"every\""));
    let passing = format!("[expect]\nnot_used = {day}used = {to}{}", of_answers("1"));
    for (scenario, code, says) in [
        (
            failing,
            1,
            &[
                "FAILED: find_flight {\"date\":\"2026-12-04\"} is used: no such call; the nearest one has {\"date\":\"2026-12-03\",\"to\":\"BER\"}\n",
                "FAILED: find_flight {\"to\":\"BER\"} is not used: 1 call with {\"to\":\"BER\",\"date\":\"2026-12-03\"}\n",
                "ok: conversation “when does”, question 1: the answer contains “flies”: “It flies at 9.”\n",
                "FAILED: conversation “when does”, question 2: the answer contains “flies”: “No seats.”\n",
                "scenario s FAILED: 1 of 4 expectations met\n",
            ][..],
        ),
        (passing, 0, &["scenario s passed: 3 of 3 expectations met\n"]),
    ] {
        let fake = Fake::start(agent(&home)).await;
        home.write("s.toml", scenario);
        let line = format!(
            "OPENAI_BASE_URL={} toolyard watch --headless --no-journal --scenario s.toml --junit j.xml -- sh agent.sh",
            fake.url
        );
        let ran = tokio::task::block_in_place(|| home.shell(&line));
        assert_eq!(ran.code, code, "{}", ran.err);
        for said in says {
            assert!(
                ran.err.contains(&format!("toolyard: {said}")),
                "{said} is not in\n{}",
                ran.err
            );
        }
        let printed =
            ["toolyard: ok: ", "toolyard: FAILED: "].map(|it| ran.err.matches(it).count());
        let xml = home.read("j.xml");
        assert_eq!(xml.matches("<testcase").count(), printed.iter().sum::<usize>(), "{xml}");
    }
}

#[test]
fn the_recovery_of_a_watched_agent_cannot_be_expected() {
    let home = Home::new();
    home.write("s.toml", "faults = [\"a:error\"]\n[expect]\nrecovered = 3\n");
    let ran = home.run(&["watch", "--headless", "--scenario", "s.toml", "--", "true"]);
    let says = "toolyard: s.toml:3: expect.recovered: only the agent of toolyard is judged by its recovery; remove this";
    assert!(ran.code == 2 && ran.err.contains(says), "{ran:?}");
}

#[test]
fn a_question_at_work_when_a_person_ends_the_session_is_no_failure() {
    let expect = Scenario::parse("s.toml", "[expect]\nanswered = \"100%\"\n").unwrap().expect;
    let mut story = Story::open();
    let run = RunId::FIRST;
    story.tell(RunEvent::RunOpened { run, strategy: None, guest: Some(Default::default()) });
    story.queue(&[("a", None), ("b", None)]);
    let mut observed = Observed::new(&expect);
    for (task, outcome) in [(TaskId(1), Outcome::Answered), (TaskId(2), Outcome::Stopped)] {
        story.start(task.0);
        let (answer, correct, caveats) = (None, None, Vec::new());
        story.tell(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
        observed.take(story.state(), story.records.last().unwrap());
    }
    let found =
        |observed: &Observed, story: &Story| check(&expect, story.state(), observed)[0].clone();
    assert!(found(&observed, &story).held, "{:?}", found(&observed, &story));
    // The agent that ended itself did not answer.
    story.tell(RunEvent::AgentEnded { code: Some(0) });
    observed.take(story.state(), story.records.last().unwrap());
    assert!(!found(&observed, &story).held);
}
