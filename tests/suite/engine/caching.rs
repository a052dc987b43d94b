//! Requests of one task begin alike, so that an endpoint's prompt cache helps.

use std::collections::HashSet;

use toolyard::app::session::SessionSpec;
use toolyard::domain::{Event, Knob, MenuReason, Role, State, TaskEvent, TaskId, ToolName};

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

/// Where an endpoint has a cache, the requests of a task begin with the tools of the tasks before, and say its menu.
#[test]
fn the_tools_of_earlier_tasks_are_kept_where_that_costs_less() {
    on_paused_time(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let (mut sums, prices) = (Vec::new(), ["price_cached = 0.25", ""]);
        for cached in prices {
            let text = "[models.simulated]\nkind = \"simulated\"\nprice_in = 2.5\nprice_out = 10\n";
            std::fs::write(&path, format!("{text}{cached}\n")).unwrap();
            let config = Some(path.clone());
            let spec = SessionSpec { config, max_dollars: Some(100.0), ..spec("toolnet") };
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
