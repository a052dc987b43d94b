use serde_json::json;

use super::*;
use crate::domain::{
    Boundary, ChangeEvent, EditEvent, EffectClass, EffectRef, Knob, ToolCallEvent, ToolError,
    ToolErrorKind,
};

fn effect(id: u32) -> EffectRef {
    EffectRef::new(EffectId(id), EffectClass::Read)
}

/// A call of a tool with this text is wanted.
fn wanted(effect: EffectRef, text: &str, by: By) -> Event {
    let (task, step, tool, evidence) = (TaskId(1), 1, "echo".into(), None);
    let arguments = json!({"text": text});
    ToolCallEvent::ToolCallRequested {
        effect,
        task,
        step,
        tool,
        arguments,
        evidence,
        by,
        wire_id: None,
    }
    .into()
}

fn call(id: u32, text: &str) -> Event {
    wanted(effect(id), text, By::Engine)
}

fn started(id: u32) -> Event {
    ToolCallEvent::ToolCallStarted { effect: effect(id) }.into()
}

fn failed(id: u32) -> Event {
    let error = ToolError::new(ToolErrorKind::Failed, "it broke");
    ToolCallEvent::ToolCallFailed { effect: effect(id), error }.into()
}

fn turned(by: By) -> Event {
    ChangeEvent::KnobTurned { knob: Knob::Alpha, value: 2.0.into(), was: 1.0.into(), by }.into()
}

fn clock(millis: i64) -> Event {
    ProgramEvent::ClockRead { task: TaskId(1), millis }.into()
}

/// The events as records 1, 2, 3…
fn records(events: Vec<Event>) -> Vec<Record> {
    (1..).zip(events).map(|(n, event)| Record::new(n, 0, event)).collect()
}

fn recorded(events: Vec<Event>) -> Recorded {
    Recorded::again(records(events).into())
}

fn resumed(events: Vec<Event>, later: u64, holds_then: bool) -> Recorded {
    Recorded::resumed(records(events), &State::default(), later, holds_then)
}

/// Takes the record's answer to a request of the first run.
fn taken(recorded: &mut Recorded, id: u32, request: &Event) -> Option<Result<Vec<Record>, String>> {
    recorded.take(EffectId(id), RunId::FIRST, request)
}

fn events(taken: Option<Result<Vec<Record>, String>>) -> Vec<Event> {
    taken.unwrap().unwrap().into_iter().map(|record| record.event).collect()
}

/// Two calls, each with its start and its end.
fn two_calls() -> Vec<Event> {
    vec![call(1, "a"), started(1), call(2, "b"), failed(1), started(2), failed(2)]
}

#[test]
fn an_effect_is_answered_with_what_followed_its_request() {
    let mut recorded = recorded(two_calls());
    assert!(recorded.answers());
    assert_eq!(events(taken(&mut recorded, 2, &call(2, "b"))), [started(2), failed(2)]);
    assert_eq!(events(taken(&mut recorded, 1, &call(1, "a"))), [started(1), failed(1)]);
    assert!(!recorded.answers(), "nothing is left");
}

#[test]
fn a_request_that_differs_is_told_and_ends_the_record() {
    let told = [two_calls(), vec![clock(7), clock(8), turned(By::User)]].concat();
    let mut recorded = recorded(told);
    assert_eq!(recorded.clock(), Some(7));
    let why = taken(&mut recorded, 1, &call(1, "x")).unwrap().unwrap_err();
    assert_eq!(
        why,
        "the record does not match: expected ToolCallRequested 1, but record 1 has \
         ToolCallRequested; the first difference is data.arguments.text"
    );
    assert!(!recorded.answers());
    assert_eq!(taken(&mut recorded, 2, &call(2, "b")), None);
    assert_eq!((recorded.clock(), recorded.intervention(9)), (None, None));
}

#[test]
fn an_effect_that_the_record_does_not_have_ends_it() {
    let mut recorded = recorded(two_calls());
    assert_eq!(taken(&mut recorded, 3, &call(3, "c")), None);
    assert!(!recorded.answers());
}

#[test]
fn a_person_intervenes_at_the_same_record_again() {
    let by_hand = wanted(effect(1), "a", By::User);
    let told = vec![turned(By::Engine), by_hand.clone(), turned(By::User), turned(By::Undo(3))];
    let mut recorded = recorded(told);
    let due: Vec<_> = (0..6).map(|n| recorded.intervention(n)).collect();
    let (user, undo) = (Some(turned(By::User)), Some(turned(By::Undo(3))));
    assert_eq!(due, [None, None, Some(by_hand), user, undo, None]);
}

#[test]
fn what_only_a_person_asks_for_is_an_intervention_without_an_author() {
    let refused: Event =
        SessionEvent::CommandRefused { command: "pause".into(), why: "no".into() }.into();
    let mut recorded = recorded(vec![refused.clone()]);
    assert_eq!(recorded.intervention(1), Some(refused));
}

/// Checks that an edit comes with its call, whenever the call ends.
#[test]
fn an_edit_is_no_intervention_of_its_own() {
    let (effect, text, by) = (effect(1), "other".to_owned(), By::User);
    let edit: Event = EditEvent::CallAnswered { effect, text, by }.into();
    let told = vec![call(1, "a"), failed(1), edit.clone()];
    let mut recorded = recorded(told);
    assert_eq!(recorded.intervention(3), None);
    assert_eq!(events(taken(&mut recorded, 1, &call(1, "a"))), [failed(1), edit.clone()]);
    recorded.note_edit(EffectId(1), edit.clone());
    assert_eq!((recorded.edit(EffectId(2)), recorded.edit(EffectId(1))), (None, Some(edit)));
    assert_eq!(recorded.edit(EffectId(1)), None, "it is made once");
}

#[test]
fn how_a_call_was_held_comes_with_the_call() {
    let (lane, boundary) = (Lane::Effect(EffectId(1)), Boundary::BeforeToolCall);
    let held: Event = ControlEvent::Held { lane, boundary }.into();
    let released: Event = ControlEvent::Released { lane }.into();
    let told = vec![call(1, "a"), call(2, "b"), held.clone(), released.clone(), failed(1)];
    let mut recorded = recorded(told);
    let first = events(taken(&mut recorded, 1, &call(1, "a")));
    assert_eq!(first, [held, released, failed(1)]);
    assert_eq!(events(taken(&mut recorded, 2, &call(2, "b"))), []);
}

#[test]
fn an_interrupted_task_is_answered_from_an_equal_request_of_any_number() {
    let told = vec![call(4, "a"), failed(4), call(2, "a"), started(2), call(3, "a"), call(5, "b")];
    let mut recorded = resumed(told, 0, false);
    assert!(recorded.is_resumed());
    // Its own number first, then the first one of the record.
    assert_eq!(events(taken(&mut recorded, 4, &call(4, "a"))), [failed(4)]);
    assert_eq!(events(taken(&mut recorded, 9, &call(9, "a"))), [started(2)]);
    assert_eq!(events(taken(&mut recorded, 8, &call(8, "a"))), []);
    assert_eq!(taken(&mut recorded, 5, &call(5, "a")), None, "it asks for something else");
    assert_eq!(events(taken(&mut recorded, 1, &call(1, "b"))), [], "the record goes on");
}

#[test]
fn interventions_in_an_interrupted_task_come_later_and_one_after_the_other() {
    let told = vec![turned(By::User), turned(By::Engine), turned(By::Redo(1))];
    let mut recorded = resumed(told, 10, false);
    assert_eq!(recorded.intervention(10), None);
    assert_eq!(recorded.intervention(14), Some(turned(By::User)));
    assert_eq!(recorded.intervention(12), None);
    assert_eq!(recorded.intervention(13), Some(turned(By::Redo(1))));
    assert_eq!(recorded.intervention(99), None);
}

#[test]
fn a_session_is_held_once_where_the_record_ends() {
    let mut recorded = resumed(two_calls(), 0, true);
    assert!(recorded.holds_later());
    assert_eq!([recorded.holds_now(), recorded.holds_now()], [true, false]);
    assert!(!recorded.holds_later());
    let mut other = resumed(two_calls(), 0, false);
    assert!(!other.holds_later() && !other.holds_now());
}

#[test]
fn the_effect_that_waits_for_the_first_record_goes_on_when_all_others_wait() {
    let mut recorded = Recorded::default();
    let (one, two) = (EffectId(1), EffectId(2));
    recorded.wait(one, 8);
    recorded.wait(two, 5);
    let lanes = || [Lane::Effect(one), Lane::Effect(two)].into_iter();
    assert!(recorded.is_next(two, lanes()));
    assert!(!recorded.is_next(one, lanes()), "the other record comes first");
    assert!(!recorded.is_next(two, lanes().chain([Lane::FIRST])), "the agent may go on");
    assert!(!recorded.is_next(two, lanes().chain([Lane::Effect(EffectId(3))])), "one runs");
    recorded.go_on(two);
    assert!(recorded.is_next(one, [Lane::Effect(one)].into_iter()));
    assert!(!recorded.is_next(one, lanes()));
}

#[test]
fn a_call_was_made_again_where_another_one_names_it() {
    let again = EffectRef { parent: Some(EffectId(1)), ..effect(2) };
    let recorded = recorded(vec![call(1, "a"), wanted(again, "a", By::Engine)]);
    assert!(recorded.repeats(EffectId(1)));
    assert!(!recorded.repeats(EffectId(2)));
}

#[test]
fn the_first_difference_is_named_by_its_fields() {
    let one = json!({"a": 1, "b": {"c": [1, {"d": 2}]}, "origin": "live"});
    let differs = |other: Value| first_difference("", &one, &other);
    assert_eq!(differs(json!({"a": 1, "b": {"c": [1, {"d": 2}]}, "origin": "recorded"})), None);
    assert_eq!(differs(json!({"a": 1, "b": {"c": [1, {"d": 2}]}, "e": null})), None);
    let place = |other: Value| differs(other).unwrap();
    assert_eq!(place(json!({"a": 2, "b": 3})), "a");
    assert_eq!(place(json!({"a": 1, "b": {"c": [1, {"d": 3}]}})), "b.c.1.d");
    assert_eq!(place(json!({"a": 1, "b": {"c": [1]}})), "b.c");
    assert_eq!(place(json!({"a": 1, "b": {"c": [1, {"d": 2}]}, "e": 1})), "e");
    assert_eq!(place(json!({"a": 1})), "b");
}
