//! What a long session forgets, and what it does not.

use std::path::Path;

use serde_json::Value;
use toolyard::domain::{EffectId, Record, State, TaskId};
use toolyard::store::journal;

use crate::program::Home;

fn records() -> Vec<Record> {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/journals/format-2.jsonl");
    journal::read(&kept).unwrap().records
}

fn keeping(tasks: usize, records: &[Record]) -> State {
    let mut state = State::keeping(Some(tasks));
    records.iter().for_each(|record| state.apply(record));
    state
}

#[test]
fn only_details_of_tasks_that_ended_long_ago_are_forgotten() {
    let records = records();
    let (whole, some) = (State::fold(&records), keeping(1, &records));
    assert_eq!((some.tasks.len(), some.tasks.gone(), some.tasks_done), (3, 2, 3));
    assert!(some.task(TaskId(2)).is_none() && some.effect(EffectId(1)).is_none());
    assert_eq!(some.task(TaskId(3)), whole.task(TaskId(3)));
    assert_eq!(some.effects_requested(), whole.effects_requested());
    for (kept, all) in [
        (some.model_calls.len(), whole.model_calls.len()),
        (some.tool_calls.len(), whole.tool_calls.len()),
        (some.transcript.len(), whole.transcript.len()),
    ] {
        assert_eq!(kept, all, "places stay the same");
    }
    let last = some.transcript.gone();
    assert!(last > 10 && some.transcript.iter().eq(whole.transcript.from(last)));
    assert_eq!(some.line(some.transcript[last].n), Some(&whole.transcript[last]));
    for call in &some.model_calls {
        assert_eq!(whole.model_call(call.id), Some(call));
    }
    assert_eq!((&some.models, &some.tools), (&whole.models, &whole.tools), "sums stay");
    assert_eq!((&some.learning, &some.pairs), (&whole.learning, &whole.pairs));
}

#[test]
fn nothing_is_forgotten_while_few_tasks_have_ended() {
    let records = records();
    let (whole, some) = (State::fold(&records), keeping(3, &records));
    let json = |state: &State| serde_json::to_value(state).unwrap();
    assert_eq!(json(&some), json(&whole));
}

#[test]
fn the_report_of_a_long_session_has_every_task() {
    let home = Home::new();
    let run = ["run", "--strategy", "toolnet+btp", "--tasks-limit", "90", "--fresh"];
    home.run(&[&run[..], &["--journal", "j.jsonl", "--report", "run.json"]].concat());
    home.run(&["replay", "j.jsonl", "--report", "replay.json"]);
    let report = |name| -> Value { serde_json::from_str(&home.read(name)).unwrap() };
    let run = report("run.json");
    assert_eq!(run["tasks"].as_array().unwrap().len(), 90);
    assert_eq!(run["totals"]["tasks"], 90);
    assert_eq!(run, report("replay.json"));
    assert_eq!(home.read("run.json"), home.read("replay.json"));
}

#[test]
fn the_last_state_is_whole_where_it_was_asked_for() {
    let home = Home::new();
    let run = ["run", "--strategy", "direct", "--tasks-limit", "40", "--fresh"];
    home.run(&[&run[..], &["--journal", "j.jsonl", "--state", "s.json"]].concat());
    let replayed = home.run(&["replay", "j.jsonl", "--json"]);
    assert_eq!(home.read("s.json").trim(), replayed.out.trim());
    let state: Value = serde_json::from_str(&replayed.out).unwrap();
    assert_eq!(state["tasks"].as_array().unwrap().len(), 40);
}
