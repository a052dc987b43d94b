//! The simulated agent says only what an agent could know: retrieval reads its words, so a tool's name
//! or a result in them would decide what it is offered.

use toolyard::domain::{Event, ModelCallEvent, Role, State, Task};
use toolyard::stage::sample::Sample;
use toolyard::store::journal;

use crate::program::Home;

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

#[test]
fn no_tool_is_named_and_no_result_before_it_is_found() {
    let tools: Vec<String> = Sample::General
        .manifests()
        .unwrap()
        .iter()
        .map(|tool| tool.spec.name.to_string())
        .collect();
    for strategy in ["react+btp", "toolnet", "workers+btp"] {
        let home = Home::new();
        let run = ["run", "--journal", "j.jsonl", "--strategy", strategy, "--tasks-limit", "60"];
        home.run(&run);
        let loaded = journal::read(&home.path("j.jsonl")).unwrap();
        let mut state = State::default();
        let mut read = 0;
        for record in &loaded.records {
            state.apply(record);
            let Event::ModelCall(ModelCallEvent::ModelCallFinished { effect, reply, .. }) =
                &record.event
            else {
                continue;
            };
            let call = state.model_call(effect.id).unwrap();
            let Some(task) = state.task(call.task) else { continue };
            let said = words(call.role, &reply.text);
            if said.is_empty() || !matches!(call.role, Role::Actor | Role::Planner) {
                continue;
            }
            read += 1;
            for name in tools.iter().flat_map(|tool| forms(tool)) {
                // `calculator` is a tool, and a word.
                let in_task = task.task.text.to_lowercase().contains(&name);
                assert!(in_task || !said.contains(&name), "{strategy}: {said:?} names {name}");
            }
            let seen: String = task
                .tool_calls
                .iter()
                .filter_map(|call| state.tool_call(*call))
                .filter_map(|call| Some(call.observation()?.to_lowercase()))
                .collect();
            for finds in unknown(&task.task) {
                let is_found = seen.contains(&finds.to_lowercase());
                assert!(is_found || !said.contains(finds), "{strategy}: {said:?} knows {finds}");
            }
        }
        assert!(read > 20, "{strategy}: {read} texts");
    }
}
