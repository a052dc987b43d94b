//! The workbench as a person meets it: keys in, a screen out, and a terminal that is afterwards as it
//! was before, however it ended.

use std::{io::Write, path::Path, thread};

use rustix::process::{Pid, Signal, kill_process};
use toolyard::ui::terminal::OwnedTerminal;
use vt100::Screen;

use crate::program::{Home, text};
use crate::sitting::{Sitting, assert_harmless};

const PANES: [&str; 7] =
    ["1 Graph", "2 Transcript", "3 Tools", "4 Knobs", "5 Models", "6 Calls", "7 Tasks"];

#[test]
fn a_person_runs_the_demo_steps_breaks_a_tool_and_leaves() {
    let home = Home::new();
    let mut sitting = Sitting::start(&home, 120, 40, &["--seed", "5", "--strategy", "toolnet"]);
    sitting.wait_header("PAUSED · before a task");
    for shown in PANES.iter().chain(&["SIMULATED MODEL", "calculator", "? help"]) {
        sitting.wait(shown);
    }
    sitting.press(" ");
    sitting.wait_header("RUNNING");
    sitting.wait("7 Tasks 2/");
    sitting.press(" ");
    sitting.wait_header("PAUSED");

    // From boundary to boundary.
    let mut places = vec![sitting.header()];
    for _ in 0..4 {
        sitting.press("n");
        let last = places.last().unwrap().clone();
        sitting.wait_for("a step", || {
            let header = sitting.header();
            header != last && header.contains("PAUSED")
        });
        places.push(sitting.header());
    }
    assert!(places.iter().any(|place| place.contains(" a tool call")), "{places:?}");

    // While a call is held its key edits that; between tasks it edits the score.
    sitting.press("o");
    sitting.wait_header("PAUSED · before a task");
    sitting.press("3f");
    sitting.wait("  ↯ ");
    sitting.press("ze");
    sitting.wait("Score of");
    sitting.press("7\r");
    sitting.wait("+7");
    sitting.press("u");
    sitting.wait_until("the score to be taken back", |screen| !screen.contents().contains("+7"));
    sitting.press("u");
    sitting.wait_until("the fault to be disarmed", |screen| !screen.contents().contains("  ↯ "));

    sitting.press(" ");
    sitting.wait_header("RUNNING");
    sitting.press("q");
    sitting.wait("Quit while the agent is running?");
    sitting.press("y");
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 0);
    assert_harmless(&bytes);
    let (_, after) = bytes.rsplit_once("\x1b[?1049l").unwrap();
    assert!(after.contains("journal: "), "it says where the journal is: {after:?}");
    let journal = after.trim().rsplit_once("journal: ").unwrap().1;
    assert!(Path::new(journal).starts_with(home.path("")), "{journal}");
    let kept = home.succeed(&["replay", journal, "--json"]);
    assert!(kept.contains("\"mode\": \"ended\""), "the session ended properly");
}

#[test]
fn a_border_is_dragged_with_the_mouse() {
    let home = Home::new();
    let mut sitting = Sitting::start(&home, 120, 40, &["--no-journal", "--strategy", "toolnet"]);
    sitting.wait("1 Graph");
    // Motion is told while a button is held, and only then: a moving mouse costs nothing.
    let told = |screen: &Screen| screen.mouse_protocol_mode();
    sitting
        .wait_until("the mouse", |screen| told(screen) == vt100::MouseProtocolMode::ButtonMotion);
    let corner = |text: &str| {
        let line = text.lines().nth(1).unwrap_or_default().to_owned();
        line.chars().position(|c| "┱┲┯┬".contains(c))
    };
    let at = corner(&sitting.text()).expect("two columns");
    let mouse = |button: u16, x: usize, end: char| format!("\x1b[<{button};{};10{end}", x + 1);
    sitting.press(&mouse(0, at, 'M'));
    sitting.press(&mouse(32, at - 3, 'M'));
    sitting.wait_for("the border to follow", || corner(&sitting.text()) == Some(at - 3));
    sitting.press(&mouse(32, at - 10, 'M'));
    sitting.press(&mouse(0, at - 10, 'm'));
    sitting.wait_for("the border to follow", || corner(&sitting.text()) == Some(at - 10));
    sitting.press("qy");
    assert_harmless(&sitting.end().1);
}

#[test]
fn help_prompt_and_screenshot_are_a_key_away() {
    let home = Home::new();
    let mut sitting = Sitting::start(&home, 120, 40, &["--no-journal"]);
    sitting.wait_header("PAUSED");
    sitting.press(" ");
    sitting.wait("7 Tasks 1/");
    sitting.press("?");
    sitting.wait("Help: keys that act");
    sitting.press("manifests");
    sitting.wait("reload-tools");
    sitting.press("\x1b");
    sitting.wait_until("the help to close", |screen| !screen.contents().contains("Help:"));
    sitting.press("v");
    sitting.wait("exactly what the model saw");
    sitting.press("q");
    sitting.press("ys");
    sitting.wait("written: ");
    let shots = std::fs::read_dir(home.path("")).unwrap();
    let names = shots.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().any(|name| name.ends_with(".svg")));
    sitting.press("q");
    sitting.wait("Quit while the agent is running?");
    sitting.press("y");
    assert_harmless(&sitting.end().1);
}

#[test]
fn any_size_is_lived_with_while_it_runs() {
    let home = Home::new();
    let mut sitting = Sitting::start(&home, 80, 24, &["--no-journal"]);
    sitting.wait("1 Graph");
    sitting.press(" ");
    sitting.wait_header("RUNNING");
    sitting.resize(200, 60);
    for pane in PANES {
        sitting.wait(pane);
    }
    sitting.resize(30, 8);
    sitting.wait("too small: 30×8");
    sitting.resize(80, 24);
    sitting.wait("2 Transcript");
    sitting.resize(320, 90);
    sitting.wait("6 Calls");
    sitting.press(" ");
    sitting.wait_header("PAUSED");
    sitting.press("qy");
    assert_eq!(sitting.end().0.exit_code(), 0);
}

#[test]
fn no_key_is_lost_while_the_size_changes() {
    let home = Home::new();
    let mut sitting = Sitting::start(&home, 80, 24, &["--no-journal"]);
    sitting.wait("1 Graph");
    for turn in 0..40 {
        let (key, shows) = if turn % 2 == 0 { ("4", "alpha") } else { ("7", "queued") };
        // Key and signal are there at the same time.
        sitting.resize(80 + turn % 3, 24);
        sitting.press(key);
        sitting.wait(shows);
    }
    sitting.press("q");
    assert_eq!(sitting.end().0.exit_code(), 0);
}

#[test]
fn a_signal_ends_it_and_gives_the_terminal_back() {
    let signals =
        [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)];
    for (signal, code) in signals {
        let home = Home::new();
        let mut sitting = Sitting::start(&home, 100, 30, &["--journal", "j.jsonl"]);
        sitting.wait_header("PAUSED");
        sitting.press(" ");
        sitting.wait_header("RUNNING");
        sitting.kill(signal);
        let (status, bytes) = sitting.end();
        assert_eq!(status.exit_code(), code, "{signal:?}");
        assert!(bytes.ends_with("\x1b[?1049l"), "{signal:?}: nothing comes after the screen");
        let kept = home.succeed(&["replay", "j.jsonl", "--json"]);
        assert!(kept.contains("\"mode\": \"ended\""), "{signal:?}: the session ended properly");
    }
}

#[test]
fn a_session_is_looked_at_again_and_cannot_be_changed() {
    let home = Home::new();
    home.run(&["run", "--tasks-limit", "3", "--journal", "j.jsonl"]);
    let before = home.read("j.jsonl");
    let mut sitting = Sitting::start(&home, 120, 40, &["replay", "j.jsonl"]);
    sitting.wait("REPLAY");
    sitting.wait("task 3/3");
    sitting.press(",");
    sitting.wait("END +1");
    sitting.press("^");
    sitting.wait("event 1/");
    sitting.press("$f");
    sitting.wait("a replay is read-only");
    sitting.press("q");
    assert_eq!(sitting.end().0.exit_code(), 0);
    assert_eq!(home.read("j.jsonl"), before);
}

#[test]
fn what_is_wrong_at_the_start_leaves_the_terminal_alone() {
    let home = Home::new();
    home.write("w/tools/a.toml", "name = \"\u{1b}[2J");
    home.write("j.jsonl", "nonsense\n");
    for (arguments, says) in [
        (&["--workspace", "w"][..], "w/tools/a.toml:1: not TOML"),
        (&["--workspace", "no"], "no: no such folder"),
        (&["replay", "j.jsonl"], "j.jsonl:1: no journal header"),
        (&["--journal", "j.jsonl"], "j.jsonl: file exists"),
        (&["--strategy", "rect"], "no strategy `rect`"),
        (&["--seed", "3", "rnu"], "did you mean `run`?"),
    ] {
        let (status, bytes) = Sitting::start(&home, 120, 40, arguments).end();
        assert_eq!(status.exit_code(), 2, "{arguments:?}: {bytes}");
        assert!(bytes.contains(says), "{arguments:?} says {bytes}");
        assert!(!bytes.contains('\u{1b}'), "{arguments:?}: the terminal was touched: {bytes:?}");
    }
}

#[test]
fn without_a_terminal_it_says_so() {
    let ran = Home::new().run(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(
        ran.err.contains("stdout is not a terminal") && ran.err.contains("toolyard run"),
        "{ran:?}"
    );
}

#[test]
fn where_nobody_could_continue_it_it_continues_itself() {
    let home = Home::new();
    let mut sitting = Sitting::start(&home, 100, 30, &["--no-journal"]);
    sitting.wait("1 Graph");
    // There is no shell here that could ever continue it, so the system does not let it stop; then it
    // takes the terminal again by itself.
    sitting.press("\x1a");
    sitting.wait_until("the shell's screen", |screen| !screen.alternate_screen());
    sitting.wait_until("its own screen", Screen::alternate_screen);
    sitting.wait("1 Graph");
    sitting.press("4");
    sitting.wait("4 Knobs");
    sitting.press("q");
    assert_eq!(sitting.end().0.exit_code(), 0);
}

#[test]
fn a_shell_gets_the_terminal_for_a_while() {
    let home = Home::new();
    let variables = [("PS1", "ready> ")];
    let mut shell = Sitting::of(&home, 120, 40, &["sh", "-i"], &variables);
    shell.wait("ready>");
    shell.press(&format!("{} --no-journal\r", env!("CARGO_BIN_EXE_toolyard")));
    shell.wait_header("PAUSED");
    shell.press("\x1a");
    shell.wait_until("the shell", |screen| {
        !screen.alternate_screen() && screen.contents().trim_end().ends_with("ready>")
    });
    shell.press("fg\r");
    shell.wait_header("PAUSED");
    shell.press("?");
    shell.wait("Help: keys that act");
    shell.press("\x1b");
    shell.wait_until("the help to close", |screen| !screen.contents().contains("Help:"));
    shell.press("q");
    // What is typed before the prompt may still be the program's.
    shell.wait_until("the shell", |screen| {
        !screen.alternate_screen() && screen.contents().trim_end().ends_with("ready>")
    });
    shell.press("exit\r");
    shell.end();
}

#[test]
fn a_stop_from_outside_gives_the_terminal_to_the_shell() {
    let home = Home::new();
    let mut shell = Sitting::of(&home, 120, 40, &["sh", "-i"], &[("PS1", "ready> ")]);
    shell.wait("ready>");
    shell.press(&format!("{} --no-journal\r", env!("CARGO_BIN_EXE_toolyard")));
    for _ in 0..2 {
        shell.wait_header("PAUSED");
        let pid = shell.pid().as_raw_nonzero();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let program = children.unwrap().trim().parse().unwrap();
        kill_process(Pid::from_raw(program).unwrap(), Signal::TSTP).unwrap();
        shell.wait_until("the shell", |screen| {
            !screen.alternate_screen()
                && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
                && screen.contents().trim_end().ends_with("ready>")
        });
        shell.press("fg\r");
    }
    shell.wait_header("PAUSED");
    shell.press("q");
    // What is typed before the prompt may still be the program's.
    shell.wait_until("the shell", |screen| {
        !screen.alternate_screen() && screen.contents().trim_end().ends_with("ready>")
    });
    shell.press("exit\r");
    shell.end();
}

#[test]
fn a_terminal_that_knows_no_screen_is_left_alone() {
    let home = Home::new();
    home.run(&["run", "--tasks-limit", "1", "--journal", "j.jsonl"]);
    let screens = [
        (&["--journal", "k.jsonl"][..], "toolyard run"),
        (&["replay", "j.jsonl"], "toolyard shot"),
        (&["watch", "--journal", "k.jsonl", "true"], "add --headless"),
    ];
    for (arguments, instead) in screens {
        let words = [&[env!("CARGO_BIN_EXE_toolyard")], arguments].concat();
        let sitting = Sitting::of(&home, 80, 24, &words, &[("TERM", "dumb")]);
        let (status, bytes) = sitting.end();
        assert_eq!(status.exit_code(), 1, "{bytes}");
        assert!(bytes.contains("TERM is dumb") && bytes.contains(instead), "{bytes:?}");
        assert!(!bytes.contains('\u{1b}') && !home.path("k.jsonl").exists(), "{bytes:?}");
    }
}

#[test]
fn a_screen_takes_its_time_unless_somebody_set_the_speed() {
    let home = Home::new();
    home.write("c.toml", "[knobs]\nspeed = \"off\"\n");
    home.write("old.toml", "[knobs]\npace = 0\n");
    for (arguments, speed) in [
        (&["--knob", "speed=off"][..], 0.0),
        (&["--config", "c.toml"], 0.0),
        (&["--config", "old.toml"], 0.0),
        (&["--config", "c.toml", "--knob", "speed=16"], 7.0),
        (&[], 3.0),
    ] {
        let _ = std::fs::remove_file(home.path("j.jsonl"));
        let arguments = [&["--journal", "j.jsonl"], arguments].concat();
        let mut sitting = Sitting::start(&home, 100, 30, &arguments);
        sitting.wait_header("PAUSED");
        sitting.press("q");
        sitting.end();
        let replayed = home.succeed(&["replay", "j.jsonl", "--json"]);
        let state: serde_json::Value = serde_json::from_str(&replayed).unwrap();
        assert_eq!(state["knobs"]["speed"], speed, "{arguments:?}");
    }
}

/// Runs one of the ignored tests below in a pseudo-terminal; everything that it wrote.
fn played(name: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let words = [text(&this), "--exact", name, "--ignored", "--nocapture"];
    Sitting::of(&Home::new(), 100, 30, &words, &[]).end().1
}

/// Where in what was written this is.
fn place(written: &str, what: &str) -> usize {
    written.find(what).unwrap_or_else(|| panic!("{what:?} was not written:\n{written}"))
}

const GIVEN_BACK: &str = "\x1b[?1049l";

#[test]
fn a_panic_of_the_screen_gives_the_terminal_back_before_it_is_told() {
    let written = played("pty::child_the_screen_panics");
    assert!(place(&written, GIVEN_BACK) < place(&written, "the screen's own fault"));
    assert_eq!(written.matches(GIVEN_BACK).count(), 1);
}

#[test]
#[ignore = "is run in a pseudo-terminal by the test above"]
fn child_the_screen_panics() {
    let _owned = OwnedTerminal::take(true, None).unwrap();
    panic!("the screen's own fault");
}

#[test]
fn a_panic_below_a_live_screen_leaves_it_alone_and_is_told_after_it() {
    let written = played("pty::child_a_worker_panics");
    let alive = place(&written, "the screen lives");
    assert!(alive < place(&written, GIVEN_BACK));
    assert!(place(&written, GIVEN_BACK) < place(&written, "worker panicked"));
    assert_eq!(written.matches(GIVEN_BACK).count(), 1);
}

#[test]
#[ignore = "is run in a pseudo-terminal by the test above"]
fn child_a_worker_panics() {
    let mut owned = OwnedTerminal::take(true, None).unwrap();
    let worker = thread::Builder::new().name("worker".into());
    let worker = worker.spawn(|| panic!("a worker's fault")).unwrap();
    assert!(worker.join().is_err());
    let told = owned.panics.try_recv().unwrap();
    assert!(told.contains("a worker's fault"), "{told}");
    print!("the screen lives");
    std::io::stdout().flush().unwrap();
}
