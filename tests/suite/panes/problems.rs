//! What went wrong in a watched session: every kind is listed, leads to its place, and outlives the details of its task.

use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::domain::state::{Keeps, NextMove, ProblemKind};
use toolyard::domain::{
    EffectId, EffectRef, FaultEvent, Finish, LostPrefix, Message, ModelCallEvent, ModelError,
    ModelErrorKind, Origin, Outcome, Reply, Request, Role, RunEvent, RunId, State, TaskEvent,
    TaskId, ToolCallEvent, ToolDef, ToolError, ToolErrorKind, Unread,
};
use toolyard::ui::pane::PaneId;
use toolyard::ui::view::View;

use super::show;
use crate::stage::Stage;
use crate::story::{Story, effect};
use crate::watching::{answer, begin, call, ended, listening, returned, step};

const MODEL: &str = "gpt-5.2";

fn definition(name: &str) -> ToolDef {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}},
        "required": ["city"]});
    ToolDef { name: name.into(), description: "Tells it.".into(), parameters: parameters.into() }
}

/// A model is asked, with the definitions of these tools.
pub fn ask(story: &mut Story, task: TaskId, tools: &[&str], messages: Vec<Message>) -> EffectId {
    let call = story.next_effect();
    let tools = tools.iter().map(|tool| definition(tool)).collect();
    let request = Arc::new(Request { tools, ..Request::new(Role::Actor, messages) });
    story.tell(ModelCallEvent::ModelCallRequested {
        effect: effect(call),
        task,
        role: Role::Actor,
        model: MODEL.into(),
        request,
        evidence: None,
    });
    story.tell(ModelCallEvent::ModelCallStarted { effect: effect(call) });
    call
}

fn failed(story: &mut Story, call: EffectId, kind: ToolErrorKind, text: &str, origin: Origin) {
    let effect = EffectRef { origin, ..effect(call) };
    let error = ToolError::new(kind, text);
    story.wait(400).tell(ToolCallEvent::ToolCallFailed { effect, error });
}

fn asks(story: &mut Story, task: TaskId) -> EffectId {
    ask(story, task, &["get_weather", "research"], vec![Message::user("Oslo?")])
}

/// A conversation in which every kind of problem occurs.
pub fn troubled() -> Story {
    let mut story = listening();
    let task = begin(&mut story, 1, None, "How is Oslo?");
    step(&mut story, task, 1, "start");
    let first = asks(&mut story, task);
    let city = json!({"city": "Oslo"});
    answer(&mut story, first, "", &[("get_weather", json!({})), ("research", city.clone())], 800);
    // The arguments break the schema, and the result says an error.
    let bad = call(&mut story, task, 1, "get_weather", json!({}));
    let fault = story.break_tool("research");
    let broken = call(&mut story, task, 1, "research", city.clone());
    story.tell(FaultEvent::FaultFired { fault, effect: effect(broken) });
    failed(&mut story, broken, ToolErrorKind::Failed, "HTTP 503, retry later", Origin::Injected);
    returned(&mut story, bad, "Error: city is missing", 200);
    step(&mut story, task, 2, "research");
    // The same tool is called again, three times with the same result.
    for at in 0..3 {
        let again = asks(&mut story, task);
        answer(&mut story, again, "", &[("research", city.clone())], 100);
        let it = call(&mut story, task, 2 + at, "research", city.clone());
        returned(&mut story, it, "nothing", 100);
    }
    let sent = asks(&mut story, task);
    let gone = None;
    let (run, kept, dropped, of) = (RunId(1), 1, 3, Some(sent));
    story.tell(RunEvent::HistoryRewritten { run, kept, dropped, call: of, gone });
    let [field, was, now] = ["tools[2]", "a", "b"].map(str::to_owned);
    let lost = Arc::new(LostPrefix { after: first, field, was, now });
    story.tell(RunEvent::PrefixLost { run, call: sent, lost });
    let unread = Unread { read: 2048, of: 9000, tools: false };
    story.tell(RunEvent::InputUnread { run, call: sent, unread });
    let reply = Arc::new(Reply { finish: Finish::Length, ..Reply::of_text("It was a") });
    let of = effect(sent);
    story.tell(ModelCallEvent::ModelCallFinished { effect: of, reply, dollars: None });
    let last = asks(&mut story, task);
    answer(&mut story, last, "", &[("get_weather", city.clone())], 100);
    let lost = call(&mut story, task, 6, "get_weather", city);
    failed(&mut story, lost, ToolErrorKind::Unavailable, "no result", Origin::Live);
    let (outcome, answer, correct, caveats) = (Outcome::GaveUp, None, None, Vec::new());
    story.tell(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
    let other = begin(&mut story, 2, None, "And Rome?");
    let refused = asks(&mut story, other);
    let error = ModelError::new(ModelErrorKind::Auth, "401: no key");
    let effect = effect(refused);
    story.tell(ModelCallEvent::ModelCallFailed { effect, error, billed: None });
    story
}

fn kinds(state: &State) -> Vec<ProblemKind> {
    state.problems.kept().iter().map(|problem| problem.kind).collect()
}

#[test]
fn every_kind_is_listed_with_what_the_model_did_next() {
    use ProblemKind as K;
    let story = troubled();
    let expected = [
        K::Arguments,
        K::ToolFailed,
        K::SaysError,
        K::Loop,
        K::Rewritten,
        K::LostPrefix,
        K::DroppedInput,
        K::CutAnswer,
        K::NoResult,
        K::TaskFailed,
        K::ModelFailed,
    ];
    assert_eq!(kinds(story.state()), expected);
    assert_eq!(story.state().problems_count(), 11);
    let shown = show(PaneId::Problems, &story, &View::default(), 120, 12);
    let rows = [
        "✗   0.0  gpt-5.2 failed, task 2 · then: nothing yet · 401: no key",
        "gave up, task 1",
        "get_weather: the agent never sent its result, task 1 · then: ended",
        "the answer of gpt-5.2 was cut off, task 1 · then: called get_weather · at the token limit",
        "gpt-5.2 did not read the whole prompt, task 1 · it read 2048 tokens of some 9000",
        "the cached part of the prompt broke at tools[2], task 1 · b",
        "the agent dropped 3 messages, task 1",
        "loop: research, three times with the same results, task 1 · then: answered",
        "the result of get_weather says an error, task 1 · then: called research",
        "↯   1.2  research failed (injected), task 1 · then: called it again · HTTP 503, retry later",
        "!   0.8  get_weather: the arguments break its schema, task 1 · then: called research · city: missing",
    ];
    for (at, row) in rows.iter().enumerate() {
        assert!(shown.lines[at].contains(row), "{row}\n{}", shown.lines.join("\n"));
    }
    assert!(show(PaneId::Problems, &listening(), &View::default(), 40, 4).has("no problems yet"));
}

#[test]
fn keys_lead_from_problem_to_problem_and_to_its_call() {
    let story = troubled();
    let mut stage = Stage::of(&story).sized(120, 40);
    let of = |kind| {
        let mut all = story.state().problems.kept().iter();
        all.find(|problem| problem.kind == kind).unwrap().n
    };
    stage.press("[ m");
    assert_eq!(stage.screen.view.moment, Some(of(ProblemKind::TaskFailed)));
    stage.press("[ m [ m");
    assert_eq!(stage.screen.view.moment, Some(of(ProblemKind::CutAnswer)));
    assert_eq!(stage.screen.shown().problems_count(), 8, "the past has those until then");
    stage.press("] m");
    assert_eq!(stage.screen.view.moment, Some(of(ProblemKind::NoResult)));
    stage.press("$ g a");
    assert_eq!(stage.screen.view.focus, PaneId::Problems);
    assert!(stage.shows("ga Problems · 11"), "{}", stage.text());
    stage.press("end up enter");
    let broken = story.state().problems.kept()[1].call.unwrap();
    assert!(stage.shows(&format!("Call {broken}")) && stage.shows("HTTP 503"), "{}", stage.text());
    stage.press("esc @");
    assert_eq!(stage.screen.view.moment, Some(of(ProblemKind::ToolFailed)));
    stage.press("z");
    assert!(stage.shows("then: nothing yet"), "{}", stage.text());
    stage.press("z");
    stage.press("$ g a home down enter");
    assert!(stage.shows("Task 1"), "{}", stage.text());
}

#[test]
fn problems_outlive_the_details_of_their_task() {
    let mut story = troubled();
    ended(&mut story, TaskId(2), "");
    for n in 0..40 {
        let task = begin(&mut story, 3, None, "And now?");
        let call = asks(&mut story, task);
        answer(&mut story, call, "All is well.", &[], 10);
        ended(&mut story, task, &n.to_string());
    }
    let mut few = State::keeping(Keeps::Tasks(1));
    story.records.iter().for_each(|record| few.apply(record));
    assert_eq!(few.problems, story.state().problems);
    let json = serde_json::to_value(&few).unwrap();
    assert_eq!(serde_json::from_value::<State>(json).unwrap().problems, few.problems);
    let first = story.state().problems.kept()[1].call.unwrap();
    assert!(few.tool_call(first).is_none());
    let mut view = View { focus: PaneId::Problems, ..View::default() };
    view.choose_problem(&few, 2);
    assert_eq!(view.problem, Some(2));
    let opened = (toolyard::ui::panes::spec(PaneId::Problems).open)(&few, &view);
    assert!(format!("{opened:?}").contains("GoToMoment"), "{opened:?}");
}

#[test]
fn hostile_calls_take_little_memory_and_do_nothing_to_the_screen() {
    let mut story = listening();
    let task = begin(&mut story, 1, None, "Go.");
    let evil = format!("\x1b[2J\u{202e}{}", "t".repeat(200));
    let name = evil.as_str();
    let first = ask(&mut story, task, &[name], vec![Message::user("Go.")]);
    let huge = "x".repeat(1 << 20);
    let calls: Vec<(&str, Value)> = (0..1000).map(|_| (name, json!({"city": 7}))).collect();
    answer(&mut story, first, "", &calls, 5);
    let made: Vec<EffectId> =
        calls.iter().map(|(tool, with)| call(&mut story, task, 1, tool, with.clone())).collect();
    for (at, it) in made.iter().enumerate() {
        match at % 100 {
            0 => returned(&mut story, *it, &format!("Error: {huge}"), 0),
            _ => failed(&mut story, *it, ToolErrorKind::Failed, "\x1b]0;owned\x07", Origin::Live),
        }
    }
    // Ids repeat, and an event names what does not exist.
    failed(&mut story, made[0], ToolErrorKind::Failed, "twice", Origin::Live);
    failed(&mut story, EffectId(1 << 30), ToolErrorKind::Failed, "none", Origin::Live);
    let next = ask(&mut story, task, &[name], vec![Message::user("Go.")]);
    answer(&mut story, next, "", &[(name, json!({}))], 5);
    let problems = &story.state().problems;
    assert!(story.state().problems_count() > 2000, "{}", story.state().problems_count());
    assert!(serde_json::to_string(problems).unwrap().len() < 256 * 800);
    assert!(problems.kept().iter().all(|it| it.next == Some(NextMove::Again)));
    let shown = show(PaneId::Problems, &story, &View::default(), 80, 10);
    assert!(shown.has("␛[2J") && !shown.has("\u{202e}"), "{}", shown.lines.join("\n"));
}
