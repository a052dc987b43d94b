//! How an agent takes the failure of a tool: what a session keeps of it, what is printed, the twin, and the demos.

use serde_json::Value;
use toolyard::ui::request::ScreenRequest;
use toolyard::ui::twin::TwinKind;

use crate::program::Home;
use crate::sitting::{Sitting, assert_harmless};
use crate::stage::Stage;
use crate::story;

/// What it says when it refuses with this code.
fn refused(home: &Home, arguments: &[&str], code: i32) -> String {
    let ran = home.run(arguments);
    assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
    ran.err
}

/// A session whose usual search fails from a task on; its state.
fn broken(home: &Home, more: &[&str]) -> Value {
    let fault = ["--strategy", "toolnet", "--fault", "search_web:error:from-task=6", "--fresh"];
    let run = ["run", "--tasks-limit", "30", "--journal", "j.jsonl"];
    let said = home.run(&[&run[..], &fault, more].concat()).out;
    assert!(said.contains("resilience to search_web:error:from-task=6: "), "{said}");
    serde_json::from_str(&home.succeed(&["replay", "j.jsonl", "--json"])).unwrap()
}

#[test]
fn a_session_keeps_each_task_in_short_and_tells_how_it_took_a_fault() {
    let home = Home::new();
    let state = broken(&home, &["--report", "r.json"]);
    let laps = state["laps"].as_array().unwrap();
    assert_eq!(laps.len(), 30);
    let hit = laps.iter().find(|lap| {
        let tried = lap["tried"].as_array().unwrap();
        tried.iter().any(|tried| tried["tool"] == "search_web" && tried["end"] == "injected")
    });
    assert!(hit.unwrap()["task"].as_u64().unwrap() >= 6, "not before its task");
    let tried = laps.iter().flat_map(|lap| lap["tried"].as_array().unwrap());
    let instead = tried.filter(|tried| tried["instead_of"] == "search_web");
    assert!(instead.count() > 0, "another tool is asked the same");
    assert_eq!(state["faults"]["1"]["from"], 6);
    let report: Value = serde_json::from_str(&home.read("r.json")).unwrap();
    let taken = &report["resilience"];
    assert_eq!(taken["fault"], "search_web:error:from-task=6");
    assert!(taken["taken"]["verdict"]["recovered"]["after"].as_u64().is_some(), "{taken}");
    assert!(text_of(&taken["verdict"]).starts_with("recovered after "), "{taken}");
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn a_comparison_prints_it_with_and_without_learning_and_draws_it() {
    let home = Home::new();
    let fault = ["--fault", "search_web:error:from-task=6", "--tasks-limit", "24"];
    let compare = ["compare", "resilience", "--seeds", "1", "--svg", "p.svg"];
    let said = home.succeed(&[&compare[..], &fault].concat());
    for row in ["toolnet search_web", "toolnet learn=off", "react search_web", "recovered after"] {
        assert!(said.contains(row), "{row}: {said}");
    }
    assert!(said.contains("search_web     ") && said.contains('↯'), "the strip: {said}");
    let svg = home.read("p.svg");
    assert!(svg.contains("</svg>") && svg.contains("Resilience"));
    for (wrong, says) in [
        (&["compare", "resilience", "--fault", "role:actor:error"][..], "of one tool"),
        (&["compare", "--strategies", "react", "--svg", "p.svg"], "--svg draws"),
    ] {
        assert!(refused(&home, wrong, 2).contains(says), "{wrong:?}");
    }
}

#[test]
fn sample_tools_take_their_time_at_a_speed() {
    let home = Home::new();
    let run =
        ["run", "--tasks-limit", "2", "--knob", "speed=16", "--journal", "j.jsonl", "--fresh"];
    home.succeed(&run);
    let state: Value =
        serde_json::from_str(&home.succeed(&["replay", "j.jsonl", "--json"])).unwrap();
    let calls = state["calls"].as_array().unwrap();
    assert!(!calls.is_empty());
    for call in calls {
        let took = call["ended"].as_u64().unwrap() - call["started"].as_u64().unwrap();
        assert!(took >= 200_000 / 16, "{took} µs of {call}");
    }
    assert!(refused(&home, &["run", "--knob", "pace=5"], 2).contains("replaced by speed"));
}

/// With the keys of the README: from the first frame to the verdict.
fn to_the_verdict(columns: u16, rows: u16) {
    let home = Home::new();
    let arguments = ["--strategy", "toolnet", "--knob", "speed=8", "--no-journal"];
    let mut sitting = Sitting::start(&home, columns, rows, &arguments);
    sitting.wait_header("PAUSED");
    sitting.press("0");
    sitting.press(" ");
    sitting.wait("▸search_");
    sitting.press("f");
    sitting.wait("Recovered after ");
    sitting.press("q");
    sitting.wait("Quit while");
    sitting.press("y");
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 0);
    assert_harmless(&bytes);
}

#[test]
fn four_keys_lead_to_the_verdict_on_a_small_screen() {
    to_the_verdict(80, 24);
}

#[test]
fn four_keys_lead_to_the_verdict_on_a_large_screen() {
    to_the_verdict(120, 40);
}

#[test]
fn a_twin_does_the_same_tasks_without_the_fault_and_names_its_parent() {
    let home = Home::new();
    let arguments = [
        "--strategy",
        "toolnet",
        "--knob",
        "speed=16",
        "--tasks-limit",
        "14",
        "--journal",
        "p.jsonl",
    ];
    let mut sitting = Sitting::start(&home, 120, 40, &arguments);
    sitting.wait_header("PAUSED");
    sitting.press("0 ");
    sitting.wait("▸search_");
    sitting.press("f");
    sitting.wait("↯");
    sitting.press("T");
    sitting.wait("without the fault");
    sitting.press("\r");
    sitting.wait("twin finished after 14 tasks");
    sitting.wait_header("DONE");
    sitting.wait("all tasks are done: ");
    sitting.wait("run all again");
    sitting.press("q");
    let _ = sitting.end();
    let journal = home.read("p-twin.jsonl");
    let header: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    assert_eq!(header["parent"], "p.jsonl");
    assert!(!journal.contains("FaultArmed") && journal.contains("TaskFinished"));
}

/// The demo at high speed; what it says when the screen is gone.
fn demo(name: &str) -> (Home, String) {
    let home = Home::new();
    let arguments = ["demo", name, "--speed", "16", "--unattended", "--out", "out"];
    let sitting = Sitting::start(&home, 80, 24, &arguments);
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 0, "{bytes}");
    let (_, after) = bytes.rsplit_once("\x1b[?1049l").unwrap();
    let after = after.to_owned();
    assert!(after.contains(&format!("again: toolyard demo {name}")), "{after}");
    let files: Vec<_> =
        std::fs::read_dir(home.path("out")).unwrap().map(|f| f.unwrap().path()).collect();
    for end in ["svg", "cast"] {
        let file = files.iter().find(|file| file.extension().is_some_and(|e| e == end));
        let kept = std::fs::read_to_string(file.unwrap()).unwrap();
        assert!(kept.contains("SIMULATED"), "{files:?}");
    }
    (home, after)
}

#[test]
fn the_demo_of_resilience_ends_with_its_verdict() {
    let (_home, said) = demo("resilience");
    assert!(said.contains("With learning: recovered after "), "{said}");
    assert!(said.contains("; without: not recovered: "), "{said}");
}

#[test]
fn the_demo_of_the_budget_ends_with_its_verdict() {
    let (_home, said) = demo("budget");
    assert!(
        said.contains(
            "Without a plan: right for 37 credits. With one: right for 8. With a budget of 8: right for 8."
        ),
        "{said}"
    );
}

#[test]
fn the_demo_of_workers_ends_with_its_verdict() {
    let (_home, said) = demo("workers");
    assert!(said.contains("4 of 4 right although search_web failed "), "{said}");
}

#[test]
fn the_demo_of_a_foreign_agent_ends_with_its_verdict() {
    let (_home, said) = demo("watch");
    assert!(
        said.contains("8 of 8 questions answered, although search_web failed for the model"),
        "{said}"
    );
}

#[test]
fn a_demo_whose_files_cannot_be_written_says_so_and_one_without_a_terminal_too() {
    let home = Home::new();
    home.write("file", "");
    let arguments = ["demo", "budget", "--speed", "16", "--unattended", "--out", "file/below"];
    let sitting = Sitting::start(&home, 80, 24, &arguments);
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 1, "{bytes}");
    assert!(bytes.contains("cannot write the demo's files: file/below"), "{bytes}");
    assert!(refused(&home, &["demo", "budget"], 1).contains("stdout is not a terminal"));
}

#[test]
fn demos_run_without_a_terminal_twice_the_same_and_write_only_where_they_are_asked_to() {
    let told = |name: &str| {
        let home = Home::new();
        let said = home.succeed(&["demo", name, "--speed", "16", "--unattended"]);
        let mut files = std::fs::read_dir(home.path("")).unwrap();
        assert!(files.all(|file| {
            let name = file.unwrap().file_name();
            !name.to_string_lossy().ends_with(".svg") && !name.to_string_lossy().ends_with(".cast")
        }));
        said
    };
    for name in ["resilience", "budget", "workers"] {
        let both = std::thread::scope(|scope| {
            [(); 2].map(|()| scope.spawn(|| told(name))).map(|told| told.join().unwrap())
        });
        let [said, again] = both;
        assert!(said.ends_with(&format!("again: toolyard demo {name}\n")), "{said}");
        assert_eq!(again, said);
    }
}

#[test]
fn a_person_takes_a_demo_over_with_any_key() {
    let home = Home::new();
    let mut sitting = Sitting::start(&home, 100, 30, &["demo", "resilience", "--speed", "4"]);
    sitting.wait("1/6");
    sitting.press("3");
    sitting.wait("you control the session");
    sitting.press("q");
    let (status, _) = sitting.end();
    assert_eq!(status.exit_code(), 0);
}

#[test]
fn the_first_start_offers_demos_and_a_project() {
    let home = Home::new();
    let mut sitting = Sitting::start(&home, 80, 24, &[]);
    sitting.wait("Demos: no key");
    let own = ["own model", "own tools", "question", "sessions", "samples"];
    for name in ["resilience", "budget", "workers", "watch"].into_iter().chain(own) {
        sitting.wait(name);
    }
    sitting.press("own tools\r");
    sitting.wait("Import the tools of an API");
    sitting.press("nowhere.yaml\r");
    sitting.wait("no such file: nowhere.yaml");
    sitting.press("\x1b");
    sitting.wait_for("the list", || !sitting.text().contains("nowhere.yaml"));
    sitting.press("\x15resil");
    sitting.wait("a tool breaks");
    sitting.press("\r");
    sitting.wait("1/6");
    sitting.press("q");
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 0, "{bytes}");
}

#[test]
fn a_twin_that_calls_real_models_asks_first() {
    let mut stage = Stage::of(&story::demo());
    stage.press("T enter");
    assert!(stage.shows("Run a twin of this session?"), "{}", stage.text());
    assert!(stage.shows("It calls the models"), "{}", stage.text());
    let requests = stage.press("y");
    assert_eq!(requests, [ScreenRequest::StartTwin(TwinKind::Unbroken)]);
}
