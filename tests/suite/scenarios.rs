//! Scenarios: sessions as files that are run and checked, and that the screen saves.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use toolyard::app::scenario::{Expectations, Observed, ScenarioFile};
use toolyard::domain::{
    EffectClass, EffectId, EffectRef, FaultEvent, FaultId, Origin, Task, ToolCallEvent,
};
use toolyard::files::toml_file::Problems;
use toolyard::ui::request::ScreenRequest;

use crate::program::{Home, text};
use crate::sitting::Sitting;
use crate::stage::Stage;
use crate::story::{self, Story};

mod called;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Three tasks of the demo; the second expectation does not hold.
const FAILING: &str = "strategy = \"react\"\nseed = 1\ntasks_limit = 3\nfresh = true\n
[expect]\nright = 3\ncalls = 2\nholds = [\"done == 3\"]\n";

fn passing(name: &str) -> String {
    format!(
        "name = \"{name}\"\nstrategy = \"direct\"\ntasks_limit = 1\nfresh = true\n[expect]\nmodel_calls = 9\n"
    )
}

fn refused(path: &Path) -> Option<Problems> {
    match ScenarioFile::load(path) {
        Ok(file) => file.prepare(|_| {}).err(),
        Err(problems) => Some(problems),
    }
}

#[test]
fn every_bad_scenario_is_refused_with_its_phrase() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("tests/data/bad-scenarios")).unwrap() {
        let path = entry.unwrap().path();
        let written = fs::read_to_string(&path).unwrap();
        let phrase =
            written.lines().next().and_then(|line| line.strip_prefix("# expect: ")).unwrap();
        let said = refused(&path).unwrap_or_else(|| panic!("{} was taken", path.display()));
        let said = said.to_string();
        assert!(said.contains(phrase), "{}: expected {phrase:?} in\n{said}", path.display());
        assert!(said.starts_with(text(&path)), "{said}");
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn all_mistakes_of_a_file_are_said_at_once_in_the_order_of_its_lines() {
    let home = Home::new();
    let text = "seed = -1\nmodle = 3\n[expect]\nholds = [\"done > \", \"dnoe > 1\"]\nrigth = 1\n";
    home.write("s.toml", text);
    let ran = home.run(&["run", "--scenario", "s.toml"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    let places = ran.err.trim_start_matches("toolyard: ").lines();
    let places: Vec<&str> =
        places.filter_map(|line| line.split_once(": ").map(|(at, _)| at)).collect();
    let lines = ["s.toml:1", "s.toml:2", "s.toml:4", "s.toml:4", "s.toml:5"];
    assert_eq!(places, lines, "{}", ran.err);
    // A caret is below the place in an expression.
    assert!(ran.err.contains("  dnoe > 1\n  ^"), "{}", ran.err);
}

#[test]
fn nothing_runs_if_one_of_the_files_cannot_be_read() {
    let home = Home::new();
    home.write("good.toml", passing("same"));
    home.write("twin.toml", passing("same"));
    home.write("empty.toml", "");
    home.write("latin.toml", b"about = \"caf\xe9\"\n");
    fs::create_dir(home.path("folder")).unwrap();
    for (name, says) in [
        ("none.toml", "none.toml: no such file; expected the file of a scenario"),
        ("folder", "folder: no scenario (*.toml) is in this folder"),
        ("empty.toml", "empty.toml:1: expects nothing"),
        ("latin.toml", "latin.toml:1: not UTF-8"),
        ("twin.toml", "twin.toml: the name \"same\" is that of good.toml, too"),
        ("good.toml", "good.toml: the name \"same\" is that of good.toml, too"),
    ] {
        let ran = home.run(&["run", "--scenario", "good.toml", name, "--no-journal"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}: {ran:?}");
        assert!(ran.err.contains(says), "{name}: {ran:?}");
        let json = home.run(&["run", "--json", "--scenario", "good.toml", name]);
        assert_eq!((json.code, json.lines().len()), (2, 1), "{json:?}");
    }
}

#[test]
fn each_expectation_is_told_and_the_exit_code_says_whether_all_hold() {
    let home = Home::new();
    home.write("failing.toml", FAILING);
    home.write("passing.toml", passing("good"));
    let run = ["run", "--no-journal", "--scenario", "failing.toml", "passing.toml"];
    let ran = home.run(&run);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{ran:?}");
    let is_told = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let is_head = |line: &&str| line.starts_with("scenario ") || line.contains("passed");
    let told: Vec<&str> = ran.out.lines().filter(|line| is_told(line) || is_head(line)).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    scenario failing (failing.toml)
      ok: at least 3 tasks right: 3 of 3
      FAILED: at most 2 tool calls: 4 tool calls
      ok: done == 3: true
    scenario failing FAILED: 2 of 3 expectations met
    scenario good (passing.toml)
      ok: at most 9 model calls: 1 model call
    scenario good passed: 1 of 1 expectation met
    1 of 2 scenarios passed
    ");
    let ran = home.run(&["run", "--no-journal", "--scenario", "passing.toml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn json_has_a_line_for_each_verdict_between_the_events() {
    let home = Home::new();
    home.write("failing.toml", FAILING);
    home.write("passing.toml", passing("good"));
    let run = ["run", "--json", "--no-journal", "--scenario", "failing.toml", "passing.toml"];
    let lines = home.run(&run).lines();
    let verdicts: Vec<_> = lines.iter().filter(|line| !line["scenario"].is_null()).collect();
    assert_eq!(verdicts.len(), 2);
    let failed = &verdicts[0]["scenario"];
    assert_eq!((&failed["name"], &failed["passed"]), (&json!("failing"), &json!(false)));
    let second =
        json!({"expected": "at most 2 tool calls", "held": false, "found": "4 tool calls"});
    assert_eq!(failed["expectations"][1], second);
    assert_eq!(verdicts[1]["scenario"]["passed"], true);
    assert_eq!(lines.last().unwrap(), &json!({"scenarios": {"passed": 1, "all": 2}}));
    let ends = lines.iter().filter(|line| line["kind"] == "SessionEnded").count();
    assert_eq!(ends, 2);
}

#[test]
fn junit_is_written_whether_the_scenarios_pass_or_not() {
    let home = Home::new();
    home.write("failing.toml", FAILING);
    home.write("j.xml", "old");
    let run = ["run", "--no-journal", "--scenario", "failing.toml", "--junit"];
    let ran = home.run(&[&run[..], &["j.xml"]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    let xml = home.read("j.xml");
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites"), "{xml}");
    for part in [
        "tests=\"3\" failures=\"1\" errors=\"0\"",
        "<testsuite name=\"failing\"",
        "<testcase name=\"at most 2 tool calls\" classname=\"failing\" time=\"0.000\">",
        "<failure message=\"4 tool calls\" type=\"expectation\">",
    ] {
        assert!(xml.contains(part), "{part} is not in\n{xml}");
    }
    fs::create_dir(home.path("folder")).unwrap();
    for place in ["folder", "no/j.xml"] {
        let ran = home.run(&[&run[..], &[place]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{place}: {ran:?}");
    }
    assert_eq!(xml.matches("<testcase").count(), 3, "{xml}");
    // A fault that hits nothing is printed and counted, too.
    home.write("idle.toml", format!("faults = [\"rot13:error\"]\n{FAILING}"));
    let ran = home.run(&["run", "--no-journal", "--scenario", "idle.toml", "--junit", "i.xml"]);
    let skipped = "  skipped: the fault rot13:error hits a call: could not hit anything";
    assert!(ran.out.contains(skipped), "{ran:?}");
    let summary = "scenario idle FAILED: 2 of 4 expectations met, 1 skipped";
    assert!(ran.out.contains(summary), "{ran:?}");
    assert_eq!(home.read("i.xml").matches("<testcase").count(), 4, "{}", home.read("i.xml"));
    let ran = home.run(&["run", "--junit", "j.xml"]);
    assert!(ran.code == 2 && ran.err.contains("--scenario"), "{ran:?}");
}

/// A scenario whose tool fails by chance.
const VARYING: &str = "strategy = \"toolnet\"\nseed = 3\ntasks_limit = 6\n\
    faults = [\"search_web:error:p=0.6\"]\n\n[expect]\nright = 6\n";

#[test]
fn repeats_give_a_share_and_are_the_same_whatever_the_number_of_workers() {
    let home = Home::new();
    home.write("s.toml", VARYING);
    let run = |more: &[&str]| {
        let run = ["run", "--scenario", "s.toml", "--no-journal", "--repeat", "5"];
        home.run(&[&run[..], more].concat())
    };
    let one = run(&["--jobs", "1", "--junit", "j.xml"]);
    assert_eq!(one.code, 1, "{one:?}");
    let share = "scenario s FAILED: 3 of 5 runs passed (23 to 88 %)";
    assert!(one.out.contains(share) && one.out.contains("\n  seed 7 "), "{one:?}");
    assert_eq!(run(&["--jobs", "4"]).out, one.out);
    let xml = home.read("j.xml");
    assert!(xml.matches("<testsuite ").count() == 5 && xml.contains("s (seed 4)"), "{xml}");
    // Each run is the session of its seed.
    for line in one.out.lines().filter_map(|line| line.strip_prefix("  seed ")) {
        let (seed, rest) = line.split_once(' ').unwrap();
        let alone = home.run(&["run", "--scenario", "s.toml", "--no-journal", "--seed", seed]);
        assert_eq!(alone.code == 0, rest.starts_with("passed"), "{seed}: {alone:?}");
    }
    for (least, code) in [("\"60%\"", 0), ("3", 0), ("\"61%\"", 1), ("4", 1)] {
        home.write("s.toml", format!("{VARYING}at_least = {least}\n"));
        assert_eq!(run(&[]).code, code, "{least}");
    }
    let json = run(&["--json"]);
    let lines: Vec<Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 7, "{json:?}");
    assert_eq!(
        (&lines[5]["repeats"]["passed"], &lines[6]["scenarios"]["all"]),
        (&3.into(), &1.into())
    );
}

#[test]
fn a_folder_stands_for_its_scenarios() {
    let home = Home::new();
    fs::create_dir(home.path("all")).unwrap();
    for name in ["b", "a"] {
        home.write(&format!("all/{name}.toml"), passing(name));
    }
    home.write("all/notes.txt", "no scenario");
    let ran = home.run(&["run", "--no-journal", "--scenario", "all", "--jobs", "2"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let (a, b) = (ran.out.find("scenario a ("), ran.out.find("scenario b ("));
    assert!(a.is_some() && a < b && ran.out.ends_with("2 of 2 scenarios passed\n"), "{ran:?}");
    fs::create_dir(home.path("none")).unwrap();
    let ran = home.run(&["run", "--scenario", "none"]);
    assert!(ran.code == 2 && ran.err.contains("none: no scenario (*.toml)"), "{ran:?}");
    home.write("bare.toml", "[expect]\nat_least = 3\n");
    let ran = home.run(&["run", "--scenario", "bare.toml"]);
    assert!(ran.code == 2 && ran.err.contains("expects nothing"), "{ran:?}");
    let ran = home.run(&["run", "--repeat", "3"]);
    assert!(ran.code == 2 && ran.err.contains("--scenario"), "{ran:?}");
}

#[test]
fn options_override_a_scenario_or_are_refused() {
    let home = Home::new();
    home.write("s.toml", passing("s"));
    let run = ["run", "--scenario", "s.toml"];
    let ran =
        home.run(&[&run[..], &["--seed", "8", "--max-dollars", "2", "--no-journal"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("SIMULATED model, seed 8\n"), "{ran:?}");
    let ran = home.run(&[&run[..], &["--model", "nobody"]].concat());
    assert!(ran.code == 2 && ran.err.contains("s.toml: model: no model \"nobody\""), "{ran:?}");
    for option in ["--fresh", "--tasks-limit=3", "--strategy=react", "--fault=a:error", "--state=s"]
    {
        let ran = home.run(&[&run[..], &[option]].concat());
        assert!(ran.code == 2 && ran.err.contains("cannot be used with"), "{option}: {ran:?}");
    }
}

#[test]
fn paths_of_a_scenario_start_at_its_folder() {
    let home = Home::new();
    home.write("deep/w/tasks.txt", "What is 17 times 23?\n");
    home.write(
        "deep/w/tools/a.toml",
        "name = \"a\"\ndescription = \"d\"\neffect = \"read\"\n[source]\ncommand = [\"true\"]\n",
    );
    let head = "workspace = \"w\"\nstrategy = \"direct\"\njournal.file = \"j.jsonl\"\n";
    home.write("deep/s.toml", format!("{head}[expect]\ncalls = 0\nnot_used = [\"a\"]\n"));
    let ran = home.run(&["run", "--scenario", "deep/s.toml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("direct on deep/w") && home.path("deep/j.jsonl").exists(), "{ran:?}");
}

#[test]
fn a_session_that_ends_early_is_a_failed_scenario() {
    let home = Home::new();
    // Nobody listens at this port.
    let model =
        "[models.mine]\nkind = \"openai\"\nurl = \"http://127.0.0.1:9/v1\"\nmodel = \"x\"\n";
    home.write("c.toml", format!("{model}retries = 0\n[roles]\ndefault = \"mine\"\n"));
    home.write("s.toml", format!("config = \"c.toml\"\n{}", passing("s")));
    home.write("t.toml", passing("t"));
    let run = ["run", "--no-journal", "--scenario", "s.toml", "t.toml", "--junit", "j.xml"];
    let ran = home.run(&run);
    assert_eq!(ran.code, 1, "{ran:?}");
    let why = "  FAILED: the session runs to its end: a model is unusable: mine";
    assert!(ran.out.contains(why), "{ran:?}");
    assert!(ran.out.ends_with("1 of 2 scenarios passed\n"), "the next one runs: {ran:?}");
    assert!(home.read("j.xml").contains("<error message=\"a model is unusable: mine"));
}

#[test]
fn a_signal_ends_the_whole_run() {
    let home = Home::new();
    home.write("long.toml", "strategy = \"direct\"\ntasks_limit = 1000000\n[expect]\nright = 1\n");
    home.write("next.toml", passing("next"));
    let run = ["run", "--no-journal", "--scenario", "long.toml", "next.toml"];
    let mut child =
        home.command(&run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut seen = String::new();
    while !seen.contains("answered") {
        assert!(out.read_line(&mut seen).unwrap() > 0, "{seen}");
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    out.read_to_string(&mut seen).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    let end: Vec<&str> = seen.lines().rev().take(3).collect();
    assert_eq!(end[0], "0 of 2 scenarios passed");
    assert!(end[2].contains("the session runs to its end: ended by signal 15"), "{end:?}");
}

#[test]
fn the_examples_pass() {
    let home = Home::new();
    let folder = root().join("examples/scenarios");
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    assert!(files.len() >= 3, "{files:?}");
    let files = files.iter().map(|path| text(path));
    let run: Vec<&str> = ["run", "--no-journal", "--scenario"].into_iter().chain(files).collect();
    let out = home.succeed(&run);
    assert!(!out.contains("FAILED"), "{out}");
}

/// A write that was requested, started and ended, and what its outcome was.
fn write(
    story: &mut Story,
    observed: &mut Observed,
    arguments: serde_json::Value,
    origin: Origin,
    fires: bool,
) {
    let id = EffectId(story.state().effects_requested() as u32 + 1);
    let effect = EffectRef::new(id, EffectClass::Write);
    let tool = "book".into();
    story.tell(ToolCallEvent::ToolCallRequested {
        effect,
        task: toolyard::domain::TaskId(1),
        step: 1,
        tool,
        arguments,
        evidence: None,
        by: toolyard::domain::By::Engine,
        wire_id: None,
    });
    story.tell(ToolCallEvent::ToolCallStarted { effect });
    let effect = effect.from(origin);
    if fires {
        story.tell(FaultEvent::FaultFired { fault: FaultId(1), effect });
    }
    let error = toolyard::domain::ToolError::new(toolyard::domain::ToolErrorKind::Failed, "no");
    story.tell(ToolCallEvent::ToolCallFailed { effect, error });
    observed.take(story.state(), story.records.last().unwrap());
}

#[test]
fn only_writes_that_were_really_made_count_as_repeated() {
    let begun = |fault: &str| {
        let mut story = Story::open();
        story.join([story::tool("book", "", 1.0)]).queue(&[("t", None)]).start(1);
        let spec = fault.parse().unwrap();
        story.tell(FaultEvent::FaultArmed {
            fault: FaultId(1),
            spec,
            by: toolyard::domain::By::User,
        });
        story
    };
    // How the first and the second call of the same arguments come to their end, and the repetitions.
    for (fault, first, second, repeats) in [
        ("book:error", Origin::Live, Origin::Live, 1),
        ("book:error", Origin::Injected, Origin::Live, 0),
        ("book:timeout", Origin::Live, Origin::Injected, 0),
        ("book:latency:ms=5", Origin::Injected, Origin::Live, 1),
        ("book:reset", Origin::Injected, Origin::Live, 1),
        ("book:error", Origin::Recorded, Origin::Live, 0),
        ("book:error", Origin::Person, Origin::Person, 0),
    ] {
        let (mut story, mut observed) = (begun(fault), Observed::new(&Expectations::default()));
        let orders = [json!({"room": "a", "day": 1}), json!({"day": 1, "room": "a"})];
        for (arguments, origin) in orders.into_iter().zip([first, second]) {
            write(&mut story, &mut observed, arguments, origin, origin == Origin::Injected);
        }
        write(&mut story, &mut observed, json!({"room": "b", "day": 1}), Origin::Live, false);
        assert_eq!(observed.repeats, repeats, "{fault}: {first:?}, {second:?}");
        assert_eq!(observed.repeated.len() as u64, repeats);
    }
}

#[test]
fn a_repeated_write_fails_a_scenario() {
    let home = Home::new();
    let examples = root().join("examples/scenarios/bookings");
    let mut copy = std::process::Command::new("cp");
    let copied = copy.args(["-R", text(&examples), text(&home.path("w"))]).status();
    assert!(copied.unwrap().success());
    // The same task twice books the same room twice.
    let session = "workspace = \"w\"\nstrategy = \"react\"\ntasks_limit = 2\nfresh = true\n";
    home.write("s.toml", format!("{session}[expect]\nwrites_once = true\n"));
    let ran = home.run(&["run", "--no-journal", "--scenario", "s.toml"]);
    let says = "FAILED: no write is repeated: 1 repetition: book_room {\"day\":\"2026-12-01\",\"room\":\"N12\"}";
    assert!(ran.code == 1 && ran.out.contains(says), "{ran:?}");
}

#[test]
fn one_key_saves_the_session_and_what_is_saved_passes() {
    let mut stage = Stage::of(&story::demo());
    assert_eq!(stage.press("ctrl-s"), [ScreenRequest::SaveScenario]);
    let mut begins = Stage::of(Story::open().queue(&[("t", None)]));
    assert_eq!(begins.press("ctrl-s"), []);
    assert!(begins.shows("no task has ended yet"), "{}", begins.text());

    let home = Home::new();
    let faults = ["--fault", "search_web:error:from-task=2", "--knob", "alpha=0.7"];
    let session = ["run", "--strategy", "toolnet", "--tasks-limit", "6", "--seed", "3", "--fresh"];
    home.run(&[&session[..], &faults, &["--journal", "j.jsonl"]].concat());
    let mut sitting = Sitting::start(&home, 120, 40, &["replay", "j.jsonl"]);
    // Not before all events are read.
    sitting.wait("all tasks are done");
    for number in ["1", "2"] {
        sitting.press("\u{13}");
        sitting.wait(&format!("-{number}.toml"));
    }
    sitting.press("q");
    assert_eq!(sitting.end().0.exit_code(), 0);
    let saved = fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().path());
    let is_saved = |path: &PathBuf| text(path).contains("/scenario-");
    let mut saved: Vec<PathBuf> = saved.filter(is_saved).collect();
    saved.sort();
    assert_eq!(saved.len(), 2, "{saved:?}");
    let written = fs::read_to_string(&saved[0]).unwrap();
    for part in [
        "strategy = \"toolnet\"\nseed = 3\ntasks_limit = 6\n",
        "faults = [\"search_web:error:from-task=2\"]\n",
        "[knobs]\nalpha = 0.7\n",
        "[expect]\nanswered = ",
    ] {
        assert!(written.contains(part), "{part} is not in\n{written}");
    }
    let out = home.succeed(&["run", "--no-journal", "--scenario", text(&saved[0])]);
    assert!(out.ends_with("1 of 1 scenario passed\n"), "{out}");
}

#[test]
fn a_session_on_the_screen_is_saved_without_a_journal() {
    let home = Home::new();
    home.write("t.toml", "[[task]]\ntext = \"What is 17 times 23?\"\ngold = 391\n");
    let arguments = ["--no-journal", "--strategy", "react", "--tasks", "t.toml"];
    let mut sitting = Sitting::start(&home, 100, 30, &arguments);
    sitting.wait_header("PAUSED");
    sitting.press("))))) ");
    sitting.wait_header("DONE");
    sitting.press("\u{13}");
    sitting.wait("scenario saved: ");
    sitting.press("q");
    let _ = sitting.end();
    let name = fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().path());
    let name = name.into_iter().find(|path| text(path).contains("/scenario-")).unwrap();
    let scenario = ScenarioFile::load(&name).unwrap().scenario;
    assert_eq!(scenario.session.tasks_limit, Some(1));
    assert!(home.run(&["run", "--no-journal", "--scenario", text(&name)]).code == 0);
}

#[test]
fn a_task_that_follows_on_can_be_in_a_scenario() {
    let task = Task::from_text("What is 2 plus 2?").followed_by("And 3?", "4");
    let line = serde_json::to_string(&task).unwrap();
    assert_eq!(toolyard::store::tasks::parse_jsonl("t.jsonl", &line).unwrap(), [task]);
}
