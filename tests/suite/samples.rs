//! The sample world holds together: every reference chain really finds what it says, with the usual
//! tool and with its backup, and the noisy tools are as bad as they should be.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};
use toolyard::domain::{ChainStep, Lexical, Task};
use toolyard::papers::grading::is_correct;
use toolyard::stage::builtin;
use toolyard::stage::sample::Sample;
use toolyard::tool::{Invocation, ToolBox, ToolErrorKind, manifest};

fn tools() -> ToolBox {
    crate::processes::with_reaper();
    ToolBox::from_manifests(Sample::General.manifests().unwrap())
}

/// A checked call, as the engine makes it.
async fn call(tools: &ToolBox, name: &str, arguments: &Value, seed: u64) -> Result<String, String> {
    tools.check(name, arguments).map_err(|error| format!("{name}: {error}"))?;
    let invocation = Invocation { arguments: arguments.clone(), seed };
    let tool = tools.get(name).ok_or_else(|| format!("{name}: no such tool"))?;
    let output = tool.call(&invocation).await.map_err(|error| format!("{name}: {error}"))?;
    Ok(output.text)
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/sample-tools"))
}

fn is_search(step: &ChainStep) -> bool {
    step.tools[0].as_str() == "search_web"
}

#[test]
fn the_embedded_set_is_the_one_in_the_folder() {
    let embedded = Sample::General.manifests().unwrap();
    let loaded =
        manifest::load_dir(folder(), builtin::read).and_then(manifest::Loaded::whole).unwrap();
    let specs =
        |list: &[manifest::Manifest]| -> Vec<_> { list.iter().map(|m| m.spec.clone()).collect() };
    assert_eq!(specs(&embedded), specs(&loaded));
    let tasks = toolyard::store::tasks::load(&folder().join("world/tasks.toml")).unwrap();
    assert_eq!(Sample::General.tasks().unwrap(), tasks);
}

#[test]
fn there_is_enough_of_everything() {
    let tools = tools();
    let classes: BTreeSet<_> = tools.specs().map(|spec| spec.class.clone()).collect();
    assert_eq!(classes, BTreeSet::from(["Information Retrieval".into(), "Task Completion".into()]));
    assert!(tools.len() >= 16, "{}", tools.len());
    for spec in tools.specs() {
        assert!(spec.cost.is_some_and(|cost| (1.0..=10.0).contains(&cost)), "{}", spec.name);
        assert!(!spec.examples.is_empty() && spec.description.len() > 30, "{}", spec.name);
    }
    let tasks = Sample::General.tasks().unwrap();
    let searching = tasks.iter().filter(|task| task.chain.iter().any(is_search)).count();
    assert!(tasks.len() >= 60, "{}", tasks.len());
    assert!((0.5..0.7).contains(&(searching as f64 / tasks.len() as f64)), "{searching}");
    let hops: BTreeSet<_> = tasks.iter().map(|task| task.chain.len()).collect();
    assert_eq!(hops, BTreeSet::from([1, 2, 3, 4]));
}

#[test]
fn searches_come_evenly_so_that_any_stretch_of_tasks_shows_them() {
    let tasks = Sample::General.tasks().unwrap();
    let searches = |tasks: &[Task]| tasks.iter().filter(|t| t.chain.iter().any(is_search)).count();
    for stretch in tasks.windows(10) {
        assert!((5..=7).contains(&searches(stretch)), "{}", stretch[0].name);
    }
}

#[tokio::test]
async fn every_chain_leads_to_the_gold_answer() {
    let tools = tools();
    let mut wrong = Vec::new();
    for task in Sample::General.tasks().unwrap() {
        let mut last = String::new();
        for step in &task.chain {
            let finds = step.finds.as_deref().unwrap();
            // The usual tool, and the backup where it is a search: both must find.
            let good = if is_search(step) { &step.tools[..2] } else { &step.tools[..1] };
            for tool in good {
                let text = call(&tools, tool.as_str(), &step.arguments, 7).await;
                if !text.as_ref().is_ok_and(|text| text.contains(finds)) {
                    wrong.push(format!("{}: {tool} {finds:?} not in {text:?}", task.name));
                }
                last = text.unwrap_or_default();
            }
        }
        let finds = task.chain.last().and_then(|step| step.finds.as_deref()).unwrap();
        let gold = task.gold.as_deref().unwrap();
        if !is_correct(finds, gold) && !is_correct(&last, gold) {
            wrong.push(format!("{}: {gold:?} does not follow from {finds:?}", task.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn the_words_of_the_question_itself_mostly_find_too() {
    let tools = tools();
    let tasks = Sample::General.tasks().unwrap();
    let single: Vec<_> =
        tasks.iter().filter(|t| t.chain.len() == 1 && is_search(&t.chain[0])).collect();
    let mut found = 0;
    for task in &single {
        let text = call(&tools, "search_web", &json!({ "query": task.text }), 0).await.unwrap();
        found += usize::from(text.contains(task.chain[0].finds.as_deref().unwrap()));
    }
    assert!(found * 10 >= single.len() * 9, "{found} of {}", single.len());
}

#[tokio::test]
async fn the_noisy_tools_are_as_bad_as_they_claim_to_be_good() {
    let tools = tools();
    for tool in ["search_archive", "lookup_index"] {
        let key = if tool == "search_archive" { "query" } else { "title" };
        let text = call(&tools, tool, &json!({ key: "Lumenport" }), 0).await.unwrap();
        assert_eq!(text, "Nothing found");
    }
    let sum = json!({ "expression": "17 * 23" });
    let mut lucky = 0;
    let mut answers = BTreeSet::new();
    let mut failures = 0;
    for seed in 0..500 {
        let made_up = call(&tools, "calculator_lite", &sum, seed).await.unwrap();
        lucky += usize::from(made_up == "391");
        answers.insert(made_up);
        failures += usize::from(call(&tools, "math_service", &sum, seed).await.is_err());
    }
    assert!(lucky <= 2 && answers.len() > 400, "{lucky} {}", answers.len());
    assert!((150..250).contains(&failures), "{failures}");
    let again = call(&tools, "calculator_lite", &sum, 3).await;
    assert_eq!(again, call(&tools, "calculator_lite", &sum, 3).await, "one seed, one answer");
}

#[tokio::test(start_paused = true)]
async fn the_slow_one_is_right_and_slow() {
    let started = tokio::time::Instant::now();
    let text = call(&tools(), "national_library", &json!({ "title": "Vetraluce" }), 0).await;
    assert!(text.unwrap().contains("1610"));
    assert!(started.elapsed() >= std::time::Duration::from_millis(600));
}

/// ToolNet's first menu is the top of a retrieval; what a task needs must be in it.
/// The words of a text, in lower case.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[test]
fn no_example_of_a_tool_is_like_a_task() {
    let tools = tools();
    let tasks = Sample::General.tasks().unwrap();
    for spec in tools.specs() {
        for (example, task) in spec.examples.iter().flat_map(|e| tasks.iter().map(move |t| (e, t)))
        {
            let (one, other) = (words(example), words(&task.text));
            let (common, all) = (one.intersection(&other).count(), one.union(&other).count());
            assert!(common * 2 < all, "{}: {example:?} is like {:?}", spec.name, task.text);
        }
    }
}

#[test]
fn retrieval_mostly_offers_what_a_task_begins_with() {
    let tools = tools();
    let index = Lexical::new(tools.specs().map(|spec| &**spec));
    let mut missed = Vec::new();
    let tasks = Sample::General.tasks().unwrap();
    for task in &tasks {
        let offered: Vec<_> = index.search(&task.text).take(6).collect();
        let needed = if is_search(&task.chain[0]) { 2 } else { 1 };
        for tool in &task.chain[0].tools[..needed] {
            if !offered.iter().any(|(name, _)| *name == tool) {
                missed.push(format!("{}: {tool} not in {offered:?}", task.name));
            }
        }
    }
    assert!(missed.len() * 3 <= 2 * tasks.len(), "{} missed\n{}", missed.len(), missed.join("\n"));
}

#[tokio::test]
async fn the_program_among_them_runs_here() {
    let text = call(&tools(), "rot13", &json!({ "text": "Uvyqr Tneenpx, 1924!" }), 0).await;
    assert_eq!(text.as_deref(), Ok("Hilde Garrack, 1924!"));
}

#[test]
fn arguments_are_checked_and_a_missing_tool_is_named() {
    let tools = tools();
    let error = tools.check("search_web", &json!({ "query": 7 })).unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Arguments);
    assert_eq!(error.text, "arguments.query: expected string, got 7");
    let error = tools.check("serch_web", &json!({})).unwrap_err();
    assert_eq!(error.text, "there is no tool \"serch_web\"; the nearest name is \"search_web\"");
}

#[test]
fn every_question_has_a_trajectory() {
    let trajectories = Sample::General.trajectories().unwrap();
    assert_eq!(trajectories.len(), Sample::General.tasks().unwrap().len());
    let known: BTreeSet<_> = tools().specs().map(|spec| spec.name.clone()).collect();
    for trajectory in &trajectories {
        assert!(trajectory.tools.iter().all(|tool| known.contains(tool)), "{trajectory:?}");
    }
}

#[test]
fn no_article_reads_as_a_failure() {
    // What looks for failures in results looks for such phrases.
    for file in ["places", "people", "works", "things"] {
        let text = fs::read_to_string(folder().join(format!("world/{file}.toml"))).unwrap();
        for phrase in ["not found", "nothing found", "no results", "no entry"] {
            assert!(!text.to_lowercase().contains(phrase), "{file}: {phrase}");
        }
    }
}
