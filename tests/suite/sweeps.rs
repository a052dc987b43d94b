//! `toolyard sweep`: the same answers in whatever way it runs, and errors before anything runs.

use std::fs;

use crate::program::Home;
use crate::swept::Swept;

#[test]
fn it_has_the_same_answers_shared_hurried_and_cut_short() {
    Swept::new(5, 2).has_the_same_answers(&[150, 400, 700]);
}

#[test]
fn two_runs_of_one_folder_share_the_jobs() {
    let sweep = Swept::new(4, 2);
    let whole = sweep.table("whole", &[]);
    let both = [sweep.start("both", &[]), sweep.start("both", &[])];
    for child in both {
        let ran = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), whole.0.as_str());
    }
    assert_eq!(sweep.results("both"), 16, "none was written twice, and nothing else is there");
}

#[test]
fn points_are_judged_against_the_present_one() {
    let home = Home::new();
    let over = ["sweep", "--over", "alpha=0,0.5,1", "--strategy", "toolnet", "--seeds", "0..5"];
    let session = ["--tasks-limit", "12", "--out", "kept", "--json"];
    let ran = home.run(&[&over[..], &session].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let all: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let points = all["sweep"]["points"].as_array().unwrap();
    let now: Vec<_> = points.iter().map(|point| point["is_now"] == true).collect();
    assert_eq!(now, [false, true, false], "{all:#}");
    for point in points {
        let at = |name: &str| point["value"][name].as_f64().unwrap();
        assert!(at("low") <= at("mean") && at("mean") <= at("high"), "{point:#}");
        // The session of a seed is that of `toolyard run`.
        let alpha = point["at"]["alpha"].as_str().unwrap();
        let mut right = 0.0;
        for seed in ["0", "1", "2", "3", "4", "5"] {
            let knob = format!("alpha={alpha}");
            let run = ["run", "--fresh", "--leak-guard", "--no-journal", "--report", "r.json"];
            let with = ["--strategy", "toolnet", "--knob", &knob, "--seed", seed];
            home.run(&[&run[..], &with, &["--tasks-limit", "12"]].concat());
            right += home.json("r.json")["totals"]["correct"].as_f64().unwrap() / 12.0 / 6.0;
        }
        assert!((at("mean") - 100.0 * right).abs() < 1e-9, "{alpha}: {right} and {point:#}");
    }
    assert!(points[1]["against_now"].is_null() && points[0]["against_now"]["seeds"] == 6);
}

/// A workspace whose tasks anybody can change.
fn own(home: &Home, answer: &str) {
    fs::create_dir_all(home.path("own/tools")).unwrap();
    let task = format!("{{\"text\":\"What is 2 + 2?\",\"gold\":\"{answer}\"}}\n");
    home.write("own/tasks.jsonl", task);
}

#[test]
fn another_content_is_another_result() {
    let home = Home::new();
    own(&home, "4");
    let sweep =
        ["sweep", "--over", "alpha=0,1", "--seeds", "2", "--out", "kept", "--workspace", "own"];
    let first = home.run(&sweep);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(!first.err.contains("other settings"), "{first:?}");
    own(&home, "5");
    let second = home.run(&sweep);
    assert_eq!(second.code, 0, "{second:?}");
    assert!(second.err.contains("kept also has 4 results of other settings"), "{second:?}");
    let third = home.run(&[&sweep[..], &["--tasks-limit", "1"]].concat());
    assert!(third.err.contains("4 results of other settings"), "one task is all: {third:?}");
    // A result that nobody wrote like this.
    let results: Vec<_> = fs::read_dir(home.path("kept")).unwrap().flatten().collect();
    for result in results.iter().filter(|file| file.path().is_file()) {
        fs::write(result.path(), "{\"means\": 3}").unwrap();
    }
    let broken = home.run(&sweep);
    assert_eq!(broken.code, 2, "{broken:?}");
    assert!(broken.err.contains(".json") && broken.err.contains("remove the file"), "{broken:?}");
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let home = Home::new();
    home.write("s.toml", "strategy = \"react\"\ntasks_limit = 1\n[expect]\nright = 1\n");
    for (arguments, says) in [
        ("--over alhpa=1", "did you mean `alpha`"),
        ("--over modle=a", "did you mean `model`"),
        ("--over alpha=0..1/1000000000", "1,000,000,000 values of alpha are too many"),
        ("--over alpha=0..1/40000 --over tau=0..1/25000", "5,000,000,000 sessions are too many"),
        ("--over alpha=1 --over tau=0 --over beta=1", "one or two --over"),
        ("--over alpha=0 --over alpha=1", "--over alpha is given twice"),
        ("--over alpha=0,1 --shard 1/2 --csv s.csv", "cannot be used with"),
        ("--over beta=3", "beta takes"),
        ("--over model=nope", "no model \"nope\""),
        ("--over alpha=0,1 --shard 4/3", "I from 1 to N"),
        ("--over alpha=0,1 --seeds 0", "from 1 to 10000"),
        ("--over alpha=0,1 --measure passed", "needs a --scenario"),
        ("--over alpha=0,1 --scenario s.toml --strategy react", "leave out the others"),
        ("--over alpha=0,1 --scenario gone.toml", "gone.toml"),
        ("--over alpha=0,1 --from gone.jsonl:7", "gone.jsonl"),
        ("--over alpha=0,1 --no-journal", "--out keeps the journals"),
        ("--over alpha=0,1 --csv no/such/folder.csv", "no/such"),
    ] {
        let words: Vec<_> = arguments.split_whitespace().collect();
        let ran = home.run(&[&["sweep", "--out", "kept"], &words[..]].concat());
        assert_eq!(ran.code, 2, "{arguments}: {ran:?}");
        assert!(ran.err.contains(says), "{arguments}: {ran:?}");
        assert!(!home.path("kept").exists(), "{arguments}: something ran");
    }
}

#[test]
fn sessions_begin_at_a_moment_with_seeds_of_their_own() {
    let home = Home::new();
    let run = ["run", "--strategy", "toolnet", "--tasks-limit", "8", "--journal", "j.jsonl"];
    home.run(&run);
    let from = ["sweep", "--over", "alpha=0,0.5,1", "--from", "j.jsonl:60", "--seeds", "4"];
    let faulty = ["--fault", "search_web:error:p=0.5", "--csv", "s.csv", "--out"];
    let one = home.run(&[&from[..], &faulty, &["one", "--jobs", "1"]].concat());
    let first = home.read("s.csv");
    let four = home.run(&[&from[..], &faulty, &["four", "--jobs", "4"]].concat());
    assert_eq!((one.code, &one.out, &first), (0, &four.out, &home.read("s.csv")), "{four:?}");
    let rows: Vec<Vec<&str>> =
        first.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 12);
    assert!(rows.iter().all(|row| row[2] < "8"), "tasks before the moment do not count: {first}");
    let calls: std::collections::BTreeSet<_> = rows.iter().map(|row| row[5]).collect();
    assert!(calls.len() > 3, "seeds differ: {first}");
}
