//! Two screens on one session.

use rustix::process::Signal;

use super::{end, endless, sockets};
use crate::program::Home;
use crate::sitting::Sitting;

fn two(home: &Home) -> (Sitting, Sitting) {
    let own = Sitting::start(home, 120, 40, &["--seed", "5", "--strategy", "toolnet"]);
    own.wait_header("PAUSED · before a task");
    let other = Sitting::start(home, 80, 24, &["attach"]);
    other.wait_header("WATCHING");
    (own, other)
}

#[test]
fn a_second_screen_watches_then_controls_and_leaves_the_session_running() {
    let home = Home::new();
    let (mut own, mut other) = two(&home);
    other.wait_header("PAUSED · before a task");
    // What would change something says why it does not.
    other.press(" ");
    other.wait("run-or-pause: this screen only watches");
    own.press(" ");
    other.wait_header("RUNNING");
    // The key pauses once this screen, too, has seen that the session runs.
    own.wait_header("RUNNING");
    own.press(" ");
    other.wait_header("PAUSED");

    // Control is asked for, and handed over.
    other.press("gc");
    other.wait("controlled by its own screen");
    own.wait("asks for control · gc hands it over");
    assert!(other.header().contains("WATCHING"));
    own.press("gc");
    other.wait_header("CONTROLLING");
    own.wait_header("WATCHING");
    own.press(" ");
    own.wait("run-or-pause: this screen only watches");
    other.press(" ");
    // What its question says is what it has seen.
    other.wait_header("RUNNING");
    own.wait_header("RUNNING");

    // It leaves: the session runs on, and its own screen controls it again.
    other.press("q");
    other.wait("Leave this session?");
    other.wait("keeps running without this screen");
    other.press("y");
    assert_eq!(other.end().0.exit_code(), 0);
    own.wait_until("control", |screen| !screen.contents().contains("WATCHING"));
    own.press(" ");
    own.wait_header("PAUSED");
    own.press("qy");
    assert_eq!(own.end().0.exit_code(), 0);
    assert_eq!(sockets(&home), [""; 0].map(std::path::PathBuf::from));
}

#[test]
fn a_screen_stays_when_the_session_ends() {
    let home = Home::new();
    let (mut own, mut other) = two(&home);
    own.press(" ");
    other.wait_header("RUNNING");
    own.press("qy");
    assert_eq!(own.end().0.exit_code(), 0);
    other.wait("the session has ended: stopped by the user");
    other.wait_header("STOPPED");
    other.press("q");
    assert_eq!(other.end().0.exit_code(), 0);
}

#[test]
fn a_killed_controller_gives_control_back_and_a_killed_session_breaks_off() {
    let home = Home::new();
    let (mut own, mut other) = two(&home);
    other.press("gc");
    own.wait("asks for control");
    own.press("gc");
    other.wait_header("CONTROLLING");
    own.wait_header("WATCHING");
    other.kill(Signal::KILL);
    own.wait_until("control", |screen| !screen.contents().contains("WATCHING"));
    own.press(" ");
    own.wait_header("RUNNING");

    let mut third = Sitting::start(&home, 120, 40, &["attach", "--watch"]);
    third.wait_header("WATCHING");
    third.wait_header("RUNNING");
    own.kill(Signal::KILL);
    third.wait_header("INTERRUPTED");
    third.press("q");
    assert_eq!(third.end().0.exit_code(), 0);
}

#[test]
fn a_session_without_a_screen_is_controlled_by_the_first_who_attaches() {
    let home = Home::new();
    let child = endless(&home);
    let mut screen = Sitting::start(&home, 120, 40, &["attach", "j.jsonl"]);
    screen.wait_header("CONTROLLING");
    screen.press(" ");
    screen.wait_header("PAUSED");
    let mut second = Sitting::start(&home, 80, 24, &["attach", "j.jsonl"]);
    second.wait_header("WATCHING");
    second.wait("controlled by pid ");
    screen.press("q");
    screen.wait("It stays paused until a screen attaches");
    screen.press("y");
    assert_eq!(screen.end().0.exit_code(), 0);
    second.wait("no screen controls the session");
    second.press("gc");
    second.wait_header("CONTROLLING");
    second.press("S");
    second.wait("End this session?");
    second.press("y");
    second.wait("the session has ended: stopped by the user");
    second.press("q");
    assert_eq!(second.end().0.exit_code(), 0);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_screen_that_is_stopped_does_not_hold_up_the_session() {
    let home = Home::new();
    let child = endless(&home);
    let screen = Sitting::start(&home, 120, 40, &["attach", "--watch", "j.jsonl"]);
    screen.wait_header("WATCHING");
    screen.kill(Signal::STOP);
    assert_eq!(end(child, Signal::TERM).code, 143);
    screen.kill(Signal::CONT);
    screen.wait("the session has ended");
}
