use serde_json::json;

use super::*;
use crate::domain::{
    Boundary, By, ChangeEvent, ControlEvent, EditEvent, EffectRef, EvidenceId, FaultEvent, FaultId,
    Knob, Refusal, SessionEvent, TaskId, ToolCallEvent, ToolError, ToolErrorKind,
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
    Recorded::new(records(events).into(), None, How::default())
}

fn resumed(events: Vec<Event>, later: u64, holds_then: bool) -> Recorded {
    let how = How { later, holds_then, is_resumed: true, ..How::default() };
    Recorded::new(records(events).into(), None, how)
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
fn a_request_that_differs_is_told_and_its_run_parts_from_the_record() {
    let told = [two_calls(), vec![clock(7), clock(8), turned(By::User)]].concat();
    let mut recorded = recorded(told);
    assert_eq!(recorded.clock(RunId::FIRST), Some(7));
    assert!(recorded.keeps_numbers() && !recorded.is_over());
    let why = taken(&mut recorded, 1, &call(1, "x")).unwrap().unwrap_err();
    assert_eq!(
        why,
        "the record does not match: expected ToolCallRequested 1, but record 1 has \
         ToolCallRequested; the first difference is data.arguments.text"
    );
    assert!(recorded.has_parted(RunId::FIRST) && recorded.is_over() && !recorded.keeps_numbers());
    assert_eq!(taken(&mut recorded, 2, &call(2, "b")), None);
    assert_eq!((recorded.clock(RunId::FIRST), recorded.intervention(9)), (None, None));
}

#[test]
fn an_effect_that_the_record_does_not_have_ends_it() {
    let mut recorded = recorded(two_calls());
    let why = taken(&mut recorded, 3, &call(3, "c")).unwrap().unwrap_err();
    assert!(why.contains("expected ToolCallRequested 3, but record 1 has"), "{why}");
    assert!(recorded.is_over());
}

/// Takes what is left for a request of the first run.
fn left(recorded: &mut Recorded, request: &Event) -> Option<Vec<Event>> {
    let id = request.effect().unwrap().id;
    let events = recorded.take_left(id, RunId::FIRST, request)?;
    Some(events.into_iter().map(|record| record.event).collect())
}

#[test]
fn what_is_left_answers_equal_calls_that_change_nothing_once_each() {
    let again = |id: u32, text: &str| vec![call(id, text), started(id), failed(id)];
    let told = [two_calls(), again(3, "a"), again(4, "b"), vec![call(5, "c"), started(5)]];
    let mut recorded = recorded(told.concat());
    assert_eq!(left(&mut recorded, &call(2, "b")), None, "the run follows the record");
    taken(&mut recorded, 1, &call(1, "x")).unwrap().unwrap_err();
    let later = |id: u32, text: &str| {
        let mut call = call(id, text);
        if let Event::ToolCall(ToolCallEvent::ToolCallRequested { step, evidence, task, .. }) =
            &mut call
        {
            (*step, *evidence, *task) = (7, Some(EvidenceId(2)), TaskId(3));
        }
        call
    };
    assert_eq!(left(&mut recorded, &later(9, "a")), Some(vec![started(1), failed(1)]));
    assert_eq!(left(&mut recorded, &later(3, "a")), Some(vec![started(3), failed(3)]));
    assert_eq!(left(&mut recorded, &later(9, "a")), None, "each is taken once");
    assert_eq!(left(&mut recorded, &call(5, "c")), None, "it did not end");
    let other_run = recorded.take_left(EffectId(9), RunId(2), &later(9, "b"));
    assert_eq!(other_run, None);
    assert_eq!(left(&mut recorded, &later(9, "b")), Some(vec![started(2), failed(2)]));
}

#[test]
fn what_changes_something_or_was_touched_is_not_taken_from_what_is_left() {
    let parted = |told: Vec<Event>| {
        let mut recorded = recorded(told);
        taken(&mut recorded, 1, &call(1, "x")).unwrap().unwrap_err();
        recorded
    };
    for class in EffectClass::all() {
        let effect = EffectRef { class, ..effect(1) };
        let wanted = wanted(effect, "a", By::Engine);
        let mut recorded = parted(vec![wanted.clone(), failed(1)]);
        assert_eq!(left(&mut recorded, &wanted).is_some(), class.is_repeatable(), "{class:?}");
    }
    let fired = FaultEvent::FaultFired { fault: FaultId(1), effect: effect(1) };
    let (text, by) = ("other".to_owned(), By::User);
    let edit = EditEvent::CallAnswered { effect: effect(1), text, by };
    let error = ToolError::new(ToolErrorKind::Cancelled, "it was cancelled");
    let cancelled = ToolCallEvent::ToolCallFailed { effect: effect(1), error };
    let (reason, why) = (Refusal::TooDear, "no".to_owned());
    let refused = ToolCallEvent::ToolCallRefused { effect: effect(1), why, reason };
    for told in [
        vec![fired.into(), failed(1)],
        vec![failed(1), edit.into()],
        vec![cancelled.into()],
        vec![refused.into()],
    ] {
        let mut recorded = parted([vec![call(1, "a")], told].concat());
        assert_eq!(left(&mut recorded, &call(1, "a")), None);
    }
}

#[test]
fn what_is_left_of_a_run_that_has_parted_stays_within_its_limit() {
    let mut recorded = recorded(vec![call(1, "a"), failed(1)]);
    let more = (2..=80_000).flat_map(|id| [call(id, &(id % 9).to_string()), failed(id)]);
    let more: Vec<Event> = more.collect();
    let more = (3..).zip(more).map(|(n, event)| Record::new(n, 0, event));
    recorded.source = Some(Box::new(more));
    taken(&mut recorded, 1, &call(1, "x")).unwrap().unwrap_err();
    for n in (0..160_000).step_by(1_000) {
        assert_eq!(recorded.intervention(n), None);
        let kept = recorded.effects.len();
        assert!(kept <= MOST && recorded.left[&RunId::FIRST].len() == kept, "{kept}");
    }
    let numbers: usize = recorded.requests.values().map(Vec::len).sum();
    assert!(recorded.effects.len() > MOST / 2 && numbers == recorded.effects.len(), "{numbers}");
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
    assert!(recorded.how().is_resumed);
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
    assert!(recorded.how().holds_then);
    assert_eq!([recorded.holds_now(), recorded.holds_now()], [true, false]);
    assert!(!recorded.how().holds_then);
    let mut other = resumed(two_calls(), 0, false);
    assert!(!other.how().holds_then && !other.holds_now());
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
