//! Whether an agent says only what an agent could know.

use std::collections::BTreeSet;

use toolyard::domain::{Event, ModelCallEvent, Record, Role, State, Task};
use toolyard::stage::sample::Sample;

/// What a retriever reads: thoughts of the actor, and the needs that a planner names.
fn words(role: Role, text: &str) -> String {
    let lines = text.lines().filter(|line| role == Role::Actor || line.starts_with("Lacking:"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A name in the forms in which a text may have it.
fn forms(name: &str) -> [String; 2] {
    [name.to_owned(), name.replace('_', " ")]
}

/// The results of a task's steps which are not in its text, and so must be found.
fn unknown(task: &Task) -> impl Iterator<Item = &str> {
    let finds = task.chain.iter().filter_map(|step| step.finds.as_deref());
    finds.filter(|finds| finds.len() > 3 && !task.text.contains(*finds))
}

/// Asserts that the actor and the planner of a session name no tool, and call only tools that are offered to them; and
/// that they use no result before a tool has returned it.
pub fn assert_honest(who: &str, records: &[Record]) {
    let manifests = Sample::General.manifests().unwrap();
    let tools: Vec<String> = manifests.iter().map(|tool| tool.spec.name.to_string()).collect();
    let mut state = State::default();
    let mut read = 0;
    for record in records {
        state.apply(record);
        let Event::ModelCall(ModelCallEvent::ModelCallFinished { effect, reply, .. }) =
            &record.event
        else {
            continue;
        };
        let call = state.model_call(effect.id).unwrap();
        let Some(task) = state.task(call.task) else { continue };
        if !matches!(call.role, Role::Actor | Role::Planner) {
            continue;
        }
        let offered: BTreeSet<_> = call.request.tools.iter().map(|tool| &tool.name).collect();
        for made in &reply.calls {
            let allowed = &call.request.allowed;
            let may = allowed.is_empty() || allowed.contains(&made.tool);
            assert!(offered.contains(&made.tool) && may, "{who} calls {}", made.tool);
        }
        let said = words(call.role, &reply.text);
        for name in tools.iter().flat_map(|tool| forms(tool)) {
            // `calculator` is a tool, and a word.
            let in_task = task.task.text.to_lowercase().contains(&name);
            assert!(in_task || !said.contains(&name), "{who}: {said:?} names {name}");
        }
        let values: Vec<_> = reply.calls.iter().map(|made| made.arguments.to_string()).collect();
        let all = format!("{said} {}", values.concat());
        if all.trim().is_empty() {
            continue;
        }
        read += 1;
        let seen: String = task
            .tool_calls
            .iter()
            .filter_map(|call| state.tool_call(*call))
            .filter_map(|call| Some(call.observation()?.to_lowercase()))
            .collect();
        for finds in unknown(&task.task) {
            let is_found = seen.contains(&finds.to_lowercase());
            assert!(is_found || !all.contains(finds), "{who}: {all:?} knows {finds}");
        }
    }
    assert!(read > 20, "{who}: {read} texts");
}
