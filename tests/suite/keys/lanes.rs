//! What keys do to one lane of many.

use serde_json::Value;
use toolyard::domain::{
    Boundary, By, Command, ControlEvent, EffectId, Lane, Role, Task, TaskEvent, TaskId,
    ToolCallEvent, ToolOutput,
};

use super::command;
use crate::stage::Stage;
use crate::story::effect;
use crate::working;

#[test]
fn one_lane_alone_is_stopped_freed_and_cancelled() {
    let stage = || Stage::of(&working::working());
    let (people, weather) = (Lane::Effect(EffectId(9)), Lane::Effect(EffectId(8)));
    // The workers have the keyboard from the start; the newest that runs is meant.
    for (keys, expected) in [
        ("H", Command::PauseLane(people)),
        ("x", Command::Cancel(EffectId(9))),
        ("down H", Command::ResumeLane(weather)),
        ("down x", Command::Cancel(EffectId(8))),
        ("9 end up up up H", Command::ResumeLane(weather)),
    ] {
        assert_eq!(command(&mut stage(), keys), expected, "{keys}");
    }
    for (keys, why) in [
        ("end H", "hold-lane: the selected call has not started"),
        ("end x", "remove: the selected call has not started"),
        ("home H", "hold-lane: the selected call has ended"),
        ("home down down down x", "remove: the selected call has ended"),
    ] {
        let mut stage = stage();
        assert_eq!(stage.press(keys), [], "{keys}");
        assert!(stage.shows(why), "{keys}: {}", stage.text());
    }
    let mut story = working::working();
    let ask = story.ask_for(1, Role::Actor, Some(8));
    let lane = Lane::Effect(ask);
    let mut stage = Stage::of(&story);
    assert_eq!(command(&mut stage, "end up H"), Command::PauseLane(lane));
    assert_eq!(command(&mut stage, "x"), Command::Cancel(ask));
    stage.tell(ControlEvent::LanePaused { lane, by: By::User });
    assert!(stage.shows("stopping"), "{}", stage.text());
    assert_eq!(command(&mut stage, "H"), Command::ResumeLane(lane));
}

#[test]
fn a_lane_opens_its_call_and_evidence_without_one_itself() {
    let mut stage = Stage::of(&working::worked());
    stage.press("home enter");
    assert!(stage.shows("Call 3") && stage.shows("needed by      #E4"), "{}", stage.text());
    stage.press("esc down down down enter");
    assert!(stage.shows("Evidence E4") && stage.shows("needs          #E2 = null"));
    assert!(stage.shows("as written     #E4 = LLM[Which city"), "{}", stage.text());
    stage.press("esc 9 down enter");
    assert!(stage.shows("Evidence E5") && stage.shows("48,200 (2024)"), "{}", stage.text());
    let mut stage = Stage::of(&working::working());
    stage.press("end enter");
    assert!(stage.shows("not started"), "{}", stage.text());
}

#[test]
fn a_stopped_lane_is_freed_by_the_same_key_after_its_end_too() {
    let mut stage = Stage::of(&working::working());
    let lane = Lane::Effect(EffectId(9));
    assert_eq!(command(&mut stage, "H"), Command::PauseLane(lane));
    stage.tell(ControlEvent::LanePaused { lane, by: By::User });
    let output = ToolOutput::of("48,200").into();
    stage.tell(ToolCallEvent::ToolCallFinished { effect: effect(EffectId(9)), output });
    stage.tell(ControlEvent::Held { lane, boundary: Boundary::AfterToolCall });
    assert_eq!(command(&mut stage, "H"), Command::ResumeLane(lane));
    // What was chosen in a task that is over is meant no longer.
    let mut stage = Stage::of(&working::worked());
    stage.press("home down down down");
    let (call, task) = (stage.next_effect(), TaskId(2));
    let (tool, arguments) = ("weather".into(), Value::Null);
    stage.tell(TaskEvent::TasksQueued {
        first: task,
        tasks: vec![Task::from_text("x")],
        by: By::User,
    });
    stage.tell(TaskEvent::TaskStarted { task });
    stage.tell(ToolCallEvent::ToolCallRequested {
        effect: effect(call),
        task,
        step: 1,
        tool,
        arguments,
        evidence: None,
        by: By::Engine,
        wire_id: None,
    });
    stage.tell(ToolCallEvent::ToolCallStarted { effect: effect(call) });
    assert_eq!(command(&mut stage, "x"), Command::Cancel(call));
    assert_eq!(command(&mut stage, "H"), Command::PauseLane(Lane::Effect(call)));
}
