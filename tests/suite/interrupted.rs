//! What is continued of a session that ended while a task was at work.

use serde_json::json;
use toolyard::domain::{
    By, EffectId, EmbeddingEvent, Event, ModelCallEvent, ModelError, ModelErrorKind, Outcome,
    Record, Role, SessionEvent, TaskEvent, TaskId, ToolCallEvent, ToolError, ToolErrorKind,
};
use toolyard::engine::{Division, is_kept};

use crate::story::{Story, TOOLS, effect, tool};

const STOPPED: &str = "the session was stopped";

/// The parts of a session that was killed, crashed or quit.
#[derive(Debug, PartialEq)]
pub struct Interrupted {
    pub past: Vec<Record>,
    pub rest: Vec<Record>,
}

impl Interrupted {
    pub fn of(mut records: Vec<Record>) -> Self {
        let divided = Division::of(&records).range();
        records.truncate(divided.end);
        let mut rest = records.split_off(divided.start);
        rest.retain(|record| is_kept(&record.event));
        Self { past: records, rest }
    }
}

/// A task that is done, and one at work that has called a tool.
fn at_work() -> Story {
    let mut story = Story::open();
    story.join(TOOLS.map(|(name, class, cost)| tool(name, class, cost)));
    story.queue(&[("How high is Mount Orla?", None), ("Who founded Port Sel?", None)]);
    story.start(1);
    finish(&mut story, 1, Outcome::Answered);
    story.start(2).step(2, 1, "start");
    story.call(2, 1, ("search_web", json!({"query": "Port Sel"}), Ok("found"), 10));
    story
}

fn finish(story: &mut Story, task: u32, outcome: Outcome) {
    story.tell(TaskEvent::TaskFinished {
        task: TaskId(task),
        outcome,
        answer: None,
        correct: None,
        caveats: Vec::new(),
    });
}

fn end(story: &mut Story) {
    story.tell(SessionEvent::SessionEnded { why: "stopped".into(), totals: None });
}

fn is_begin(record: &Record) -> bool {
    matches!(record.event, Event::Task(TaskEvent::TaskStarted { task: TaskId(2) }))
}

#[test]
fn calls_that_ended_with_the_session_are_made_again() {
    let mut story = at_work();
    let thought = story.ask(2, Role::Actor);
    let call = story.request_call(2, 1, "wikipedia", json!({"query": "Port Sel"}));
    story.tell(ToolCallEvent::ToolCallStarted { effect: effect(call) });
    let embedding = EffectId(call.0 + 1);
    story.tell(EmbeddingEvent::EmbeddingRequested {
        effect: effect(embedding),
        task: TaskId(2),
        model: "small".into(),
        text: "Who founded Port Sel?".into(),
    });
    let whole = story.records.clone();
    story.tell(ModelCallEvent::ModelCallFailed {
        effect: effect(thought),
        error: ModelError::new(ModelErrorKind::Cancelled, STOPPED),
        billed: None,
    });
    story.tell(ToolCallEvent::ToolCallFailed {
        effect: effect(call),
        error: ToolError::new(ToolErrorKind::Cancelled, STOPPED),
    });
    story.tell(EmbeddingEvent::EmbeddingFailed {
        effect: effect(embedding),
        error: ModelError::new(ModelErrorKind::Cancelled, STOPPED),
    });
    finish(&mut story, 2, Outcome::Stopped);
    end(&mut story);
    let begin = whole.iter().position(is_begin).unwrap();
    let interrupted = Interrupted::of(story.records);
    assert_eq!(interrupted.past, whole[..begin]);
    assert_eq!(interrupted.rest, whole[begin..]);
}

#[test]
fn a_call_that_failed_by_itself_is_not_made_again() {
    let mut story = at_work();
    let thought = story.ask(2, Role::Actor);
    story.tell(ModelCallEvent::ModelCallFailed {
        effect: effect(thought),
        error: ModelError::new(ModelErrorKind::Connection, "nobody answers"),
        billed: None,
    });
    let whole = story.records.clone();
    end(&mut story);
    let begin = whole.iter().position(is_begin).unwrap();
    assert_eq!(Interrupted::of(story.records).rest, whole[begin..]);
}

#[test]
fn a_task_that_was_skipped_is_not_worked_on_again() {
    let mut story = at_work();
    story.tell(TaskEvent::TaskSkipped { task: TaskId(2), by: By::User });
    finish(&mut story, 2, Outcome::Stopped);
    let whole = story.records.clone();
    end(&mut story);
    let interrupted = Interrupted::of(story.records);
    assert!(interrupted.rest.is_empty());
    assert_eq!(interrupted.past, whole);
}
