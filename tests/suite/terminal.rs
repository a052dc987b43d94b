//! What is written to a terminal: every mode that is set is undone, and nothing that a tool or a model
//! said reaches it as anything but text.

use std::{collections::BTreeMap, io};

use proptest::prelude::*;
use ratatui::{Terminal, layout::Rect};
use serde_json::json;
use toolyard::domain::Role;
use toolyard::ui::{brush::Brush, screen::Screen, terminal};

use crate::stage::{Stage, setup};
use crate::story::{self, Story, tool};

/// The private modes in some bytes, in order: number, and whether it is set.
fn modes(bytes: &[u8]) -> Vec<(u16, bool)> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let mut modes = Vec::new();
    for sequence in text.split('\x1b').filter_map(|sequence| sequence.strip_prefix("[?")) {
        let set = sequence.ends_with('h');
        modes.push((sequence.trim_end_matches(['h', 'l']).parse().unwrap(), set));
    }
    modes
}

#[test]
fn every_mode_that_is_set_is_undone_in_reverse() {
    for mouse in [true, false] {
        let (mut entering, mut leaving) = (Vec::new(), Vec::new());
        terminal::enter(&mut entering, mouse).unwrap();
        terminal::leave(&mut leaving).unwrap();
        let set = modes(&entering);
        let undone: BTreeMap<u16, bool> = modes(&leaving).into_iter().collect();
        assert!(!set.is_empty());
        for (mode, on) in &set {
            assert_eq!(undone.get(mode), Some(&!on), "mode {mode}");
        }
        let text = String::from_utf8(leaving.clone()).unwrap();
        let (before, _) = text.split_once("\x1b[?1049l").unwrap();
        assert!(before.contains("\x1b[2J"), "the screen is clear when it is left");
        let order = |modes: &[(u16, bool)]| modes.iter().map(|(mode, _)| *mode).collect::<Vec<_>>();
        let mut back = order(&modes(&leaving));
        back.reverse();
        back.retain(|mode| set.iter().any(|(set, _)| set == mode));
        assert_eq!(back, order(&set));
        for number in [1000, 1002, 1006] {
            assert_eq!(set.iter().any(|(mode, _)| *mode == number), mouse, "{number}");
        }
        // It would tell each movement of the mouse.
        assert!(set.iter().all(|(mode, _)| *mode != 1003));
    }
}

/// What tools, models and files may say to take a terminal over.
const HOSTILE: [&str; 10] = [
    "\x1b[2J\x1b[H\x1b[31mred",
    "\x1b]0;title\x07",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[?1049l\x1b[?1000l",
    "\u{9b}2J\u{9d}0;x\u{9c}",
    "a\rb\x08c\x0b\x0c\x00",
    "\u{202e}txt.exe\u{2066}",
    "\u{200b}\u{feff}\u{fe0f}",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "日本語\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
];

/// A session in which everything that can be said is hostile.
fn hostile(said: &str) -> Story {
    let mut story = Story::open();
    let mut spec = tool(&format!("tool{said}"), said, 1.0);
    spec.description = said.into();
    spec.source = said.into();
    spec.examples = vec![said.into()];
    spec.parameters = json!({ "title": said, "properties": { said: { "type": "string" } } }).into();
    let name = spec.name.clone();
    story.join([spec]);
    story.queue(&[(said, Some(said)), (said, None)]);
    let call = (name.as_str(), json!({ "query": said, said: [said] }), Ok(said), 5);
    story.task(1, &[(said, call)], (said, false), &[(name.as_str(), -2, said)]);
    story.tell(toolyard::domain::event::SessionEvent::Noticed { text: said.into() });
    story.break_tool(name.as_str());
    story.start(2).step(2, 1, "start");
    let ask = story.ask(2, Role::Actor);
    story.answer(ask, said, 3);
    let call = (name.as_str(), json!({ "query": said }), Err(said), 5);
    story.call(2, 1, call);
    story
}

/// Keys that between them open every pane and popup that shows what others said.
const TOUR: [&str; 18] = [
    "1",
    "g",
    "g",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "i",
    "esc 6 c",
    "esc v",
    "esc 7 enter",
    "esc M",
    "esc F",
    "esc A",
    "esc m",
    "esc / e",
];

/// The bytes that a terminal gets for a frame.
fn frame(screen: &mut Screen, width: u16, height: u16) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    {
        let area = Rect::new(0, 0, width, height);
        let viewport = ratatui::TerminalOptions { viewport: ratatui::Viewport::Fixed(area) };
        let backend = Brush::new(&mut bytes);
        let mut terminal = Terminal::with_options(backend, viewport)?;
        terminal.draw(|frame| screen.draw(frame.area(), frame.buffer_mut(), 1_000_000))?;
    }
    Ok(bytes)
}

/// Makes sure that there is nothing in the bytes but text, places, colours and the cursor's state.
fn assert_harmless(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("a frame is UTF-8");
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_control()) {
        rest = &rest[at..];
        let Some(sequence) = rest.strip_prefix("\x1b[") else {
            panic!("a control character reached the terminal: {:?}", &rest[..rest.len().min(20)]);
        };
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).expect("an end");
        let cursor = matches!(&sequence[..=end], "?25l" | "?25h");
        let known = cursor || matches!(&sequence[end..=end], "m" | "H" | "C");
        assert!(known, "an escape sequence reached the terminal: {:?}", &sequence[..=end]);
        rest = &sequence[end + 1..];
    }
    let tricks = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}');
    assert!(!text.contains(tricks), "an invisible or reordering character reached the terminal");
}

#[test]
fn nothing_that_others_say_reaches_the_terminal_as_more_than_text() {
    for said in HOSTILE {
        let mut stage = Stage::with(&hostile(said), setup());
        for keys in TOUR {
            stage.press(keys);
            assert_harmless(&frame(&mut stage.screen, 120, 40).unwrap());
            assert_harmless(&frame(&mut stage.screen, 80, 24).unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nor_does_anything_at_all(said in any::<String>()) {
        let mut stage = Stage::with(&hostile(&said), setup());
        for keys in ["2", "esc 6 c", "esc v"] {
            stage.press(keys);
            assert_harmless(&frame(&mut stage.screen, 100, 30).unwrap());
        }
    }

    #[test]
    fn no_size_is_too_odd(width in 1u16..=330, height in 1u16..=100, keys in 0..TOUR.len()) {
        let mut stage = Stage::of(&story::demo()).sized(width, height);
        for keys in &TOUR[..=keys] {
            stage.press(keys);
        }
        let small = width < 60 || height < 16;
        prop_assert!(small || !stage.shows("too small"), "{}", stage.text());
    }
}

#[test]
fn a_screen_that_is_too_small_says_so_and_comes_back() {
    for (width, height) in
        [(0, 0), (0, 9), (9, 0), (1, 1), (2, 1), (1, 30), (59, 24), (80, 15), (300, 1)]
    {
        let mut stage = Stage::of(&story::demo()).sized(width, height);
        for keys in TOUR {
            stage.press(keys);
        }
        if width >= 30 {
            assert!(stage.shows("too small"), "{width}×{height}: {}", stage.text());
        }
        stage.press("esc esc esc");
        assert!(stage.sized(80, 24).shows("RUNNING"));
    }
}
