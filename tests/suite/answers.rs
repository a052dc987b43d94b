//! What the terminal says of its colours, early, late or never: the theme follows, and nothing of it is a key.

use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::program::Home;
use crate::sitting::Sitting;

const LIGHT: &str = "\x1b]10;rgb:6565/7b7b/8383\x1b\\\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\";
const DEVICE: &str = "\x1b[?62;4;22c";
/// The grounds of the themes, as a terminal with all colours is told them.
const LIGHT_GROUND: &str = "48;2;251;250;247";
const DARK_GROUND: &str = "48;2;20;23;28";

const ARGUMENTS: [&str; 3] = ["--no-journal", "--seed", "5"];

fn start(home: &Home, term: &str) -> Sitting {
    let words = [&[env!("CARGO_BIN_EXE_toolyard")], &ARGUMENTS[..]].concat();
    Sitting::of(home, 100, 30, &words, &[("TERM", term)])
}

/// The screen once the keys behind what was sent have gone through.
fn after(sitting: &mut Sitting) -> String {
    sitting.press("?");
    sitting.wait("Help: keys that act");
    sitting.press("\x1b");
    sitting.wait_until("the whole screen without the help", |screen| {
        let text = screen.contents();
        !text.contains("Help:")
            && text.trim_end().ends_with("? help")
            && text.contains("not started: press space")
    });
    // A frame may have come in part.
    loop {
        let text = sitting.text();
        thread::sleep(Duration::from_millis(50));
        if sitting.text() == text {
            return text;
        }
    }
}

#[test]
fn case_10_1_a_late_answer_is_no_key_and_the_theme_follows() {
    let home = Home::new();
    for late in [80, 150, 500, 2500] {
        let mut sitting = start(&home, "xterm-kitty");
        sitting.wait_for("the question", || sitting.bytes().contains("\x1b]11;?"));
        sitting.wait_header("PAUSED");
        let before = after(&mut sitting);
        assert!(sitting.bytes().contains(DARK_GROUND) && !sitting.bytes().contains(LIGHT_GROUND));
        thread::sleep(Duration::from_millis(late));
        sitting.press(LIGHT);
        sitting.press(DEVICE);
        sitting.wait_for("the light theme", || sitting.bytes().contains(LIGHT_GROUND));
        assert_eq!(after(&mut sitting), before, "{late} ms");
        sitting.press("q");
        sitting.end();
    }
}

#[test]
fn case_10_1_strings_that_come_unasked_are_no_keys_however_they_are_cut() {
    let home = Home::new();
    let mut sitting = start(&home, "xterm-kitty");
    sitting.wait_header("PAUSED");
    sitting.press(DEVICE);
    let before = after(&mut sitting);
    for said in ["\x1bP1+r544e\x1b\\", LIGHT, "\x1b_Gi=1;:q\x1b\\", "\x1b^:q\x07", "\x1b[24;80R"] {
        sitting.press(said);
        for cut in 1..said.len().min(12) {
            sitting.press(&said[..cut]);
            thread::sleep(Duration::from_millis(if cut % 3 == 0 { 80 } else { 5 }));
            sitting.press(&said[cut..]);
        }
    }
    assert_eq!(after(&mut sitting), before);
    sitting.press("q");
    sitting.end();
}

#[test]
fn the_first_frame_of_a_light_terminal_is_light() {
    let home = Home::new();
    let mut sitting = start(&home, "xterm-kitty");
    sitting.wait_for("the question", || sitting.bytes().contains("\x1b]11;?"));
    sitting.press(LIGHT);
    sitting.press(DEVICE);
    sitting.wait_header("PAUSED");
    // Where the machine is slow, the answer may come after the first frame.
    sitting.wait_for("the light theme", || sitting.bytes().contains(LIGHT_GROUND));
    sitting.press("q");
    sitting.end();
}

#[test]
fn a_theme_that_was_chosen_stays_and_a_named_one_asks_nothing() {
    let home = Home::new();
    let mut sitting = start(&home, "xterm-kitty");
    sitting.wait_header("PAUSED");
    sitting.press("Zt");
    sitting.wait("theme: terminal");
    sitting.press(LIGHT);
    sitting.press(DEVICE);
    after(&mut sitting);
    assert!(!sitting.bytes().contains(LIGHT_GROUND));
    sitting.press("Zt");
    sitting.wait("theme: light");
    sitting.press("q");
    sitting.end();
    fs::write(home.path("c.toml"), "[ui]\ntheme = \"dark\"\n").unwrap();
    let words = [env!("CARGO_BIN_EXE_toolyard"), "--config", "c.toml", "--no-journal"];
    let mut sitting = Sitting::of(&home, 100, 30, &words, &[("TERM", "xterm-kitty")]);
    sitting.wait_header("PAUSED");
    assert!(!sitting.bytes().contains("\x1b]11;?"));
    sitting.press("q");
    sitting.end();
}

#[test]
fn case_10_3_a_terminal_that_is_known_has_all_colours_without_a_variable() {
    let home = Home::new();
    for (term, is_true) in [
        ("xterm-kitty", true),
        ("xterm-ghostty", true),
        ("foot", true),
        ("wezterm", true),
        ("alacritty", true),
        ("xterm-256color", false),
        ("xterm", false),
    ] {
        let mut sitting = start(&home, term);
        sitting.wait_header("PAUSED");
        sitting.wait("1 Graph");
        assert_eq!(sitting.bytes().contains(DARK_GROUND), is_true, "{term}");
        sitting.press("q");
        sitting.end();
    }
}

/// Escape is told from the beginning of a report by time, which nobody may notice.
#[test]
fn escape_closes_at_once() {
    let home = Home::new();
    let mut sitting = start(&home, "xterm-kitty");
    sitting.wait_header("PAUSED");
    let mut times = Vec::new();
    for _ in 0..5 {
        sitting.press("?");
        sitting.wait("Help: keys that act");
        let start = Instant::now();
        sitting.press("\x1b");
        sitting.wait_until("the help to close", |screen| !screen.contents().contains("Help:"));
        times.push(start.elapsed());
    }
    // The fastest, since the machine may be busy.
    assert!(times.iter().min().unwrap() < &Duration::from_millis(250), "{times:?}");
    sitting.press("q");
    sitting.end();
}
