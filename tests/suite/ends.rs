//! How a session ends, and is kept in bounds, where its files or its terminal go away below it.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::program::{Home, Ran};
use crate::sitting::Sitting;

/// A second, and what a busy machine takes beside it.
const SECOND: Duration = Duration::from_millis(2_000);

/// Takes a journal away in a way, and what is said then.
type Loss = (fn(&Home), &'static str);

const LOSSES: [Loss; 3] = [
    (|home| fs::remove_file(home.path("j.jsonl")).unwrap(), "the file was deleted or renamed"),
    (
        |home| {
            home.write("other", "x\n");
            fs::rename(home.path("other"), home.path("j.jsonl")).unwrap();
        },
        "another file has this name now",
    ),
    (|home| home.write("j.jsonl", ""), "the file was cut to "),
];

#[test]
fn a_journal_that_is_gone_ends_a_run_at_once() {
    for (lose, why) in LOSSES {
        let home = Home::new();
        let mut command = home.command(&["run", "--journal", "j.jsonl", "--knob", "speed=2"]);
        let child =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = child.spawn().unwrap();
        while fs::metadata(home.path("j.jsonl")).map_or(0, |about| about.len()) < 3_000 {
            sleep(Duration::from_millis(20));
        }
        lose(&home);
        let start = Instant::now();
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert!(start.elapsed() < SECOND, "{:?}", start.elapsed());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("j.jsonl: ") && ran.err.contains(why), "{ran:?}");
        assert!(ran.err.contains("the session ended because the journal cannot be written"));
    }
}

#[test]
fn a_journal_that_is_gone_is_said_on_a_screen_that_waits() {
    let (lose, why) = LOSSES[0];
    let home = Home::new();
    let mut sitting = Sitting::start(&home, 120, 40, &["--journal", "j.jsonl"]);
    sitting.wait_header("PAUSED");
    lose(&home);
    let start = Instant::now();
    sitting.wait_header("INTERRUPTED");
    sitting.wait(&format!("session interrupted: j.jsonl: {why}"));
    assert!(start.elapsed() < SECOND, "{:?}", start.elapsed());
    sitting.press("q");
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 1);
    assert!(bytes.rsplit_once("\x1b[?1049l").unwrap().1.contains(why), "{bytes}");
}

#[test]
fn a_workspace_that_is_deleted_is_not_made_again() {
    let home = Home::new();
    home.write(
        "w/tools/echo.toml",
        "name = \"echo\"\ndescription = \"Takes its folder away.\"\neffect = \"read\"\n[source]\n\
         command = [\"sh\", \"-c\", \"rm -r ../../w; echo gone\"]\nenv = [\"PATH\"]\ncwd = \".\"\n",
    );
    let task = serde_json::json!({ "task": "Use echo.", "chain": [{ "tools": ["echo"], "arguments": {} }] });
    home.write("w/tasks.jsonl", format!("{task}\n"));
    home.write("c.toml", "[models.simulated]\nkind = \"simulated\"\nskill = 1.0\n");
    let run =
        ["run", "--config", "c.toml", "--workspace", "w", "--no-journal", "--strategy", "react"];
    let ran = home.run(&run);
    assert!(!home.path("w").exists(), "{ran:?}");
    assert!(ran.out.contains("could not save what was learned: the folder w is gone"), "{ran:?}");
}

#[test]
fn a_terminal_that_does_not_read_holds_neither_the_session_nor_its_end() {
    let home = Home::new();
    let arguments = ["--journal", "j.jsonl", "--knob", "speed=16"];
    let mut sitting = Sitting::start(&home, 120, 40, &arguments);
    sitting.wait_header("PAUSED");
    sitting.press(" ");
    sitting.wait_header("RUNNING");
    sitting.hold(true);
    // The system's buffer for a terminal is full by then.
    sleep(Duration::from_secs(4));
    let length = || fs::metadata(home.path("j.jsonl")).unwrap().len();
    let before = length();
    sitting.wait_for("the session to go on", || length() > before);
    sitting.press("qy");
    let took = sitting.until_end();
    assert!(took < SECOND, "{took:?}");
    sitting.hold(false);
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 0);
    assert!(bytes.ends_with("journal: j.jsonl\r\n"), "{:?}", &bytes[bytes.len() - 200..]);
    let kept = home.succeed(&["replay", "j.jsonl", "--json"]);
    assert!(kept.contains("\"mode\": \"ended\""), "the session ended properly");
}

#[test]
fn an_unset_terminal_is_a_dumb_one() {
    for name in [None, Some("")] {
        let home = Home::new();
        let program = env!("CARGO_BIN_EXE_toolyard");
        let set = name.map_or("unset TERM".to_owned(), |name| format!("TERM='{name}'"));
        let line = format!("{set}; exec {program} --journal k.jsonl");
        let (status, bytes) = Sitting::of(&home, 80, 24, &["sh", "-c", &line], &[]).end();
        assert_eq!(status.exit_code(), 1, "{bytes}");
        assert!(bytes.contains("TERM is not set") && bytes.contains("toolyard run"), "{bytes:?}");
        assert!(!bytes.contains('\u{1b}') && !home.path("k.jsonl").exists(), "{bytes:?}");
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_no_death() {
    let home = Home::new();
    let ran = home.shell("ulimit -f 120; toolyard run --json --journal j.jsonl > /dev/null");
    assert_eq!(ran.code, 1, "{ran:?}");
    let ran = home.shell("ulimit -f 1; toolyard keys > keys.md");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("cannot write to standard output: File too large"), "{ran:?}");
    home.write(
        "w/tools/ask.toml",
        "name = \"ask\"\ndescription = \"Says what is ignored.\"\neffect = \"read\"\n[source]\n\
         command = [\"sh\", \"-c\", \"grep SigIgn /proc/self/status\"]\nenv = [\"PATH\"]\n",
    );
    let asked = home.succeed(&["tools", "call", "ask", "--workspace", "w"]);
    let ignored =
        asked.split_whitespace().last().and_then(|bits| u64::from_str_radix(bits, 16).ok());
    assert_eq!(ignored.unwrap() & (1 << 24), 0, "a tool is ended by the signal: {asked}");
}

#[test]
fn a_log_on_a_full_disk_is_said() {
    let home = Home::new();
    let ran = home.run(&["run", "--no-journal", "--tasks-limit", "1", "--log", "/dev/full"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("/dev/full: the log is incomplete: No space left"), "{ran:?}");
}

#[test]
fn relative_folders_of_the_user_are_ignored_with_a_notice() {
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] {
        let home = Home::new();
        home.write("here/x", "");
        for arguments in [&["run", "--tasks-limit", "1"][..], &["doctor"], &["sessions"]] {
            let mut command = home.command(arguments);
            command.current_dir(home.path("here")).env_remove("XDG_CONFIG_HOME");
            command.env_remove("XDG_DATA_HOME").env(name, "rel");
            let ran = Ran::of(command.output().unwrap());
            let said = format!("toolyard: {name}=rel is ignored: it is not an absolute path");
            assert!(ran.err.contains(&said), "{ran:?}");
        }
        let there = fs::read_dir(home.path("here")).unwrap();
        assert_eq!(there.count(), 1, "{name}: nothing is made in the working directory");
    }
}

#[test]
fn a_home_that_cannot_be_written_is_said_with_what_to_do() {
    let home = Home::new();
    let mut command = home.command(&["run", "--tasks-limit", "1"]);
    command.env("HOME", "/proc/none").env_remove("XDG_DATA_HOME");
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("or run with --no-journal"), "{ran:?}");
}

#[test]
fn case_10_6_a_folder_that_cannot_be_written_is_said_with_the_setting_and_the_option() {
    let home = Home::new();
    home.write("file", "");
    let file = home.path("file").display().to_string();
    let task = ["run", "--tasks-limit", "1"];
    for (variable, place) in [
        ("HOME", "/proc/none"),
        ("XDG_DATA_HOME", "/proc/none"),
        ("XDG_DATA_HOME", "/dev/null"),
        ("XDG_DATA_HOME", &file),
    ] {
        let mut command = home.command(&task);
        command.env_remove("XDG_DATA_HOME").env(variable, place);
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.code, 2, "{variable}={place}: {ran:?}");
        let mut shown = vec![ran.err];
        if variable != "HOME" {
            let screen = [env!("CARGO_BIN_EXE_toolyard")];
            let (status, bytes) = Sitting::of(&home, 100, 30, &screen, &[(variable, place)]).end();
            assert_eq!(status.exit_code(), 2, "{variable}={place}: {bytes}");
            shown.push(bytes);
        }
        for name in [place, "`[session] journals`", "--no-journal", "--journal FILE"] {
            assert!(shown.iter().all(|said| said.contains(name)), "{name}: {shown:?}");
        }
        // What it says helps.
        let mut command = home.command(&[&task[..], &["--no-journal"]].concat());
        command.env_remove("XDG_DATA_HOME").env(variable, place);
        assert_eq!(Ran::of(command.output().unwrap()).code, 0, "{variable}={place}");
    }
}
