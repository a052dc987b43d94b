//! Reading a page: what is found in it, and what a prompt shows first.

use toolyard::domain::Command;

use super::{command, stage};
use crate::stage::Stage;

/// The cells of the frame that have the style of the current match.
fn current(stage: &Stage) -> Vec<(u16, u16)> {
    let found = stage.screen.theme().found;
    let cells = stage.area.positions().map(|at| (at.x, at.y));
    cells.filter(|at| stage.buf[*at].style().bg == found.bg).collect()
}

fn word(stage: &Stage, cells: &[(u16, u16)]) -> String {
    cells.iter().map(|at| stage.buf[*at].symbol()).collect()
}

#[test]
fn what_is_found_in_a_page_is_marked_and_gone_to() {
    let mut stage = stage().sized(80, 24);
    stage.press("v /");
    assert!(stage.shows("/▏") && stage.shows("enter: keep"), "{}", stage.text());
    // Letters type here, those of the pager's keys too.
    stage.write("tokens");
    assert!(stage.shows("/tokens▏  1 of "), "{}", stage.text());
    let first = current(&stage);
    assert_eq!(word(&stage, &first), "tokens");
    stage.press("down");
    assert!(stage.shows("/tokens▏  2 of "), "{}", stage.text());
    stage.press("enter");
    assert!(stage.shows("/tokens  2 of ") && stage.shows("n/N: next, previous match"));
    let second = current(&stage);
    assert_ne!(first, second);
    assert_eq!(word(&stage, &second), "tokens");
    stage.press("N");
    assert_eq!(current(&stage), first);
    // Backwards from the first to the last, which is scrolled to.
    stage.press("N");
    let total = stage.text().matches("/tokens  ").count();
    assert_eq!(total, 1, "{}", stage.text());
    assert_eq!(word(&stage, &current(&stage)), "tokens", "{}", stage.text());
    stage.press("n");
    assert_eq!(word(&stage, &current(&stage)), "tokens", "{}", stage.text());
    assert!(stage.shows("/tokens  1 of "), "{}", stage.text());
    // The agent can be held while a page is searched.
    assert_eq!(command(&mut stage, "f5"), Command::Pause);
    // The search is left first, then the page.
    stage.press("esc");
    assert!(current(&stage).is_empty() && stage.shows("╔ Prompt of model call 29"));
    stage.press("esc");
    assert!(stage.screen.view.popups.is_empty());
}

#[test]
fn every_match_on_the_screen_is_marked() {
    let mut stage = stage().sized(120, 60);
    stage.press("v /");
    stage.write("TOOL search_");
    assert!(stage.shows("of 2"), "{}", stage.text());
    stage.press("enter");
    let warn = stage.screen.theme().warn.fg;
    let text = stage.text();
    let row = text.lines().position(|line| line.contains("tool search_backup")).unwrap() as u16;
    let other: Vec<_> =
        (0..stage.area.width).filter(|x| stage.buf[(*x, row)].style().fg == warn).collect();
    assert_eq!(other.len(), "tool search_".len(), "{text}");
}

#[test]
fn a_search_without_a_match_says_so_and_goes_along_to_the_next_prompt() {
    let mut stage = stage();
    stage.press("v n");
    assert!(stage.shows("no search here yet · /: find"), "{}", stage.text());
    stage.press("/");
    stage.write("zzz");
    assert!(stage.shows("/zzz▏  nothing found"), "{}", stage.text());
    stage.press("backspace backspace backspace");
    stage.write("system");
    stage.press("enter left");
    assert!(stage.shows("Prompt of model call 2") && stage.shows("/system  1 of 2"));
    // An empty line leaves the search, and no line is left of it.
    stage.press("/ backspace");
    assert!(!stage.shows("/system") && stage.shows("╔ Prompt of model call"), "{}", stage.text());
    stage.press("/ enter");
    assert_eq!(stage.screen.view.popups.len(), 1);
}

#[test]
fn a_prompt_shows_messages_first_and_each_tool_in_one_line() {
    let mut stage = stage().sized(120, 60);
    stage.press("v");
    let text = stage.text();
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what}: {text}"));
    assert!(at("6 tools") < at("system  ("), "{text}");
    assert!(at("system  (") < at("user  (") && at("user  (") < at("Answer"), "{text}");
    assert!(at("Answer") < at("tool search_web  ("), "{text}");
    assert!(text.contains("search_web(query?: string)"), "{text}");
    assert!(text.contains("Does search_web.") && !text.contains("\"parameters\""), "{text}");
}
