//! What keys do to one lane of many.

use serde_json::Value;
use toolyard::domain::{
    chat::Role,
    command::Command,
    event::{Boundary, By, Event, Lane},
    id::{EffectId, TaskId},
    output::ToolOutput,
    plan::EvidenceId,
    spec::Task,
};

use super::command;
use crate::{stage::Stage, working};

#[test]
fn one_lane_alone_is_stopped_freed_and_cancelled() {
    let stage = || Stage::of(&working::working());
    let (people, weather) = (Lane::Call(EffectId(6)), Lane::Call(EffectId(5)));
    // The workers have the keyboard from the start; the newest that runs is meant.
    for (keys, expected) in [
        ("H", Command::PauseLane(people)),
        ("x", Command::CancelCall(EffectId(6))),
        ("down H", Command::ResumeLane(weather)),
        ("down x", Command::CancelCall(EffectId(5))),
        ("9 end up up up H", Command::ResumeLane(weather)),
    ] {
        assert_eq!(command(&mut stage(), keys), expected, "{keys}");
    }
    for (keys, why) in [
        ("end H", "pause-lane: the selected lane has not begun"),
        ("end x", "cancel: the selected lane has not begun"),
        ("home H", "pause-lane: the selected lane is over"),
        ("home down down down x", "cancel: the selected lane is over"),
    ] {
        let mut stage = stage();
        assert_eq!(stage.press(keys), [], "{keys}");
        assert!(stage.shows(why), "{keys}: {}", stage.text());
    }
    let mut story = working::working();
    let evidence = EvidenceId(8);
    story.tell(Event::EvidenceAsked { task: TaskId(1), evidence });
    story.ask(1, Role::Actor);
    let mut stage = Stage::of(&story);
    assert_eq!(command(&mut stage, "end up H"), Command::PauseLane(Lane::Agent));
    assert_eq!(command(&mut stage, "x"), Command::CancelAsk);
    stage.tell(Event::LanePaused { lane: Lane::Agent, by: By::User });
    assert!(stage.shows("stopping"), "{}", stage.text());
    assert_eq!(command(&mut stage, "H"), Command::ResumeLane(Lane::Agent));
}

#[test]
fn a_lane_opens_its_call_and_evidence_without_one_itself() {
    let mut stage = Stage::of(&working::worked());
    stage.press("home enter");
    assert!(stage.shows("Call 1") && stage.shows("needed by      #E4"), "{}", stage.text());
    stage.press("esc down down down enter");
    assert!(stage.shows("Evidence E4") && stage.shows("needs          #E2 = null"));
    assert!(stage.shows("as written     #E4 = LLM[Which city"), "{}", stage.text());
    stage.press("esc 9 down enter");
    assert!(stage.shows("Evidence E5") && stage.shows("48,200 (2024)"), "{}", stage.text());
    let mut stage = Stage::of(&working::working());
    stage.press("end c");
    assert!(stage.shows("nobody has begun to look for it"), "{}", stage.text());
}

#[test]
fn a_stopped_lane_is_freed_by_the_same_key_after_its_end_too() {
    let mut stage = Stage::of(&working::working());
    let lane = Lane::Call(EffectId(6));
    assert_eq!(command(&mut stage, "H"), Command::PauseLane(lane));
    stage.tell(Event::LanePaused { lane, by: By::User });
    let output = ToolOutput { text: "48,200".into(), cut_from: None };
    stage.tell(Event::ToolCallFinished { call: EffectId(6), output });
    stage.tell(Event::Held { lane, boundary: Boundary::AfterToolCall });
    assert_eq!(command(&mut stage, "H"), Command::ResumeLane(lane));
    // What was chosen in a task that is over is meant no longer.
    let mut stage = Stage::of(&working::worked());
    stage.press("home down down down");
    let (call, task) = (EffectId(9), TaskId(2));
    let (tool, arguments) = ("weather".into(), Value::Null);
    stage.tell(Event::TasksQueued { first: task, tasks: vec![Task::from_text("x")], by: By::User });
    stage.tell(Event::TaskStarted { task });
    stage.tell(Event::ToolCallRequested { call, task, step: 1, tool, arguments, evidence: None });
    stage.tell(Event::ToolCallStarted { call });
    assert_eq!(command(&mut stage, "x"), Command::CancelCall(call));
    assert_eq!(command(&mut stage, "H"), Command::PauseLane(Lane::Call(call)));
}
