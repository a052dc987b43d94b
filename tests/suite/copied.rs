//! What a person copies, and where it goes.

use serde_json::{Value, json};
use toolyard::ui::request::ScreenRequest;

use crate::program::Home;
use crate::sitting::Sitting;
use crate::stage::Stage;
use crate::story;

/// The text that these keys copy.
fn copied(stage: &mut Stage, keys: &str) -> (String, String) {
    match stage.press(keys).as_slice() {
        [ScreenRequest::Copy { what, text }] => (what.clone(), text.clone()),
        other => panic!("{keys}: {other:?}\n{}", stage.text()),
    }
}

/// What a path means in a state.
fn found(state: &Value, path: &str) -> Value {
    if let Some((list, select)) = path.split_once("[] | select(") {
        let (field, wanted) = select.trim_end_matches(')').split_once(" == ").unwrap();
        let (list, field) = (list.trim_start_matches('.'), field.trim_start_matches('.'));
        let items = state[list].as_array().unwrap();
        let wanted: Value = serde_json::from_str(wanted).unwrap();
        return items.iter().find(|item| item[field] == wanted).unwrap().clone();
    }
    let pointer = path.replace("[\"", "/").replace("\"]", "").replace('[', "/").replace(']', "");
    state.pointer(&pointer.replace('.', "/")).unwrap().clone()
}

#[test]
fn what_is_selected_is_copied_as_shown_as_json_and_as_its_path() {
    let story = story::demo();
    let mut stage = Stage::of(&story);
    let state = serde_json::to_value(stage.screen.live()).unwrap();
    for (pane, shown) in [("3", "search_web"), ("6 home", "Port Sel"), ("7 home", "48200")] {
        stage.press(pane);
        let (what, text) = copied(&mut stage, "y y");
        assert!(text.starts_with(&what) && text.contains(shown), "{text}");
        let value: Value = serde_json::from_str(&copied(&mut stage, "y v").1).unwrap();
        assert_eq!(found(&state, &copied(&mut stage, "y p").1), value, "{pane}");
    }
    // A line is copied as its event, as its journal has it.
    stage.press("2 up up");
    let n = stage.screen.view.line.unwrap();
    stage.screen.view.line =
        story.records.iter().find(|r| r.event.kind() == "ScoreSet").map(|r| r.n);
    assert!(n > 0);
    let value: Value = serde_json::from_str(&copied(&mut stage, "y v").1).unwrap();
    assert_eq!(value["kind"], "ScoreSet");
    assert!(copied(&mut stage, "y p").1.starts_with(".transcript[] | select(.n == "));
    stage.press("4 y y");
    assert!(stage.shows("nothing to copy: select"), "{}", stage.text());
}

#[test]
fn a_page_is_copied_and_stays_open() {
    let mut stage = Stage::of(&story::demo());
    stage.press("7 home enter");
    let (_, text) = copied(&mut stage, "y");
    assert!(text.contains("How many people live in the twin city of Lyra?"), "{text}");
    assert_eq!(stage.screen.view.popups.len(), 1);
}

#[test]
fn a_copy_has_no_escape_sequences_of_others() {
    let mut story = story::demo();
    let nasty = "\u{1b}]52;c;aGk=\u{7}\u{202e}\u{9b}2J";
    story.step(5, 3, "calculator");
    let call = story.call(5, 3, ("wikipedia", json!({"query": nasty}), Ok(nasty), 20));
    let mut stage = Stage::of(&story);
    stage.screen.view.call = Some(call);
    stage.press("6");
    for keys in ["y y", "y v"] {
        let (_, text) = copied(&mut stage, keys);
        let bad: Vec<char> = text.chars().filter(|c| c.is_control() && *c != '\n').collect();
        assert!(bad.is_empty() && !text.contains('\u{202e}'), "{keys}: {bad:?} in {text}");
    }
}

#[test]
fn the_terminal_gets_the_copy_and_a_file_has_it_too() {
    let home = Home::new();
    home.run(&["run", "--fresh", "--tasks-limit", "1", "--journal", "j.jsonl"]);
    let mut sitting = Sitting::start(&home, 120, 40, &["replay", "j.jsonl"]);
    // It would take the place of the message.
    sitting.wait("the session has ended");
    sitting.press("7yp");
    sitting.wait("copied: Task 1, 9 bytes");
    sitting.press("yf");
    sitting.wait("toolyard-copy-1.txt");
    sitting.press("q");
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 0);
    // `.tasks[0]` in base64.
    assert!(bytes.contains("\u{1b}]52;c;LnRhc2tzWzBd"), "{bytes:?}");
    assert_eq!(home.read("toolyard-copy-1.txt"), ".tasks[0]");
}

#[test]
fn a_terminal_without_a_clipboard_says_so() {
    let home = Home::new();
    home.run(&["run", "--fresh", "--tasks-limit", "1", "--journal", "j.jsonl"]);
    let words = [env!("CARGO_BIN_EXE_toolyard"), "replay", "j.jsonl"];
    let mut sitting = Sitting::of(&home, 120, 40, &words, &[("TERM", "linux")]);
    sitting.wait("the session has ended");
    sitting.press("yf");
    sitting.wait("nothing copied yet");
    sitting.press("7yv");
    sitting.wait("TERM=linux has no clipboard");
    sitting.press("yf");
    sitting.wait("toolyard-copy-1.txt");
    sitting.press("q");
    let (_, bytes) = sitting.end();
    assert!(!bytes.contains("\u{1b}]52;"), "{bytes:?}");
    assert!(home.read("toolyard-copy-1.txt").contains("\"phase\""));
}
