//! Forks without an edit at the events of sessions of each strategy: each equals its original to the end.

use std::collections::BTreeMap;
use std::path::Path;
use std::{cell::RefCell, rc::Rc};

use serde_json::Value;
use tokio::sync::mpsc;
use toolyard::app::session::{ForkSpec, JournalChoice, SessionSpec};
use toolyard::domain::{Origin, Record, State, call_policy::CallPolicy, strategy::STRATEGIES};

use crate::program::Home;

/// As a fork with `--calls live` has it.
const ALLOW: &str = "allow = [\"effect:write\", \"effect:unknown\"]";

/// Forks that were tried, and what differed.
#[derive(Default)]
pub struct Tried {
    pub sessions: usize,
    pub forks: usize,
    pub differing: Vec<String>,
    /// Forks of several runs with the same calls, results and answers, in another order behind the point.
    pub reordered: usize,
}

/// Forks at one in `part` of the events of each session, from another one for each.
pub fn tried(part: usize) -> Tried {
    let home = Home::new();
    home.write("config.toml", "");
    let mut tried = Tried::default();
    let names = STRATEGIES.iter().map(|strategy| strategy.name.to_owned());
    let more = ["rewoo+btp", "workers+toolnet", "react+btp+prompt", "dfsdt+reflexion"];
    for strategy in names.chain(more.map(str::to_owned)) {
        for seed in 1..=3 {
            for concurrency in [1, 8] {
                for more_runs in [0, 1] {
                    let name = format!(
                        "{strategy}, seed {seed}, {concurrency} at once, {more_runs} more runs"
                    );
                    let path = home.path(&format!("{}.jsonl", tried.sessions));
                    let knobs = format!("concurrency = {concurrency}\nspeed = \"4\"");
                    let text = format!(
                        "strategy = \"{strategy}\"\nseed = {seed}\n{ALLOW}\n[knobs]\n{knobs}"
                    );
                    let spec: SessionSpec = toml::from_str(&text).unwrap();
                    let spec = SessionSpec {
                        config: Some(home.path("config.toml")),
                        fresh: true,
                        tasks_limit: Some(2),
                        more_runs,
                        journal: JournalChoice::File(path.clone()),
                        ..spec
                    };
                    let original = played(&spec);
                    tried.sessions += 1;
                    fork_each(&path, (&name, more_runs > 0), &original, part, &mut tried);
                }
            }
        }
    }
    tried
}

fn fork_each(
    path: &Path,
    (name, has_runs): (&str, bool),
    original: &[Record],
    part: usize,
    tried: &mut Tried,
) {
    let begun =
        original.iter().position(|record| record.event.kind() == "TaskStarted").unwrap() + 1;
    for at in (begun + tried.sessions % part..=original.len()).step_by(part) {
        for calls in ["live", "write=ask"] {
            let policy: CallPolicy = calls.parse().unwrap();
            let fork = ForkSpec {
                of: path.to_owned(),
                at: at as u64,
                calls: policy,
                ..ForkSpec::default()
            };
            let journal = JournalChoice::None;
            let spec =
                SessionSpec { fork: Some(Box::new(fork)), journal, ..SessionSpec::default() };
            let forked = played(&spec);
            tried.forks += 1;
            let [one, other] = [original, &forked].map(outcomes);
            let outcome = (one != other).then(|| "other calls, results or answers".to_owned());
            let first = differs(original, &forked).filter(|_| calls == "live");
            // Two runs change their order where calls end within the same millisecond.
            let is_order = has_runs && outcome.is_none();
            tried.reordered += usize::from(is_order && first.is_some());
            let wrong = outcome.or(first.filter(|_| !is_order));
            let wrong = wrong.or_else(|| touched(original, &forked, at));
            tried
                .differing
                .extend(wrong.map(|what| format!("{name}, event {at}, {calls}: {what}")));
        }
    }
}

/// The records of a session on paused time.
fn played(spec: &SessionSpec) -> Vec<Record> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    let records = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&records);
    let listener = Box::new(move |record: &std::sync::Arc<Record>| {
        seen.borrow_mut().push((**record).clone());
    });
    let (sender, commands) = mpsc::unbounded_channel();
    let prepared = spec.prepare().unwrap();
    runtime.block_on(prepared.run(commands, None, listener)).unwrap();
    drop(sender);
    records.take()
}

/// The first difference of two sessions, but for times and origins.
fn differs(original: &[Record], forked: &[Record]) -> Option<String> {
    let plain = |record: &Record| {
        let mut event = serde_json::to_value(&record.event).unwrap();
        if let Some(effect) = event.pointer_mut("/data/effect").and_then(Value::as_object_mut) {
            effect.remove("origin");
        }
        event
    };
    let (mut one, mut other) = (original.iter(), forked.iter());
    loop {
        return match (one.next(), other.next()) {
            (None, None) => None,
            (Some(one), Some(other)) if plain(one) == plain(other) => continue,
            (one, other) => {
                let what = |record: Option<&Record>| {
                    record.map_or("the end".to_owned(), |record| {
                        format!("{} {:.200}", record.n, plain(record).to_string())
                    })
                };
                Some(format!("{} instead of {}", what(other), what(one)))
            }
        };
    }
}

/// The calls with their outcomes, and the answer, of each task.
fn outcomes(records: &[Record]) -> BTreeMap<u32, (Vec<String>, String)> {
    let state = State::fold(records);
    let of_task = |task: &std::sync::Arc<toolyard::domain::state::TaskState>| {
        let calls = state.tool_calls.iter().filter(|call| call.task == task.id);
        let mut calls: Vec<_> = calls
            .map(|call| format!("{} {} {:?}", call.tool, call.arguments, call.observation()))
            .collect();
        calls.sort_unstable();
        (task.id.0, (calls, format!("{:?} {:?}", task.outcome(), task.answer)))
    };
    state.tasks.iter().map(of_task).collect()
}

/// A call from before the point that was made again, in a task that was at work there.
fn touched(original: &[Record], forked: &[Record], at: usize) -> Option<String> {
    let there = State::fold(&original[..at]);
    let is_at_work = |task| there.task(task).is_some_and(|task| task.outcome().is_none());
    let effects = original.iter().take(at).filter(|record| record.event.is_start());
    let started = effects.filter_map(|record| there.effect(record.event.effect()?.id));
    let started: Vec<_> =
        started.filter(|effect| is_at_work(effect.task)).map(|effect| effect.id).collect();
    let is_live = |record: &&Record| {
        let effect = record.event.effect().filter(|effect| started.contains(&effect.id));
        record.event.is_end() && effect.is_some_and(|effect| effect.origin != Origin::Recorded)
    };
    forked.iter().find(is_live).map(|record| format!("{} is made again", record.n))
}
