//! What nobody tells a watched agent: it is marked, told, and met by a breakpoint.

use serde_json::json;
use toolyard::domain::state::{CallMark, NextMove, ProblemKind, Uncached};
use toolyard::domain::{
    Boundary, Command, Event, Finish, ModelCallState, Record, Reply, RunEvent, SessionEvent, State,
    Unread, Usage,
};
use toolyard::report::Report;

use super::guests::{Agent, Watch, answer, calling, held_at, pass, sent, watch};
use super::yard::{Trial, on_paused_time};

/// Waits until the breakpoint holds at this boundary, and goes on.
async fn go_on_from(watch: &Watch, boundary: Boundary) {
    watch.yard.until("it is held", |state| !state.control.held.is_empty()).await;
    let held = watch.yard.state.borrow().control.held[0].boundary;
    assert_eq!(held, boundary);
    watch.yard.wish(Command::Run);
}

fn reading(tokens_in: u64, cached: u64) -> Reply {
    let usage = Usage { tokens_in, tokens_out: 3, cached, ..Usage::default() };
    Reply { usage, ..Reply::of_text("I see.") }
}

/// A further request of a user, with what the agent has of the answer.
fn ask_on(agent: &mut Agent, reply: &Reply, text: &str) {
    agent.go_on(reply, &[]);
    agent.messages.push(json!({"role": "user", "content": text}));
}

fn last(state: &State) -> &ModelCallState {
    state.model_calls.iter().last().unwrap()
}

/// The names of the marks in a report.
fn reported(state: &State) -> Vec<&'static str> {
    let report = Report::of(state);
    report.tasks.iter().flat_map(|task| &task.marks).map(|mark| mark.mark).collect()
}

#[test]
fn an_answer_that_the_limit_cut_is_marked() {
    on_paused_time(async {
        let watch = held_at("error:cut-answer").await;
        let agent = Agent::asking("Tell me all.");
        let cut = Reply { finish: Finish::Length, ..Reply::of_text("It was a dark and") };
        let line = agent.send(&watch);
        tokio::join!(answer(line, &cut), go_on_from(&watch, Boundary::AfterModelCall));
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        let id = last(&state).id;
        assert_eq!(state.marks(id), [CallMark::CutAnswer(&Finish::Length)]);
        assert_eq!(reported(&state), ["cut_answer"]);
        let is_told = |record: &std::sync::Arc<Record>| {
            matches!(&record.event, Event::Session(SessionEvent::Noticed { text })
                if text == "an answer of gpt ended at its limit")
        };
        assert!(watch.yard.records.borrow().iter().any(is_told));
    });
}

#[test]
fn an_endpoint_that_reads_less_than_before_has_dropped_something() {
    on_paused_time(async {
        let watch = held_at("error:dropped-input").await;
        let mut agent = Agent::asking("Read this.");
        let first = reading(9_000, 0);
        answer(agent.send(&watch), &first).await;
        ask_on(&mut agent, &first, "And this.");
        // A cache, or no count at all, is no sign.
        for usage in [reading(2_048, 9), reading(0, 0)] {
            answer(agent.send(&watch), &usage).await;
            ask_on(&mut agent, &usage, "And this.");
        }
        let line = agent.send(&watch);
        let second = reading(2_048, 0);
        tokio::join!(answer(line, &second), go_on_from(&watch, Boundary::AfterModelCall));
        watch.yard.until("all have ended", |state| state.tasks_done == 4).await;
        let state = watch.yard.state.borrow();
        let marked: Vec<_> = state.model_calls.iter().map(|call| call.unread).collect();
        let dropped = Unread { read: 2_048, of: 9_000, tools: false };
        assert_eq!(marked, [None, None, None, Some(dropped)]);
        assert_eq!(reported(&state), ["dropped_input"]);
    });
}

#[test]
fn arguments_that_break_the_schema_and_results_that_say_an_error_are_problems() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut agent = Agent::asking("How is Oslo?");
        let call = calling(&[("a", "weather", json!({"at": 7}))]);
        answer(agent.send(&watch), &call).await;
        agent.go_on(&call, &["Error: no such place"]);
        let again = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        answer(agent.send(&watch), &again).await;
        agent.go_on(&again, &["rain"]);
        answer(agent.send(&watch), &Reply::of_text("Rain.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        let problems = state.problems.kept().iter();
        let problems: Vec<_> =
            problems.map(|it| (it.kind, it.next.clone(), it.said.to_string())).collect();
        let expected = [
            (ProblemKind::Arguments, "at: expected string, got \"7\""),
            (ProblemKind::SaysError, "Error: no such place"),
        ];
        let expected = expected.map(|(kind, said)| (kind, Some(NextMove::Again), said.to_owned()));
        assert_eq!(problems, expected);
    });
}

#[test]
fn a_clock_in_the_instructions_loses_the_cache() {
    on_paused_time(async {
        let watch = held_at("error:cache-break").await;
        let mut agent = Agent::asking("hello");
        let instructions = |time: &str| {
            let text =
                format!("You help people with all that they may want to know. It is {time}.");
            json!({"role": "system", "content": text})
        };
        agent.messages[0] = instructions("12:00");
        let first = reading(1_010, 1_000);
        answer(agent.send(&watch), &first).await;
        ask_on(&mut agent, &first, "And?");
        agent.messages[0] = instructions("12:01");
        let mut line = agent.send(&watch);
        go_on_from(&watch, Boundary::BeforeModelCall).await;
        sent(&mut line).await;
        pass(line, &reading(1_029, 3)).await;
        watch.yard.until("both have ended", |state| state.tasks_done == 2).await;
        let state = watch.yard.state.borrow();
        assert_eq!(state.runs.len(), 1, "it is the same conversation");
        let marks = state.marks(last(&state).id);
        let [CallMark::LostPrefix { lost, uncached }] = marks[..] else { panic!("{marks:?}") };
        assert_eq!(lost.field, "system");
        assert!(
            lost.was.ends_with("It is 12:00.") && lost.now.ends_with("It is 12:01."),
            "{lost:?}"
        );
        assert_eq!(uncached, Some(Uncached { tokens: 1_007, of: 1_010 }));
        assert_eq!(reported(&state), ["lost_prefix"]);
        let records = watch.yard.records.borrow();
        let is_rewritten = |record: &std::sync::Arc<Record>| {
            matches!(record.event, Event::Run(RunEvent::HistoryRewritten { .. }))
        };
        assert!(!records.iter().any(is_rewritten), "only the instructions are others");
    });
}

#[test]
fn messages_that_compaction_dropped_are_listed() {
    on_paused_time(async {
        let watch = held_at("error:rewritten").await;
        let mut agent = Agent::asking("How is the weather in Oslo?");
        let first = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        answer(agent.send(&watch), &first).await;
        agent.go_on(&first, &["rain, all day"]);
        answer(agent.send(&watch), &Reply::of_text("Rain.")).await;
        agent.messages.truncate(2);
        ask_on(&mut agent, &Reply::of_text("In short: rain."), "And tomorrow?");
        let mut line = agent.send(&watch);
        go_on_from(&watch, Boundary::BeforeModelCall).await;
        sent(&mut line).await;
        pass(line, &Reply::of_text("Sun.")).await;
        watch.yard.until("both have ended", |state| state.tasks_done == 2).await;
        let state = watch.yard.state.borrow();
        let past = last(&state).rewritten.as_ref().unwrap();
        let gone = past.gone.as_ref().unwrap();
        let listed: Vec<_> = gone.messages.iter().map(|it| (&*it.role, &*it.begins)).collect();
        let call = "weather({\"at\":\"Oslo\"})";
        assert_eq!(listed, [("assistant", call), ("tool", "rain, all day")]);
        assert_eq!((past.kept, past.dropped, gone.bytes), (2, 2, 26));
        assert_eq!(reported(&state), ["rewritten", "lost_prefix"]);
        let report = serde_json::to_value(Report::of(&state)).unwrap();
        let told = &report["tasks"][1]["marks"][0];
        assert_eq!(told["gone"]["messages"][1]["role"], "tool");
    });
}

#[test]
fn a_call_without_a_result_is_met() {
    on_paused_time(async {
        let watch = held_at("error:no-result").await;
        let mut agent = Agent::asking("How is the weather in Oslo?");
        let both = calling(&[("a", "weather", json!({"at": "Oslo"})), ("b", "weather", json!({}))]);
        answer(agent.send(&watch), &both).await;
        agent.go_on(&both, &["rain"]);
        let line = agent.send(&watch);
        go_on_from(&watch, Boundary::AfterToolCall).await;
        answer(line, &Reply::of_text("Rain.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        let marks: Vec<_> = state.tool_calls.iter().map(|call| state.marks(call.id)).collect();
        assert_eq!(marks, [vec![], vec![CallMark::NoResult]]);
        assert_eq!(reported(&state), ["no_result"]);
    });
}

#[test]
fn a_text_that_changes_with_every_request_is_told_once() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut agent = Agent::asking("hello");
        for n in 1..4 {
            agent.messages[0] = json!({"role": "system", "content": format!("You help. Day {n}.")});
            answer(agent.send(&watch), &Reply::of_text("hi")).await;
            ask_on(&mut agent, &Reply::of_text("hi"), "more");
        }
        watch.yard.until("all have ended", |state| state.tasks_done == 3).await;
        let state = watch.yard.state.borrow();
        let lost = state.model_calls.iter().filter(|call| call.lost.is_some());
        assert_eq!(lost.count(), 2);
        let told = watch
            .yard
            .records
            .borrow()
            .iter()
            .filter(|record| {
                let is_lost = matches!(record.event, Event::Run(RunEvent::PrefixLost { .. }));
                is_lost && state.line(record.n).is_some()
            })
            .count();
        assert_eq!(told, 1);
    });
}

#[test]
fn an_old_journal_says_only_how_many_went() {
    let line = br#"{"n":1,"at":0,"kind":"HistoryRewritten","data":{"run":1,"kept":2,"dropped":7}}"#;
    let record = Record::read(line).unwrap();
    let expected = RunEvent::HistoryRewritten {
        run: toolyard::domain::RunId(1),
        kept: 2,
        dropped: 7,
        call: None,
        gone: None,
    };
    assert_eq!(record.event, Event::Run(expected));
}
