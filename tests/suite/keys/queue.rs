//! What keys do to the queue of tasks, and calls by hand.

use serde_json::{Value, json};
use toolyard::domain::{By, Command, SessionEvent, Task, TaskEvent, TaskId, ToolCallEvent};
use toolyard::ui::request::ScreenRequest;

use super::command;
use crate::stage::Stage;
use crate::story::{self, effect};

/// The demo's story, with three tasks that wait behind the others.
fn waiting() -> (Stage, u32) {
    let mut stage = Stage::of(&story::demo());
    let first = TaskId(stage.screen.live().tasks.len() as u32 + 1);
    let tasks = ["b", "c", "d"].map(Task::from_text).to_vec();
    stage.tell(TaskEvent::TasksQueued { first, tasks, by: By::Engine });
    (stage, first.0)
}

#[test]
fn a_task_that_waits_is_moved_run_next_and_removed() {
    let (mut stage, first) = waiting();
    let last = TaskId(first + 2);
    stage.press("7 G");
    assert_eq!(command(&mut stage, "M"), Command::RunNext { task: last });
    let front = stage.screen.live().next_task().unwrap().id;
    stage.tell(TaskEvent::TaskMoved { task: last, to: front, by: By::User });
    assert!(stage.shows(&format!("task {last} is now task {front}")), "{}", stage.text());
    // It stays selected where it is.
    assert_eq!(stage.screen.view.task, Some(front));
    assert_eq!(command(&mut stage, "J"), Command::MoveTaskBy { task: front, by: 1 });
    let next = TaskId(front.0 + 1);
    assert_eq!(stage.screen.view.task, Some(next));
    assert_eq!(command(&mut stage, "K"), Command::MoveTaskBy { task: next, by: -1 });
    let tasks = vec![Task::from_text("d")];
    assert_eq!(command(&mut stage, "x"), Command::RemoveTasks { first: front, tasks });
}

#[test]
fn the_task_at_work_is_skipped_only_after_a_yes() {
    let (mut stage, _) = waiting();
    let task = stage.screen.live().at_work.shown().unwrap();
    assert_eq!(stage.press("7 x"), []);
    assert!(stage.shows(&format!("Skip the running task {task}?")), "{}", stage.text());
    assert_eq!(command(&mut stage, "y"), Command::SkipTask { task });
    assert_eq!(stage.press("home x"), []);
    assert!(stage.shows("this task has ended: select a waiting or running one"));
    assert_eq!(stage.press("M"), []);
    assert!(stage.shows("select a waiting task"), "{}", stage.text());
}

#[test]
fn a_task_is_written_to_run_next_and_a_question_to_follow_on() {
    let (mut stage, _) = waiting();
    stage.press("t");
    stage.write("now");
    assert_eq!(command(&mut stage, "ctrl-n"), Command::QueueNext { text: "now".into() });
    let answered = stage.screen.live().tasks.iter().rev().find(|task| task.answer.is_some());
    let task = answered.unwrap().id;
    stage.press("Q");
    assert!(stage.shows(&format!("Follow-up question to task {task}: ")), "{}", stage.text());
    stage.write("And why?");
    assert_eq!(command(&mut stage, "enter"), Command::FollowUp { task, text: "And why?".into() });
}

#[test]
fn a_form_from_the_schema_makes_a_call_and_opens_it() {
    let mut stage = Stage::of(&story::demo());
    let tool = stage.screen.view.tool.clone().unwrap();
    stage.press("!");
    assert!(stage.shows(&format!("Call {tool} by hand")), "{}", stage.text());
    insta::assert_snapshot!(stage.text());
    let called = stage.press("enter");
    let [ScreenRequest::Send(Command::CallTool { tool: of, arguments })] = called.as_slice() else {
        panic!("{called:?}");
    };
    assert_eq!(*of, tool);
    let call = stage.next_effect();
    stage.tell(ToolCallEvent::ToolCallRequested {
        effect: effect(call),
        task: TaskId(1),
        step: 0,
        tool,
        arguments: arguments.clone(),
        evidence: None,
        by: By::User,
        wire_id: None,
    });
    assert!(stage.shows("you: no budget, score or experience"), "{}", stage.text());
}

#[test]
fn a_form_says_what_the_schema_does_not_allow() {
    let mut story = story::demo();
    let mut spec = story.state().tools.values().next().unwrap().spec.as_ref().clone();
    spec.name = "trip".into();
    let parameters: Value = json!({
        "type": "object",
        "properties": {
            "days": {"type": "integer", "minimum": 1, "description": "how long"},
            "by": {"enum": ["train", "ship"]},
            "calm": {"type": "boolean"},
            "with": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["days", "by"],
        "additionalProperties": false,
    });
    spec.parameters = parameters.into();
    story.tell(SessionEvent::ToolsAdded { tools: vec![spec.into()] });
    let mut stage = Stage::of(&story);
    stage.screen.view.tool = Some("trip".into());
    assert_eq!(stage.press("! enter"), []);
    assert!(
        stage.shows("\"days\" is a required property") || stage.shows("days"),
        "{}",
        stage.text()
    );
    stage.write("many");
    stage.press("down right");
    assert_eq!(stage.press("enter"), []);
    assert!(stage.shows("arguments.days: expected"), "{}", stage.text());
    stage.press("up backspace backspace backspace backspace");
    stage.write("3");
    stage.press("down right down left down");
    stage.write("[\"Ada\", \"Bo\"]");
    let expected = json!({"days": 3, "by": "ship", "with": ["Ada", "Bo"]});
    match command(&mut stage, "enter") {
        Command::CallTool { arguments, .. } => {
            let calm = arguments.get("calm").is_some();
            let mut arguments = arguments;
            arguments.as_object_mut().unwrap().remove("calm");
            assert!(calm);
            assert_eq!(arguments, expected);
        }
        other => panic!("{other:?}"),
    }
}
