//! API-Bank becomes a workspace, and the debugger runs it.

use std::{collections::HashMap, fs, path::Path};

use serde_json::Value;
use toolyard_domain::{Event, Scoring, State, Task, TaskEvent, ToolGraph};
use toolyard_lab::import::{ImportSummary, import_api_bank};
use toolyard_store::import::{ImportError, TrajectoryFormat, read_trajectories};
use toolyard_store::journal;
use toolyard_tool::builtin;
use toolyard_tool::manifest::{Loaded, Manifest, ToolSource, load_dir};

use crate::program::{Home, text};
use crate::{shared, toolyard};

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn api_bank_becomes_a_workspace_whose_calls_all_have_answers() {
    let Some(data) = shared("data/api-bank") else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("workspace");
    let imported = import_api_bank(&data, &out, false).unwrap();
    assert_eq!(imported, ImportSummary { tools: 49, tasks: 212, calls: 389, without_calls: 2 });

    let manifests = load_dir(&out.join("tools"), builtin::none).and_then(Loaded::whole).unwrap();
    assert_eq!(manifests.len(), 49);
    let tools: HashMap<_, _> =
        manifests.iter().map(|manifest| (manifest.spec.name.clone(), manifest)).collect();
    let tasks = lines(&out.join("tasks.jsonl"));
    assert_eq!(tasks.len(), 212);
    for task in tasks {
        let task: Task = serde_json::from_value(task).unwrap();
        assert!(!task.name.is_empty() && !task.text.is_empty(), "{task:?}");
        assert!(!task.chain.is_empty(), "{task:?}");
        assert!(task.gold.is_none() && task.scoring == Scoring::Calls && task.in_graph, "{task:?}");
        for step in &task.chain {
            let Manifest { spec, source, .. } = tools[&step.tools[0]];
            let schema = jsonschema::validator_for(&spec.parameters).unwrap();
            schema.validate(&step.arguments).unwrap_or_else(|error| panic!("{step:?}: {error}"));
            let ToolSource::Recorded(table) = source else { panic!("{spec:?}") };
            assert_eq!(table.answer(&step.arguments).ok(), step.finds.as_deref(), "{step:?}");
        }
    }

    let graph = fs::read_to_string(out.join("graph.json")).unwrap();
    let graph = ToolGraph::from_json(&graph).unwrap();
    let again =
        read_trajectories(TrajectoryFormat::Jsonl, [out.join("trajectories.jsonl")]).unwrap();
    assert_eq!(again.learn().unwrap(), graph);
    assert_eq!(graph.edge_count(), 110);
}

/// A dialogue folder with one good dialogue.
fn dialogue() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"role": "User", "text": "Add it for Kim, please."}
{"role": "AI", "text": "When?"}
{"role": "User", "text": "At 3."}

{"role": "API", "api_name": "Add", "param_dict": {"who": "Kim", "at": 3}, "result": {"output": {"id": 7}, "exception": null}}
{"role": "API", "api_name": "Add", "param_dict": {"who": "Kim", "at": 3}, "result": {"output": {"id": 7}, "exception": null}}
{"role": "API", "api_name": "Drop", "param_dict": {}, "result": {"output": null, "exception": "no such id"}}
{"role": "User", "text": "Thanks."}
"#;
    fs::create_dir(folder.path().join("deep")).unwrap();
    fs::write(folder.path().join("deep/add-1.jsonl"), text).unwrap();
    folder
}

#[test]
fn dialogues_alone_are_enough() {
    let (folder, out) = (dialogue(), tempfile::tempdir().unwrap());
    let imported = import_api_bank(folder.path(), out.path(), false).unwrap();
    assert_eq!(imported, ImportSummary { tools: 2, tasks: 1, calls: 3, without_calls: 0 });
    let task: Task =
        serde_json::from_value(lines(&out.path().join("tasks.jsonl"))[0].clone()).unwrap();
    assert_eq!(task.name, "add-1");
    assert_eq!(task.text, "Add it for Kim, please.\nAt 3.");
    assert_eq!((task.gold.as_deref(), task.scoring), (None, Scoring::Calls));
    // The same call twice is one line of the table; a failed call is recorded as failed.
    let add = lines(&out.path().join("tools/Add.answers.jsonl"));
    assert_eq!(
        add,
        [serde_json::json!({"arguments": {"who": "Kim", "at": 3}, "result": "{\"id\":7}"})]
    );
    let drop = lines(&out.path().join("tools/Drop.answers.jsonl"));
    assert_eq!(drop, [serde_json::json!({"arguments": {}, "error": "no such id"})]);
}

#[test]
fn an_import_never_buries_other_files() {
    let (folder, out) = (dialogue(), tempfile::tempdir().unwrap());
    fs::write(out.path().join("thesis.tex"), "years of work").unwrap();
    let refused = import_api_bank(folder.path(), out.path(), false);
    assert!(matches!(refused, Err(ImportError::Occupied(_))), "{refused:?}");
    import_api_bank(folder.path(), out.path(), true).unwrap();
    // Now it is a workspace, so it can be brought up to date; what is not the import's stays.
    fs::write(out.path().join("tools/mine.toml"), "mine").unwrap();
    import_api_bank(folder.path(), out.path(), false).unwrap();
    assert_eq!(fs::read_to_string(out.path().join("thesis.tex")).unwrap(), "years of work");
    assert_eq!(fs::read_to_string(out.path().join("tools/mine.toml")).unwrap(), "mine");
    let hidden = fs::read_dir(out.path().join("tools")).unwrap();
    assert!(hidden.flatten().all(|entry| !entry.file_name().to_string_lossy().starts_with('.')));
}

#[test]
fn a_tool_cannot_name_its_way_out_of_the_workspace() {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text =
        r#"{"role": "API", "api_name": "../../x", "param_dict": {}, "result": {"output": 1}}"#;
    fs::write(folder.path().join("d.jsonl"), text).unwrap();
    let error = import_api_bank(folder.path(), out.path(), false).unwrap_err().to_string();
    assert!(error.contains(r#"tool "../../x": expected a name"#), "{error}");
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

/// Another dialogue with its own order of calls.
const OTHER: &str = r#"{"role": "User", "text": "Drop number 7, then add Lee at 4."}
{"role": "API", "api_name": "Drop", "param_dict": {"id": 7}, "result": {"output": "success", "exception": null}}
{"role": "API", "api_name": "Add", "param_dict": {"who": "Lee", "at": 4}, "result": {"output": "success", "exception": null}}
"#;

#[test]
fn dialogues_are_scored_by_their_calls_and_no_task_is_served_by_its_own() {
    let (folder, home) = (dialogue(), Home::new());
    fs::write(folder.path().join("other-1.jsonl"), OTHER).unwrap();
    let out = home.path("bank");
    import_api_bank(folder.path(), &out, false).unwrap();
    let run =
        ["run", "--workspace", "bank", "--fresh", "--journal", "j.jsonl", "--report", "r.json"];
    let ran = toolyard(&home, &run);
    assert!(ran.code < 2, "{ran:?}");
    let records = journal::read(&home.path("j.jsonl")).unwrap().records;
    let mut state = State::default();
    let (mut during, mut after) = (Vec::new(), Vec::new());
    for record in &records {
        state.apply(record);
        let has = state.learning.graph.has_edge("Drop", "Add");
        match &record.event {
            Event::Task(TaskEvent::TaskStarted { .. }) => during.push(has),
            Event::Task(TaskEvent::TaskFinished { .. }) => after.push(has),
            _ => {}
        }
    }
    // Only the second dialogue goes from Drop to Add.
    assert_eq!((during, after), (vec![true, false], vec![true, true]));
    let report = home.json("r.json");
    for task in report["tasks"].as_array().unwrap() {
        let score = &task["call_score"];
        let (right, expected) =
            (score["right"].as_u64().unwrap(), score["expected"].as_u64().unwrap());
        assert_eq!(task["correct"], right == expected, "{task}");
        assert!(task.get("gold").is_none_or(Value::is_null), "{task}");
    }
    assert_eq!(report["tasks"][0]["call_score"]["expected"], 3);
    assert_eq!(report["quality"]["calls"]["expected"], 5);
    assert_eq!(report["totals"]["with_gold"], 2);
}

#[test]
fn an_answer_that_only_says_success_is_no_success() {
    let (folder, home) = (dialogue(), Home::new());
    fs::write(folder.path().join("other-1.jsonl"), OTHER).unwrap();
    import_api_bank(folder.path(), &home.path("bank"), false).unwrap();
    let run = [
        "run",
        "--workspace",
        "bank",
        "--strategy",
        "direct",
        "--fresh",
        "--no-journal",
        "--report",
        "r.json",
    ];
    let ran = toolyard(&home, &run);
    assert!(ran.out.contains("calls: 0 of 5 reference calls made"), "{ran:?}");
    assert_eq!(home.json("r.json")["totals"]["correct"], 0);
}

#[test]
fn all_of_api_bank_runs() {
    let Some(data) = shared("data/api-bank") else { return };
    let home = Home::new();
    let out = home.succeed(&["import", "api-bank", text(&data), "--out", "bank"]);
    assert!(out.contains("49 tools, 212 tasks"), "{out}");
    let session = ["run", "--workspace", "bank", "--report", "r.json", "--state", "s.json"];
    let ran = toolyard(&home, &[&session[..], &["--journal", "j.jsonl"]].concat());
    assert!(ran.code < 2, "{ran:?}");
    let report = home.json("r.json");
    let tasks = report["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 212);
    assert!(tasks.iter().all(|task| task["outcome"].is_string()), "every task ends");
    let answered = report["totals"]["answered"].as_u64().unwrap();
    let correct = report["totals"]["correct"].as_u64().unwrap();
    // Where no word of a task matches the right tool, the agent is not offered it.
    assert!(answered >= 170 && correct >= 170, "{answered} answered, {correct} right");
    assert_eq!(
        toolyard(&home, &["replay", "j.jsonl", "--json", "--full"]).out,
        home.read("s.json")
    );
}
