//! The film sample: its chains hold, and programs with faults are repaired by what they are told.

use std::collections::BTreeSet;

use serde_json::Value;
use toolyard::app::session::{JournalChoice, SessionHandle, SessionSpec};
use toolyard::domain::{Base, BlamedBy, Knob, Message, Reflect, Role, State, Strategy};
use toolyard::report::Report;
use toolyard::stage::builtin;
use toolyard::stage::sample::Sample;
use toolyard::tool::{Invocation, ToolBox};

#[tokio::test]
async fn every_chain_leads_to_the_gold_answer() {
    let tools = ToolBox::from_manifests(Sample::Films.manifests().unwrap());
    for task in Sample::Films.tasks().unwrap() {
        let mut taken = String::new();
        for step in &task.chain {
            for tool in &step.tools {
                tools.check(tool.as_str(), &step.arguments).unwrap();
                let invocation = Invocation { arguments: step.arguments.clone(), seed: 0 };
                let tool = tools.get(tool.as_str()).unwrap();
                let result = tool.call(&invocation).await.unwrap().text;
                let result: Value = serde_json::from_str(&result).unwrap();
                let value = step.takes.as_ref().unwrap().of(&result);
                taken = match value {
                    Some(Value::String(text)) => text.clone(),
                    value => value.map(Value::to_string).unwrap_or_default(),
                };
                assert_eq!(step.finds.as_ref(), Some(&taken), "{}", task.name);
            }
        }
        assert_eq!(task.gold, Some(taken), "{}", task.name);
    }
}

#[test]
fn the_embedded_files_are_all_of_the_folder() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/sample-tools/films");
    let loaded = toolyard::tool::manifest::load_dir(folder.as_ref(), builtin::read)
        .and_then(toolyard::tool::manifest::Loaded::whole)
        .unwrap();
    let embedded = Sample::Films.manifests().unwrap();
    let names = |all: &[toolyard::tool::manifest::Manifest]| -> BTreeSet<String> {
        all.iter().map(|manifest| manifest.spec.name.to_string()).collect()
    };
    assert_eq!(names(&loaded), names(&embedded));
}

#[test]
fn with_a_budget_plan_a_program_gets_the_functions_that_it_lacks() {
    let state = played("atc+btp".parse().unwrap(), Reflect::Attribute, 1);
    let asked =
        |state: &State| state.tasks.iter().map(|task| task.model_calls.len()).sum::<usize>();
    let programs = state.tasks.iter().map(|task| task.programs.len()).sum::<usize>();
    assert!(programs < asked(&state), "no function was ever missing");
    assert!(right(&state) >= 14, "{}", right(&state));
}

fn solved(reflect: Reflect, seed: u64) -> State {
    played(Base::Atc.into(), reflect, seed)
}

/// The last state of a session on all film tasks.
fn played(strategy: Strategy, reflect: Reflect, seed: u64) -> State {
    crate::processes::with_reaper();
    let spec = SessionSpec {
        strategy: Some(strategy),
        seed: Some(seed),
        journal: JournalChoice::None,
        fresh: true,
        knobs: [(Knob::Reflect, reflect as usize as f64)].into(),
        ..SessionSpec::default()
    };
    let SessionHandle { engine, commands, records, .. } = spec.prepare().unwrap().spawn().unwrap();
    let state = engine.join().unwrap();
    drop((commands, records));
    state
}

fn right(state: &State) -> usize {
    Report::of(state).totals.correct
}

#[test]
fn what_a_finding_tells_decides_how_many_are_repaired() {
    let (mut off, mut naive, mut attribute) = (0, 0, 0);
    let mut kinds = BTreeSet::new();
    let (mut flow, mut failures, mut revisions) = (0, 0, 0);
    for seed in 0..8 {
        off += right(&solved(Reflect::Off, seed));
        naive += right(&solved(Reflect::Naive, seed));
        let state = solved(Reflect::Attribute, seed);
        attribute += right(&state);
        for program in state.tasks.iter().flat_map(|task| &task.programs) {
            kinds.extend(program.error().map(|error| error.kind.clone()));
            let Some(blamed) = &program.blamed else { continue };
            failures += 1;
            flow += usize::from(blamed.by == BlamedBy::Flow);
        }
        revisions += revisions_with_the_document_of_the_blamed_tool(&state);
    }
    assert!(off < naive && naive < attribute, "{off}, {naive}, {attribute}");
    assert!(kinds.len() >= 4, "{kinds:?}");
    assert!(failures > 20 && flow * 100 >= failures * 95, "{flow} of {failures}");
    assert!(revisions > 20, "{revisions}");
}

/// Checks what each request after a blamed failure says; how many there were.
fn revisions_with_the_document_of_the_blamed_tool(state: &State) -> usize {
    let mut revisions = 0;
    for task in &state.tasks {
        let asked = task.model_calls.iter().filter_map(|call| state.model_call(*call));
        let asked = asked.filter(|call| call.role == Role::Programmer).skip(1);
        for (program, ask) in task.programs.iter().zip(asked) {
            let Some(tool) = program.blamed.as_ref().and_then(|blamed| blamed.tool.as_ref()) else {
                continue;
            };
            let last = ask.request.messages.last().map(Message::text).unwrap_or_default();
            assert!(last.contains(&format!("\ndef {tool}(")), "{last}");
            revisions += 1;
        }
    }
    revisions
}
