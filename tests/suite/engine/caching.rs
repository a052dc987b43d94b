//! Requests of one task begin alike, so that an endpoint's prompt cache helps.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use toolyard::app::session::SessionSpec;
use toolyard::domain::{
    Command, Event, Knob, MenuReason, Role, State, TaskEvent, TaskId, ToolName,
};

use super::effects::{demo, run};
use super::yard::on_paused_time;

/// The request as characters, in the order in which endpoints read it.
fn written(state: &State, call: usize) -> Vec<u8> {
    let request = &state.model_calls[call].request;
    let tools = serde_json::to_string(&request.tools).unwrap();
    let messages: Vec<_> =
        request.messages.iter().map(|message| serde_json::to_string(message).unwrap()).collect();
    format!("{tools}\n{}", messages.join("\n")).into_bytes()
}

/// The average share of a request that the next one of its role and task begins with.
fn repeated(state: &State) -> f64 {
    let mut last: Vec<((Role, TaskId), Vec<u8>)> = Vec::new();
    let mut shares = Vec::new();
    for (n, call) in state.model_calls.iter().enumerate() {
        let (key, now) = ((call.role, call.task), written(state, n));
        if let Some((_, before)) = last.iter().find(|(known, _)| *known == key) {
            let same = before.iter().zip(&now).take_while(|(before, now)| before == now).count();
            shares.push(same as f64 / before.len() as f64);
        }
        last.retain(|(known, _)| *known != key);
        last.push((key, now));
    }
    shares.iter().sum::<f64>() / shares.len() as f64
}

fn spec(strategy: &str) -> SessionSpec {
    SessionSpec { strategy: Some(strategy.parse().unwrap()), ..SessionSpec::default() }
}

#[test]
fn most_of_a_request_is_repeated_by_the_next() {
    for strategy in ["react", "toolnet", "react+btp", "toolnet+btp"] {
        on_paused_time(async move {
            let (_, state) = run(demo(spec(strategy)), &[]).await;
            let share = repeated(&state);
            assert!(share >= 0.85, "{strategy}: {share}");
            let sum = |of: fn(&toolyard::domain::TaskState) -> u64| {
                state.tasks.iter().map(|task| of(task)).sum::<u64>()
            };
            let (cached, tokens) = (sum(|task| task.cached), sum(|task| task.tokens_in));
            assert!(cached <= tokens, "{strategy}: {cached} of {tokens}");
        });
    }
}

#[test]
fn a_menu_is_a_part_of_the_tools_that_a_request_defines() {
    on_paused_time(async {
        let (records, state) = run(demo(spec("toolnet")), &[]).await;
        for call in state.model_calls.iter().filter(|call| call.role == Role::Actor) {
            let defined: HashSet<_> = call.request.tools.iter().map(|tool| &tool.name).collect();
            assert!(call.request.allowed.iter().all(|tool| defined.contains(tool)));
            let said = call.request.messages.last().unwrap().text();
            for tool in &call.request.allowed {
                assert!(said.contains(tool.as_str()), "{tool}: {said}");
            }
        }
        for task in &state.tasks {
            let array: HashSet<_> = task.array.iter().flat_map(|array| array.iter()).collect();
            for step in &task.steps {
                let menu = step.menu.iter().filter(|item| item.why != MenuReason::Finish);
                assert!(menu.into_iter().all(|item| array.contains(&item.tool)), "{}", task.id);
            }
        }
        let breaks = |record: &&toolyard::domain::Record| {
            matches!(&record.event, Event::Task(TaskEvent::ToolArraySet { lost: Some(_), .. }))
        };
        let counted: u32 = state.tasks.iter().map(|task| task.cache_breaks).sum();
        assert_eq!(records.iter().filter(breaks).count(), counted as usize);
        assert!(counted > 0, "a tool outside is needed now and then");
    });
}

#[test]
fn an_array_holds_at_most_as_many_tools_as_a_menu_may() {
    on_paused_time(async {
        let knobs = [(Knob::MenuMax, 6.0), (Knob::TopK, 4.0)].into();
        let (_, state) = run(demo(SessionSpec { knobs, ..spec("toolnet") }), &[]).await;
        let most = |task: &toolyard::domain::TaskState| task.array.as_ref().map_or(0, |a| a.len());
        assert!(
            state.tasks.iter().all(|task| most(task) <= 6 + 2 + 4),
            "explored ones may be more, and those of a wider menu"
        );
        let array: Vec<&ToolName> = state.tasks[0].array.iter().flat_map(|a| a.iter()).collect();
        assert!(!array.is_empty());
    });
}

/// A session of `toolnet` whose model has a price for cached tokens, and these settings.
fn priced(folder: &Path, settings: &str) -> SessionSpec {
    let path = folder.join("config.toml");
    let text = "[models.simulated]\nkind = \"simulated\"\nprice_in = 2.5\nprice_out = 10\n";
    std::fs::write(&path, format!("{text}{settings}\n")).unwrap();
    SessionSpec { config: Some(path), max_dollars: Some(100.0), ..spec("toolnet") }
}

/// The tools that the actor's requests define, each with its task.
fn defined(state: &State) -> Vec<(TaskId, Vec<ToolName>)> {
    let actor = state.model_calls.iter().filter(|call| call.role == Role::Actor);
    let all = actor.map(|call| {
        let own = call.request.tools.iter().take_while(|tool| tool.name.as_str() != "Finish");
        (call.task, own.map(|tool| tool.name.clone()).collect())
    });
    all.collect()
}

/// Where an endpoint has a cache, the requests of a task begin with the tools of the tasks before, and say its menu.
#[test]
fn the_tools_of_earlier_tasks_are_kept_where_that_costs_less() {
    on_paused_time(async {
        let folder = tempfile::tempdir().unwrap();
        let (mut sums, prices) = (Vec::new(), ["price_cached = 0.25", ""]);
        for cached in prices {
            let spec = priced(folder.path(), cached);
            let (_, state) = run(demo(spec), &[]).await;
            let kept = cached == prices[0];
            assert!(state.tasks.iter().all(|task| task.defined.is_some() == kept));
            let actor = state.model_calls.iter().filter(|call| call.role == Role::Actor);
            let mut before: Vec<ToolName> = Vec::new();
            for request in actor.map(|call| &call.request).filter(|_| kept) {
                let told = request.messages.last().unwrap().text();
                assert!(request.allowed.iter().all(|tool| told.contains(tool.as_str())));
                let own = request.tools.iter().take_while(|tool| tool.name.as_str() != "Finish");
                let own: Vec<ToolName> = own.map(|tool| tool.name.clone()).collect();
                assert!(own.starts_with(&before), "{own:?} begins with {before:?}");
                before = own;
            }
            let sum = |of: fn(&toolyard::domain::TaskState) -> u64| {
                state.tasks.iter().map(|task| of(task)).sum::<u64>() as f64
            };
            let (new, read) = (sum(|task| task.tokens_in), sum(|task| task.cached));
            sums.push((new - read) * 2.5 + read * 0.25 + sum(|task| task.tokens_out) * 10.0);
            if kept {
                assert!(state.tasks.iter().all(|task| task.cache_breaks == 0));
            }
        }
        // What the menus would have cost with the same cache.
        assert!(sums[0] < 0.7 * sums[1], "{sums:?}");
    });
}

/// Two runs share what an endpoint has in its cache: the tasks of each begin with the tools that either has defined.
#[test]
fn runs_beside_each_other_keep_the_tools_of_both() {
    on_paused_time(async {
        let folder = tempfile::tempdir().unwrap();
        let spec = SessionSpec { more_runs: 1, ..priced(folder.path(), "price_cached = 0.25") };
        let (_, state) = run(demo(spec), &[]).await;
        let mut before: HashMap<TaskId, Vec<ToolName>> = HashMap::new();
        for (task, own) in defined(&state) {
            let last = before.insert(task, own.clone()).unwrap_or_default();
            assert!(own.starts_with(&last), "{task}: {own:?} begins with {last:?}");
        }
        let long = before.values().map(Vec::len).max().unwrap();
        let all: HashSet<_> = before.values().flatten().collect();
        assert_eq!(long, all.len(), "the last tasks begin with the tools of both runs");
        assert!(state.tasks.iter().all(|task| task.defined.is_some()));
    });
}

#[test]
fn another_model_or_array_begins_without_the_tools_of_earlier_tasks() {
    let model =
        "[models.other]\nkind = \"simulated\"\nprice_in = 2.5\nprice_out = 10\nprice_cached = 0.25";
    let turn = |on| Command::TurnKnob { knob: Knob::FixTools, value: f64::from(u8::from(on)) };
    let bind = Command::BindRole { role: Role::Actor, model: "other".into() };
    for change in [vec![bind], vec![turn(false), turn(true)]] {
        on_paused_time(async move {
            let folder = tempfile::tempdir().unwrap();
            let settings = format!("price_cached = 0.25\n{model}");
            let (records, unchanged) = run(demo(priced(folder.path(), &settings)), &[]).await;
            let ends = |record: &&toolyard::domain::Record| {
                matches!(&record.event, Event::Task(TaskEvent::TaskFinished { .. }))
            };
            let at = records.iter().filter(ends).nth(19).unwrap().n;
            let commands: Vec<_> = change.iter().map(|change| (at, change.clone())).collect();
            let (_, state) = run(demo(priced(folder.path(), &settings)), &commands).await;
            let first = |state: &State, task: u32| {
                let mut own = defined(state).into_iter().filter(|(of, _)| *of == TaskId(task));
                own.next().unwrap().1.len()
            };
            assert_eq!(first(&state, 20), first(&unchanged, 20));
            assert!(first(&state, 21) < first(&unchanged, 21), "{change:?}");
        });
    }
}

/// A task keeps earlier tools as long as its first request stays within what endpoints take: 128 tools.
#[test]
fn the_tools_that_are_kept_have_a_limit() {
    on_paused_time(async {
        let folder = tempfile::tempdir().unwrap();
        let spec = SessionSpec {
            tools_total: Some(400),
            knobs: [(Knob::MenuMax, 90.0), (Knob::TopK, 80.0)].into(),
            ..priced(folder.path(), "price_cached = 0.0")
        };
        let (_, state) = run(demo(spec), &[]).await;
        let kept = state.tasks.iter().filter(|task| task.defined.is_some());
        for task in kept.clone() {
            let mut calls = state.model_calls.iter();
            let first = calls.find(|call| (call.task, call.role) == (task.id, Role::Actor));
            let tools = first.unwrap().request.tools.len();
            assert!(tools <= 128 + 1, "{}: {tools} tools and Finish", task.id);
        }
        let (kept, all) = (kept.count(), state.tasks.len());
        assert!(kept > 0 && kept < all, "{kept} of {all}");
    });
}
