//! Panes are resized, hidden, shown and moved, and each strategy and size keeps its own layout.

use pretty_assertions::assert_eq;
use ratatui::layout::Rect;
use toolyard::domain::{By, ChangeEvent, Strategy};
use toolyard::ui::pane::PaneId;
use toolyard::ui::request::ScreenRequest;

use super::stage;
use crate::stage::Stage;

/// Where a pane is, if it is seen.
fn area(stage: &Stage, pane: PaneId) -> Option<Rect> {
    let placed = stage.screen.view.placed.iter().find(|placed| placed.pane == pane);
    placed.map(|placed| placed.area)
}

fn seen(stage: &Stage) -> Vec<PaneId> {
    stage.screen.view.placed.iter().map(|placed| placed.pane).collect()
}

#[test]
fn panes_are_resized_and_made_equal() {
    let mut stage = stage();
    let before = area(&stage, PaneId::Graph).unwrap();
    stage.press("ctrl-w + ctrl-w + ctrl-w - ctrl-w > ctrl-w > ctrl-w <");
    let after = area(&stage, PaneId::Graph).unwrap();
    assert_eq!((after.height, after.width), (before.height + 1, before.width + 2));
    stage.press("ctrl-w =");
    let heights = seen(&stage).into_iter().map(|pane| area(&stage, pane).unwrap());
    let left: Vec<u16> = heights.filter(|area| area.x == 0).map(|area| area.height).collect();
    assert!(left.iter().all(|height| height.abs_diff(left[0]) <= 1), "{left:?}");
    for _ in 0..40 {
        stage.press("ctrl-w +");
    }
    assert!(stage.shows("not enough room"), "{}", stage.text());
    stage.press("ctrl-w r");
    assert_eq!(area(&stage, PaneId::Graph), Some(before));
}

#[test]
fn panes_are_hidden_shown_and_moved() {
    let mut stage = stage();
    stage.press("2 ctrl-w q");
    assert_eq!(area(&stage, PaneId::Transcript), None);
    assert!(stage.shows("Transcript is hidden · 2 shows it"), "{}", stage.text());
    let focus = stage.screen.view.focus;
    assert!(seen(&stage).contains(&focus));
    // Its key shows it again, in the slot that had the keyboard.
    let slot = area(&stage, focus);
    stage.press("2");
    assert_eq!(
        (stage.screen.view.focus, area(&stage, PaneId::Transcript)),
        (PaneId::Transcript, slot)
    );
    // Another pane comes into a place that is chosen.
    // A pane of fewer rows leaves some to its neighbour.
    let place = |stage: &Stage, pane| area(stage, pane).map(|at| (at.x, at.width, at.bottom()));
    let before = place(&stage, PaneId::Transcript);
    stage.press("ctrl-w a");
    stage.write("models");
    stage.press("enter");
    assert_eq!((stage.screen.view.focus, place(&stage, PaneId::Models)), (PaneId::Models, before));
    stage.press("ctrl-w o");
    assert_eq!(seen(&stage), [PaneId::Models]);
    stage.press("ctrl-w q");
    assert!(stage.shows("the last pane cannot be hidden"), "{}", stage.text());
}

#[test]
fn each_strategy_keeps_its_layout() {
    let mut stage = stage();
    let toolnet = seen(&stage);
    assert_eq!(stage.press("ctrl-w o ctrl-w s"), [ScreenRequest::SaveLayout]);
    let only = seen(&stage);
    assert_eq!(only.len(), 1);
    let use_strategy = |stage: &mut Stage, name: &str| {
        let strategy: Strategy = name.parse().unwrap();
        let was = stage.screen.live().strategy;
        stage.tell(ChangeEvent::StrategyChosen { strategy, was, by: By::User });
    };
    use_strategy(&mut stage, "dfsdt");
    assert!(seen(&stage).len() > 4, "{:?}", seen(&stage));
    use_strategy(&mut stage, "toolnet");
    assert_eq!(seen(&stage), only);
    stage.press("ctrl-w r");
    assert_eq!(seen(&stage), toolnet);
}
