//! The real program without a screen, as a script uses it: what it prints and writes, and how it ends.

use std::{fs::File, process::Stdio};

use serde_json::{Value, json};
use toolyard::domain::{Event, Record, SessionEvent, State};
use toolyard::store::journal;

use crate::program::{Home, Ran};

mod call;
mod describe;
mod embedding;
mod experience;
mod failing;
mod foreign;
mod graph;
mod habits;
mod help;
mod init;
mod journals;
mod killed;
mod log;
mod models;
mod plan;
mod printed;
mod probe;
mod prompts;
mod reading;
mod reaped;
mod report;
mod resuming;
mod sessions;
mod workspace;
mod wrong;

/// A line of a journal or of what `--json` prints, but for when it happened.
fn timeless(mut event: Value) -> Value {
    event["at"] = json!(0);
    event
}

#[test]
fn every_event_is_a_line_of_json_and_a_line_of_the_journal() {
    let home = Home::new();
    let ran = home.run(&["run", "--tasks-limit", "4", "--json", "--journal", "j.jsonl"]);
    // 1: not every task was answered.
    assert!(ran.code < 2 && ran.err.is_empty(), "{ran:?}");
    let lines = ran.lines();
    for (n, line) in (1..).zip(&lines) {
        assert_eq!(line["n"], n, "{line}");
        assert!(line["at"].is_u64() && line["kind"].is_string(), "{line}");
    }
    assert_eq!(lines[0]["kind"], "SessionOpened");
    assert_eq!(lines.last().unwrap()["kind"], "SessionEnded");
    let loaded = journal::read(&home.path("j.jsonl")).unwrap();
    let events = loaded.records.iter().map(|record| serde_json::to_value(record).unwrap());
    assert_eq!(events.collect::<Vec<_>>(), lines, "the journal and the output tell the same");
}

#[test]
fn a_replay_is_equal_to_the_session_byte_for_byte() {
    let home = Home::new();
    for (strategy, fault) in [
        ("toolnet", "search_web:error:from-task=2"),
        ("react+reflexion", "calculator:garbage:p=0.5"),
        ("direct", "search_web:timeout"),
    ] {
        let journal = format!("{strategy}.jsonl");
        let session = ["run", "--strategy", strategy, "--fault", fault, "--tasks-limit", "6"];
        let kept =
            ["--seed", "11", "--journal", &journal, "--state", "s.json", "--report", "r.json"];
        assert!(home.run(&[&session[..], &kept].concat()).code < 2);
        let replayed = home.succeed(&["replay", &journal, "--json", "--report", "again.json"]);
        assert_eq!(replayed, home.read("s.json"), "{strategy}");
        assert_eq!(home.read("again.json"), home.read("r.json"), "{strategy}");

        let records = journal::read(&home.path(&journal)).unwrap().records;
        for at in [1, records.len() / 3, records.len() - 1, records.len()] {
            let state = State::fold(&records[..at]);
            let then = home.succeed(&["replay", &journal, "--at", &at.to_string(), "--json"]);
            assert_eq!(then, serde_json::to_string_pretty(&state).unwrap() + "\n", "at {at}");
        }
    }
}

#[test]
fn one_seed_gives_one_session_and_another_seed_another() {
    let home = Home::new();
    let events = |seed: &str| -> Vec<Value> {
        // A session begins with what is remembered of those before.
        let limit =
            ["run", "--json", "--no-journal", "--fresh", "--tasks-limit", "25", "--seed", seed];
        home.run(&limit).lines().into_iter().map(timeless).collect()
    };
    let first = events("3");
    assert_eq!(first, events("3"));
    // The first event names the seed.
    assert_ne!(first[1..], events("4")[1..]);
}

#[test]
fn the_report_has_all_that_a_script_asks_for() {
    let home = Home::new();
    let faulty = ["--fault", "search_web:error", "--fault", "calculator:latency:ms=1"];
    let session = ["run", "--tasks-limit", "12", "--report", "r.json", "--no-journal"];
    home.run(&[&session[..], &faulty].concat());
    let report = home.json("r.json");
    let tasks = report["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 12);
    for task in tasks {
        for field in ["task", "answer", "gold", "correct", "outcome"] {
            assert!(task.get(field).is_some(), "{field} is missing in {task}");
        }
        for field in ["steps", "calls", "tokens_in", "tokens_out", "cost"] {
            assert!(task[field].is_number(), "{field} is no number in {task}");
        }
    }
    assert!(report["scores"].as_object().unwrap().values().all(Value::is_number));
    let history = report["score_history"].as_object().unwrap();
    assert!(
        history["search_web"].as_array().unwrap().iter().all(|point| {
            point[0].as_u64().is_some_and(|task| task <= 12) && point[1].is_number()
        })
    );
    let edges = report["edges"].as_array().unwrap();
    assert!(!edges.is_empty());
    for edge in edges {
        assert!(edge["from"].is_string() && edge["to"].is_string(), "{edge}");
        assert!(edge["prior"].is_number() && edge["weight"].is_number(), "{edge}");
    }
    let faults = report["faults"].as_array().unwrap();
    assert_eq!(faults[0]["fault"], "search_web:error");
    assert!(faults[0]["fired"].as_u64().unwrap() > 0, "{faults:?}");
    assert!(report["scores"]["search_web"].as_f64().unwrap() < 0.0, "{}", report["scores"]);
}

#[test]
fn tasks_come_from_a_text_a_file_or_the_samples_over_again() {
    let home = Home::new();
    let asked = |arguments: &[&str]| -> Vec<String> {
        let quick = ["run", "--strategy", "direct", "--report", "r.json", "--no-journal"];
        home.run(&[&quick, arguments].concat());
        let report = home.json("r.json");
        let tasks = report["tasks"].as_array().unwrap().iter();
        tasks.map(|task| task["task"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(asked(&["--task", "What is 17 times 23?"]), ["What is 17 times 23?"]);
    home.write("t.txt", "What is 2 plus 2?\n\nWho wrote The Salt Garden?\n");
    home.write("t.jsonl", "{\"task\": \"What is 3 plus 3?\", \"gold\": 6}\n");
    home.write("t.toml", "[[task]]\ntext = \"What is 4 plus 4?\"\ngold = 8\n");
    assert_eq!(asked(&["--tasks", "t.txt"]), ["What is 2 plus 2?", "Who wrote The Salt Garden?"]);
    assert_eq!(asked(&["--tasks", "t.jsonl"]), ["What is 3 plus 3?"]);
    assert_eq!(asked(&["--tasks", "t.toml", "--tasks-limit", "3"]), ["What is 4 plus 4?"; 3]);
    let all = asked(&[]);
    assert!(all.len() >= 60, "{}", all.len());
    let over_again = asked(&["--tasks-limit", &(all.len() + 5).to_string()]);
    assert_eq!(over_again[..all.len()], all);
    assert_eq!(over_again[all.len()..], all[..5]);
}

#[test]
fn the_exit_code_says_how_it_went() {
    let home = Home::new();
    let quiet = ["run", "--no-journal", "--tasks-limit", "2"];
    assert_eq!(home.run(&quiet).code, 0);
    let out_of_steps = ["--knob", "max_steps=1"];
    let ran = home.run(&[&quiet[..], &out_of_steps].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("out of steps"), "{ran:?}");
    let ran = home.run(&["run", "--nonsense"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--nonsense") && ran.out.is_empty(), "{ran:?}");
    assert!(home.succeed(&["--help"]).contains("Run tasks without a screen"));
    assert!(home.succeed(&["--version"]).starts_with("toolyard "));
}

#[test]
fn what_a_person_sees_says_that_the_model_is_simulated() {
    let home = Home::new();
    let out = home.succeed(&["run", "--no-journal", "--tasks-limit", "2", "--seed", "8"]);
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[0].contains("SIMULATED model") && lines[0].contains("seed 8"), "{out}");
    assert!(lines[1].contains("answered"), "{out}");
    assert!(lines.last().unwrap().contains("2 of 2 answered"), "{out}");
}

#[test]
fn a_reader_that_goes_away_stops_the_session_which_may_cost_money() {
    let home = Home::new();
    for json in [true, false] {
        let _ = std::fs::remove_file(home.path("j.jsonl"));
        let pace = ["--knob", "speed=16", "--tasks-limit", "60"];
        let run = ["run", "--report", "r.json", "--journal", "j.jsonl"];
        let json = if json { &["--json"][..] } else { &[] };
        let mut command = home.command(&[&run[..], &pace, json].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 128 + 13, "{ran:?}");
        assert!(ran.err.contains("output closed (pipe): session stopped"));
        let records = journal::read(&home.path("j.jsonl")).unwrap().records;
        let Event::Session(SessionEvent::SessionEnded { why, .. }) = &records.last().unwrap().event
        else {
            panic!("{:?}", records.last())
        };
        assert_eq!(why, "output closed (pipe)");
        let report = home.json("r.json");
        let ended = report["tasks"].as_array().unwrap().iter();
        assert!(ended.filter(|task| !task["outcome"].is_null()).count() < 5);
    }
    home.run(&["run", "--tasks-limit", "1", "--journal", "k.jsonl"]);
    for arguments in [&["keys"][..], &["replay", "k.jsonl", "--json"], &["doctor"]] {
        let mut command = home.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}");
    }
}

#[test]
fn output_that_is_lost_is_a_failure() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("SKIPPED: this test needs /dev/full");
        return;
    }
    let home = Home::new();
    let run = ["run", "--no-journal", "--tasks-limit", "2", "--json"];
    for arguments in [&run[..], &run[..4], &["keys"], &["doctor"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran::of(home.command(arguments).stdout(full).output().unwrap());
        assert_eq!(ran.code, 1, "{arguments:?}: {ran:?}");
    }
}

#[test]
fn a_report_can_go_into_a_pipe() {
    let home = Home::new();
    let run = ["run", "--no-journal", "--tasks-limit", "1", "--report", "/dev/stderr"];
    let ran = home.run(&run);
    let report: Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(report["tasks"][0]["outcome"], "answered");
    assert!(std::path::Path::new("/dev/stderr").is_symlink(), "a device was replaced by a file");
}

#[test]
fn a_record_reads_as_it_was_written() {
    let home = Home::new();
    let ran = home.run(&["run", "--json", "--no-journal", "--tasks-limit", "3"]);
    for line in ran.out.lines() {
        let record = Record::read(line.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), line);
    }
}

#[test]
fn a_session_runs_again_from_its_journal() {
    let home = Home::new();
    let first = ["run", "--strategy", "workers+btp", "--seed", "3", "--tasks-limit", "5"];
    let first = home.run(&[&first[..], &["--fresh", "--json", "--journal", "a.jsonl"]].concat());
    let again = ["run", "--recorded", "a.jsonl", "--fresh", "--json", "--no-journal"];
    let again = home.run(&again);
    let data = |ran: &Ran| -> Vec<Value> {
        let bare = |mut line: Value| {
            line["at"].take();
            if let Some(effect) = line["data"].get_mut("effect").and_then(Value::as_object_mut) {
                effect.remove("origin");
            }
            line
        };
        ran.lines().into_iter().map(bare).collect()
    };
    assert!(first.out.lines().count() > 50 && again.out.contains("\"origin\":\"recorded\""));
    assert_eq!(data(&first), data(&again), "seed, strategy and tasks are the journal's");
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_the_first_task() {
    let home = Home::new();
    std::fs::create_dir(home.path("folder")).unwrap();
    home.write("file", "");
    for place in ["folder", "no/r.json", "file/r.json", "/proc/r.json"] {
        for option in ["--report", "--state"] {
            let ran =
                home.run(&["run", "--tasks-limit", "1", "--journal", "j.jsonl", option, place]);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{option} {place}: {ran:?}");
            assert!(ran.err.contains(place), "{ran:?}");
            assert!(!home.path("j.jsonl").exists(), "{option} {place}: the session was started");
        }
    }
}

#[test]
fn a_journal_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.run(&["run", "--tasks-limit", "1", "--journal", "j.jsonl"]);
    let mode = home.path("j.jsonl").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_picture_in_a_broken_theme_is_refused() {
    let home = Home::new();
    home.run(&["run", "--tasks-limit", "1", "--journal", "j.jsonl"]);
    home.write("broken.toml", "[styles]\ntext = { fg = \"no colour\" }\n");
    home.write("not.toml", "[styles");
    for theme in ["broken.toml", "not.toml", "none.toml", "drak"] {
        let ran = home.run(&["shot", "j.jsonl", "--out", "s.svg", "--theme", theme]);
        assert_eq!(ran.code, 2, "{theme}: {ran:?}");
        assert!(ran.err.contains(theme) && !home.path("s.svg").exists(), "{ran:?}");
    }
}

#[test]
fn no_character_that_a_terminal_obeys_is_printed() {
    let home = Home::new();
    let risky = "\u{9b}31m\u{202e}evil\u{7f}\u{2066}";
    home.write("w/tools/a.toml", "name = \"a\"\ndescription = \"d\"\n\"k\\u001b[2J\" = 1\n");
    home.write("t.txt", risky);
    let run = ["run", "--strategy", "direct", "--tasks", "t.txt", "--json", "--journal", "j.jsonl"];
    let ran = home.run(&[&run[..], &["--state", "s.json", "--report", "r.json"]].concat());
    let replayed = home.succeed(&["replay", "j.jsonl", "--json"]);
    assert_eq!(replayed, home.read("s.json"));
    assert!(replayed.contains("\\u009b31m\\u202eevil\\u007f\\u2066"), "{replayed}");
    let doctor = ["doctor", "--workspace", "w"];
    let [plain, json] = [&doctor[..], &[&doctor[..], &["--json"]].concat()].map(|it| home.run(it));
    assert!(plain.out.contains("k␛[2J"), "{plain:?}");
    let files = ["j.jsonl", "s.json", "r.json"].map(|name| home.read(name));
    for text in [ran.out, replayed, plain.out, plain.err, json.out].iter().chain(&files) {
        let risky = |c: char| c != '\n' && c.is_control() || "\u{202e}\u{2066}".contains(c);
        assert!(!text.contains(risky), "{text:?}");
    }
}

#[test]
fn any_number_of_tasks_is_queued_in_parts() {
    let home = Home::new();
    let limited = "ulimit -v 4000000; toolyard run --strategy direct --no-journal --fresh --json";
    let ran = home.shell(&format!("{limited} --tasks-limit 100000000 | head -n 300"));
    let lines = ran.lines();
    assert_eq!(lines.len(), 300, "{}", ran.err);
    let queued = lines.iter().find(|line| line["kind"] == "TasksQueued").unwrap();
    assert_eq!(queued["data"]["tasks"].as_array().unwrap().len(), 1000);

    let direct = ["run", "--strategy", "direct", "--tasks-limit", "1003", "--fresh"];
    let kept = ["--journal", "j.jsonl", "--report", "r.json"];
    home.run(&[&direct[..], &kept].concat());
    assert_eq!(home.json("r.json")["tasks"].as_array().unwrap().len(), 1003);
    let again = ["run", "--recorded", "j.jsonl", "--fresh", "--no-journal", "--report", "s.json"];
    home.run(&again);
    assert_eq!(home.json("s.json")["tasks"], home.json("r.json")["tasks"]);
}
