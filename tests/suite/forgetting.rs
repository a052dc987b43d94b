//! What a long session forgets, and what it does not.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use serde_json::{Value, json};
use toolyard::domain::{
    EffectId, EmbeddingEvent, Outcome, Record, State, TaskEvent, TaskId, state::Keeps,
    state::LISTED, state::RECENT, state::TEXTS,
};
use toolyard::store::journal::{self, Header, Journal, Marker};
use toolyard::ui::screen::{Screen, Setup};

use crate::program::Home;
use crate::stage::{Stage, setup};
use crate::story::{Story, effect};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/journals/format-2.jsonl");

fn records() -> Vec<Record> {
    journal::read(Path::new(KEPT)).unwrap().records
}

fn keeping(tasks: usize, records: &[Record]) -> State {
    let mut state = State::keeping(Keeps::Tasks(tasks));
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
    let calls = whole.model_calls.iter().map(|call| (call.id, call.task));
    for (id, task) in calls.chain(whole.tool_calls.iter().map(|call| (call.id, call.task))) {
        assert_eq!(some.effect(id).is_some(), task == TaskId(3), "{id:?}");
    }
    for call in &some.model_calls {
        assert_eq!(whole.model_call(call.id), Some(call));
    }
    assert_eq!((&some.models, &some.tools), (&whole.models, &whole.tools), "sums stay");
    assert_eq!((&some.learning, &some.pairs), (&whole.learning, &whole.pairs));
}

#[test]
fn what_was_looked_at_again_is_forgotten_again() {
    let records = records();
    let (whole, mut some) = (State::fold(&records), keeping(1, &records));
    let first = |state: &State| state.tasks.get(0).is_some_and(|task| !task.steps.is_empty());
    assert!(!first(&some) && first(&whole));
    some.recall(TaskId(1), &whole);
    assert!(first(&some) && some.recalled() == (1, 1));
    some.forget_recalled();
    assert!(!first(&some) && some.recalled() == (0, 0));
    assert_eq!(some, keeping(1, &records));
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
    let last = home.run(&["replay", "j.jsonl", "--json"]);
    let replayed = home.run(&["replay", "j.jsonl", "--json", "--full"]);
    assert!(last.out.len() < replayed.out.len(), "without details of the first tasks");
    assert_eq!(home.read("s.json").trim(), replayed.out.trim());
    let state: Value = serde_json::from_str(&replayed.out).unwrap();
    assert_eq!(state["tasks"].as_array().unwrap().len(), 40);
}

/// The journal of a session of 300 tasks, more than are kept. It is run once for all tests.
pub fn long() -> &'static str {
    static RUN: LazyLock<String> = LazyLock::new(|| {
        let home = Home::new();
        let run = ["run", "--strategy", "toolnet+btp", "--fresh", "--tasks-limit", "300"];
        home.run(&[&run[..], &["--journal", "j.jsonl"]].concat());
        home.read("j.jsonl")
    });
    &RUN
}

/// The same as a file, and its records.
fn long_file() -> (Home, PathBuf, Vec<Record>) {
    let home = Home::new();
    home.write("j.jsonl", long());
    let path = home.path("j.jsonl");
    let records = journal::read(&path).unwrap().records;
    assert!(records.len() > 5_000, "{}", records.len());
    (home, path, records)
}

/// A moment is the same from the middle of the file as from its beginning.
#[test]
fn any_moment_is_reached_from_the_mark_before_it() {
    let (_home, path, records) = long_file();
    let mut marker = Marker::open(&path, 0).unwrap();
    let past = marker.past();
    while marker.read().unwrap().is_some() {}
    let mut whole = State::keeping(Keeps::Details(RECENT));
    let mut states = Vec::new();
    for record in &records {
        whole.apply(record);
        if record.n % 1_499 == 0 || record.n as usize == records.len() {
            states.push(whole.clone());
        }
    }
    for state in states.iter().rev() {
        let window = past.window(state.n).unwrap();
        assert!(window.has(state.n));
        assert_eq!(window.state(state.n, None), *state, "at {}", state.n);
        let before = window.state(state.n.max(window.base() + 5) - 5, None);
        assert_eq!(window.state(state.n, Some(before)), *state, "from a neighbour of {}", state.n);
    }
    assert!(past.window(records.len() as u64).unwrap().base() > 0, "not from the beginning");
}

/// A command that asks for a moment makes the index, and the next one reads little.
#[test]
fn a_moment_that_a_command_prints_comes_from_the_index() {
    let (home, path, records) = long_file();
    for at in [0, 1, 4_700, 100, records.len() as u64] {
        let printed = home.run(&["replay", "j.jsonl", "--at", &at.to_string(), "--json"]);
        let mut whole = State::keeping(Keeps::Details(RECENT));
        records.iter().take(at as usize).for_each(|record| whole.apply(record));
        let printed: State = serde_json::from_str(&printed.out).unwrap();
        assert_eq!(serde_json::to_value(&printed).unwrap(), serde_json::to_value(&whole).unwrap());
    }
    assert!(journal::index_of(&path).exists());
    let beyond = (records.len() + 1).to_string();
    let refused = home.run(&["shot", "j.jsonl", "--at", &beyond, "--out", "s.svg"]);
    assert!(refused.err.contains(&format!("--at {beyond}: the journal ends at event")));
}

/// A journal is read on while it is written, also where a line is not whole yet.
#[test]
fn a_journal_that_grows_is_read_on() {
    let whole = std::fs::read(Path::new(KEPT)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.jsonl");
    std::fs::write(&path, &whole[..20_000]).unwrap();
    let mut marker = Marker::open(&path, 0).unwrap();
    let mut read = Vec::new();
    while let Some(record) = marker.read().unwrap() {
        read.push(record);
    }
    assert!(!read.is_empty() && read.len() < 77);
    std::fs::write(&path, &whole).unwrap();
    while let Some(record) = marker.read().unwrap() {
        read.push(record);
    }
    assert!(read.iter().map(|record| &**record).eq(&records()));
}

fn stage(path: Option<&Path>, records: &[Record]) -> Stage {
    let journal = path.map(|path| {
        let mut marker = Marker::open(path, 0).unwrap();
        while marker.read().unwrap().is_some() {}
        marker.past()
    });
    let mut screen = Screen::new(Setup { journal, ..setup() });
    records.iter().for_each(|record| screen.receive(Arc::new(record.clone())));
    screen.view.told = false;
    Stage::showing(screen)
}

#[test]
fn what_is_looked_at_is_read_back() {
    let (_home, path, records) = long_file();
    let mut stage = stage(Some(&path), &records);
    assert!(stage.screen.live().is_bare(TaskId(1)));
    stage.press("2 home");
    assert!(!stage.screen.shown().is_bare(TaskId(1)), "{}", stage.text());
    assert!(!stage.shows("details are gone"), "{}", stage.text());
    let first = &State::fold(&records).tasks[0].task.text.clone();
    let words = first.split_whitespace().next().unwrap();
    assert!(stage.shows(words), "{}", stage.text());
    // Back to an early moment, and forward again.
    stage.screen.view.moment = Some(100);
    stage.press(".");
    assert_eq!(stage.screen.shown().n, stage.screen.view.moment.unwrap());
}

#[test]
fn without_a_journal_the_screen_says_what_is_gone() {
    let (_home, _, records) = long_file();
    let mut stage = stage(None, &records);
    let live = stage.screen.live();
    assert_eq!((live.tasks.len(), live.tasks.gone()), (300, 0), "lines of tasks stay");
    assert!(live.tasks[0].outcome().is_some() && live.tasks[0].tokens() > 0);
    assert!(live.task(TaskId(300)).is_some_and(|task| !task.steps.is_empty()));
    stage.press("2 home");
    assert!(stage.shows("no details: this session has no journal"), "{}", stage.text());
}

/// A task ends with a right answer.
fn answer(story: &mut Story, task: u32) {
    let (task, answer) = (TaskId(task), Some(format!("answer {task}")));
    let (outcome, correct, caveats) = (Outcome::Answered, Some(true), Vec::new());
    story.tell(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
}

/// The events of tasks with one call each, whose result has this many bytes.
fn large(tasks: u32, bytes: usize) -> Vec<Record> {
    let mut story = Story::open();
    for task in 1..=tasks {
        story.queue(&[(&format!("number {task}"), None)]);
        story.start(task).step(task, 1, "start");
        let result = format!("result {task} {}", "x".repeat(bytes));
        story.call(task, 1, ("search", json!({"query": task}), Ok(&result), 10));
        answer(&mut story, task);
    }
    story.records
}

/// Where results are large, fewer tasks keep their details than the usual number; the last one always does.
#[test]
fn what_is_kept_is_bounded_by_bytes() {
    for (bytes, kept) in [(TEXTS / 4, 3), (2 * TEXTS, 1), (10, RECENT)] {
        let mut state = State::keeping(Keeps::Tasks(RECENT));
        large(40, bytes).iter().for_each(|record| state.apply(record));
        assert_eq!(state.tool_calls.iter().count(), kept, "{bytes} bytes");
        assert_eq!((state.tool_calls.len(), state.tasks_done), (40, 40), "places and sums stay");
    }
    let whole = State::fold(&large(40, TEXTS / 4));
    assert_eq!(whole.tool_calls.iter().count(), 40, "where all is asked for, all is kept");
}

#[test]
fn large_results_are_read_back_and_windows_are_bounded_by_bytes() {
    let records = large(20, TEXTS / 4);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.jsonl");
    let mut journal = Journal::create(&path, &Header::at(Timestamp::UNIX_EPOCH)).unwrap();
    records.iter().for_each(|record| journal.append(record).unwrap());
    drop(journal);
    let mut stage = stage(Some(&path), &records);
    assert!(stage.screen.live().is_bare(TaskId(2)));
    stage.screen.view.task = Some(TaskId(2));
    stage.press("7");
    assert!(!stage.screen.shown().is_bare(TaskId(2)), "{}", stage.text());
    let call = stage.screen.shown().task(TaskId(2)).unwrap().tool_calls[0];
    let result = stage.screen.shown().tool_call(call).unwrap().observation().unwrap();
    assert!(result.starts_with("result 2 x"), "{:.30}", result);
    let past = Marker::open(&path, 0).unwrap().past();
    for n in [1, records.len() as u64 / 2, records.len() as u64] {
        let window = past.window(n).unwrap();
        let bytes: usize = window.records().map(|record| record.event.text_bytes()).sum();
        assert!(window.has(n) && window.record(n).is_some() && bytes <= TEXTS, "{n}: {bytes}");
    }
}

/// Of many tasks only the last ones are listed. Others are read back where one looks, up to the first.
#[test]
fn tasks_that_are_not_listed_are_read_back() {
    let many = many();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.jsonl");
    let mut journal = Journal::create(&path, &Header::at(Timestamp::UNIX_EPOCH)).unwrap();
    many.iter().for_each(|record| journal.append(record).unwrap());
    drop(journal);
    let mut stage = stage(Some(&path), &many);
    let live = stage.screen.live();
    let (tasks, gone) = (live.tasks.len(), live.tasks.gone());
    assert_eq!((tasks, gone), (MANY as usize, MANY as usize - RECENT - LISTED));
    stage.press("7 home");
    assert!(stage.shows("number 1 "), "{}", stage.text());
    stage.press("pagedown pagedown down");
    assert!(!stage.shows("has no journal"), "{}", stage.text());
    // Its details, and those of the next one.
    stage.press("home enter");
    assert!(stage.shows("number 1 ") && stage.shows("answer 1"), "{}", stage.text());
    stage.press("right");
    assert!(stage.shows("answer 2"), "{}", stage.text());
    // The index of a journal that is opened again knows them too, and any moment lists as many.
    let mut marker = Marker::open(&path, u64::MAX).unwrap();
    let past = marker.past();
    while marker.read().unwrap().is_some() {}
    let mut whole = State::keeping(Keeps::Details(RECENT));
    many.iter().for_each(|record| whole.apply(record));
    assert_eq!(*marker.state(), whole);
    let last = whole.n;
    assert_eq!(past.window(last).unwrap().state(last, None), whole);
    for place in [0, 1, gone / 2, gone - 1] {
        let block = past.with_task(place).unwrap();
        assert!(block.tasks.iter().any(|task| task.id.0 as usize == place + 1), "{place}");
        let line = block.tasks[0].first_line;
        assert_eq!(past.with_line(line).unwrap().tasks, block.tasks);
    }
}

#[test]
fn without_a_journal_the_list_says_which_tasks_are_gone() {
    let mut stage = stage(None, &many());
    stage.press("7 home");
    assert!(stage.shows("gone: this session has no journal"), "{}", stage.text());
    stage.press("/ n u m b e r enter");
    assert!(stage.shows(&format!("{0} of {0} in memory", LISTED + RECENT)), "{}", stage.text());
    stage.press("esc");
    stage.press("end");
    assert!(stage.shows(&format!("number {MANY} ")), "{}", stage.text());
}

const MANY: u32 = 3_000;

/// The events of more tasks than are listed.
fn many() -> Vec<Record> {
    let mut story = Story::open();
    for task in 1..=MANY {
        story.queue(&[(&format!("number {task} of many"), None)]);
        story.start(task);
        answer(&mut story, task);
    }
    story.records
}

#[test]
fn a_task_without_details_keeps_its_first_budget_plan_and_its_refusals() {
    let story = crate::spending::btp();
    let mut some = State::keeping(Keeps::Details(1));
    story.records.iter().for_each(|record| some.apply(record));
    let rest = some.without_tasks();
    assert_eq!(rest.tasks.gone(), some.bare_tasks().len());
    let bare: Vec<_> = some.bare_tasks().collect();
    assert!(bare.iter().any(|task| task.budget.first.is_some()));
    for task in bare {
        let (kept, all) = (&task.budget, &story.state().task(task.id).unwrap().budget);
        assert_eq!((kept.first.is_some(), kept.refused), (all.first.is_some(), all.refused));
        assert_eq!((kept.plans, kept.spent.total()), (all.plans, all.spent.total()));
    }
}

#[test]
fn the_embeddings_of_old_tasks_are_forgotten_with_them() {
    let mut story = Story::open();
    story.queue(&[("one", None), ("two", None), ("three", None)]);
    let mut embed = |task: u32, id: u32| {
        story.start(task);
        let (reference, task) = (effect(EffectId(id)), TaskId(task));
        let (model, text) = ("m".to_owned(), "x".to_owned());
        story.tell(EmbeddingEvent::EmbeddingRequested { effect: reference, task, model, text });
        let (outcome, answer, correct, caveats) = (Outcome::Answered, None, None, Vec::new());
        story.tell(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
    };
    (1..=3).for_each(|n| embed(n, n));
    let mut some = State::keeping(Keeps::Tasks(1));
    story.records.iter().for_each(|record| some.apply(record));
    let kept = [1, 2, 3].map(|id| some.effect(EffectId(id)).is_some());
    assert_eq!(kept, [false, false, true]);
}
