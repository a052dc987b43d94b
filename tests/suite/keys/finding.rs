//! `/`: a list narrows as one types, a text is searched.

use proptest::prelude::*;
use toolyard::domain::Command;
use toolyard::ui::needle::Needle;
use toolyard::ui::{hits::Target, pane::PaneId, panes};

use super::{command, tool};
use crate::panes::problems;
use crate::stage::Stage;
use crate::{spending, story, working};

/// The panes that are lists, with the key that goes there twice: it zooms.
const LISTS: [(PaneId, &str); 8] = [
    (PaneId::Graph, "1"),
    (PaneId::Tools, "3"),
    (PaneId::Knobs, "4"),
    (PaneId::Models, "5"),
    (PaneId::Calls, "6"),
    (PaneId::Tasks, "7"),
    (PaneId::Budget, "8"),
    (PaneId::Problems, "g a"),
];

/// Only this pane, with room for all of its rows.
fn only(pane: PaneId, key: &str) -> Stage {
    let story = match pane {
        PaneId::Budget => spending::btp(),
        PaneId::Calls => working::working(),
        PaneId::Problems => problems::troubled(),
        _ => story::demo(),
    };
    // Where the graph has room for its map, the edges of that could be clicked as well.
    let rows = if pane == PaneId::Graph { 24 } else { 70 };
    let mut stage = Stage::of(&story).sized(120, rows);
    stage.screen.view.focus = PaneId::Transcript;
    stage.press(&format!("{key} {key}"));
    assert_eq!(stage.screen.view.zoom, Some(pane));
    // A filter looks among all knobs, so all are listed from the start here.
    stage.screen.view.all_knobs = true;
    stage.draw();
    stage
}

/// What the rows of the pane's list are, from the top.
fn rows(stage: &Stage, pane: PaneId) -> Vec<Target> {
    let is_row = |target: &&Target| match pane {
        PaneId::Graph => matches!(target, Target::Edge(..)),
        PaneId::Tools | PaneId::Budget | PaneId::Resilience => matches!(target, Target::Tool(_)),
        PaneId::Knobs => matches!(target, Target::Knob(_)),
        PaneId::Models => matches!(target, Target::Role(_) | Target::Model(_)),
        PaneId::Calls => matches!(target, Target::Call(_) | Target::Evidence(..)),
        PaneId::Tasks => matches!(target, Target::Task(_)),
        PaneId::Problems => matches!(target, Target::Problem(_)),
        _ => panic!("no rows are known of {pane:?}"),
    };
    let targets = stage.screen.hits().targets().map(|(_, target)| target);
    targets.filter(is_row).cloned().collect()
}

/// The selected place of the pane's list, and the places whose text matches.
fn matching(stage: &Stage, pane: PaneId, needle: &str) -> (Option<usize>, Vec<usize>) {
    let list = (panes::spec(pane).list)(stage.screen.shown(), &stage.screen.view);
    let needle = Needle::new(needle);
    let kept = (0..list.place.0).filter(|row| list.holds(*row, &needle)).collect();
    (list.place.1, kept)
}

/// Rows of the budget's list that stand above its tools, filtered or not.
fn above(pane: PaneId) -> usize {
    if pane == PaneId::Budget { 2 } else { 0 }
}

/// Filters, and checks that the pane shows the rows that match, and that a click means the row it hits.
fn narrow(pane: PaneId, key: &str, needle: &str) -> Result<usize, TestCaseError> {
    let mut stage = only(pane, key);
    let all = rows(&stage, pane).len();
    prop_assert_eq!(all + above(pane), matching(&stage, pane, "").1.len(), "all of {:?}", pane);
    stage.press("/");
    stage.write(needle);
    let (selected, kept) = matching(&stage, pane, needle);
    let kept: Vec<usize> = kept.into_iter().filter(|row| *row >= above(pane)).collect();
    let shown = rows(&stage, pane);
    prop_assert_eq!(shown.len(), kept.len(), "{:?} {:?}\n{}", pane, needle, stage.text());
    if kept.is_empty() {
        return Ok(0);
    }
    prop_assert!(selected.is_some_and(|row| row < above(pane) || kept.contains(&row)));
    // The selection is kept by what it is, also when all is shown again.
    stage.press("enter");
    stage.click(shown.last().unwrap());
    prop_assert_eq!(matching(&stage, pane, needle).0, kept.last().copied(), "{:?}", pane);
    stage.screen.view.popups.clear();
    stage.press("esc");
    prop_assert!(stage.screen.view.find.is_none());
    prop_assert_eq!(matching(&stage, pane, needle).0, kept.last().copied(), "{:?}", pane);
    prop_assert_eq!(rows(&stage, pane).len(), all);
    Ok(kept.len())
}

#[test]
fn every_list_narrows_to_the_rows_that_match() {
    for (pane, key) in LISTS {
        let all = only(pane, key);
        let all = rows(&all, pane).len();
        let kept = ["e", "a r", "search", "actor", "wrong"].map(|needle| narrow(pane, key, needle));
        let kept: Vec<usize> = kept.into_iter().map(Result::unwrap).collect();
        assert!(kept.iter().any(|kept| (1..all).contains(kept)), "{pane:?}: {kept:?} of {all}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn rows_are_those_whose_text_matches(which in 0..LISTS.len(), needle in "[a-z_]{1,2}( [a-z])?") {
        let (pane, key) = LISTS[which];
        narrow(pane, key, &needle)?;
    }
}

#[test]
fn a_filter_is_kept_moves_and_ends() {
    let mut stage = Stage::of(&story::demo());
    stage.press("3 home /");
    stage.write("search");
    assert!(stage.shows("filter: search · "), "{}", stage.text());
    assert!(stage.shows("/search█"), "{}", stage.text());
    let first = stage.screen.view.tool.clone().unwrap();
    stage.press("down");
    let second = stage.screen.view.tool.clone().unwrap();
    assert!(first != second && second.as_str().contains("search"));
    stage.press("up enter");
    assert_eq!(stage.screen.view.tool, Some(first.clone()));
    assert!(stage.shows("esc shows all"), "{}", stage.text());
    // The arrows go along the rows that are shown, and the agent's keys are the agent's.
    stage.press("j");
    assert_eq!(stage.screen.view.tool, Some(second));
    stage.press("home");
    assert_eq!(stage.screen.view.tool, Some(first));
    assert_eq!(command(&mut stage, "n"), Command::Step);
    stage.press("esc");
    assert!(stage.screen.view.find.is_none() && !stage.shows("filter:"));
    // What is typed is dropped by the first esc.
    stage.press("/ d a t e esc");
    assert_eq!(stage.screen.view.tool, Some(tool("date_diff")));
    assert!(stage.screen.view.find.is_none() && stage.screen.view.popups.is_empty());
}

#[test]
fn a_filter_without_a_match_says_how_it_ends() {
    let mut stage = Stage::of(&story::demo());
    stage.press("3 / x y z");
    assert!(stage.shows("no tool matches \"xyz\" · esc shows all"), "{}", stage.text());
    let selected = stage.screen.view.tool.clone();
    stage.press("enter down");
    assert_eq!(stage.screen.view.tool, selected);
    stage.press("esc");
    assert!(!stage.shows("no tool matches"));
}

#[test]
fn a_text_is_searched_from_match_to_match() {
    let mut stage = Stage::of(&story::demo());
    stage.press("2 /");
    stage.write("search_web");
    let line = |stage: &Stage| stage.screen.view.line;
    let first = line(&stage).unwrap();
    assert!(stage.shows("/search_web█  1 of "), "{}", stage.text());
    stage.press("enter n");
    assert!(line(&stage).unwrap() > first && stage.shows("/search_web 2 of "), "{}", stage.text());
    assert!(stage.shows("n N next, previous match"), "{}", stage.text());
    stage.press("N");
    assert_eq!(line(&stage), Some(first));
    stage.press("esc");
    assert_eq!(command(&mut stage, "n"), Command::Step);
}

#[test]
fn matches_are_marked_wherever_they_stand() {
    for (key, needle) in [("2", "search_web"), ("3", "web"), ("1", "web")] {
        let mut stage = Stage::of(&story::demo());
        stage.press(&format!("{key} /"));
        stage.write(needle);
        let found = stage.screen.theme().found;
        let marked = |x: u16, y: u16| {
            let cell = &stage.buf[(x, y)];
            cell.style().bg == found.bg
        };
        let text = stage.text();
        let cells = stage.area.positions().filter(|at| marked(at.x, at.y)).count();
        assert!(cells > 0 && cells % needle.len() == 0, "{cells} cells\n{text}");
    }
}
