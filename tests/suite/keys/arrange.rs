//! Panes are resized, hidden, shown and moved, and each strategy and size keeps its own layout.

use pretty_assertions::assert_eq;
use ratatui::crossterm::event::MouseButton::Left;
use ratatui::crossterm::event::MouseEventKind::{Down, Drag, Up};
use ratatui::layout::Rect;
use toolyard::domain::{By, ChangeEvent, Strategy};
use toolyard::ui::action::Action;
use toolyard::ui::hits::Target;
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

/// A cell of the border below a pane, or at its right, that no tab and no other border takes.
fn cell_of(stage: &Stage, pane: PaneId, below: bool) -> Option<(u16, u16)> {
    let area = area(stage, pane)?;
    let lies_after = |other: Rect| match below {
        true => other.y == area.bottom() - 1 && other.x == area.x,
        false => other.x == area.right() - 1,
    };
    stage.screen.view.placed.iter().find(|it| it.pane != pane && lies_after(it.area))?;
    let mut line = area.positions().filter(|at| match below {
        true => at.y == area.bottom() - 1 && at.x > area.x && at.x < area.right() - 1,
        false => at.x == area.right() - 1 && at.y > area.y && at.y < area.bottom() - 1,
    });
    let is_frame = |x, y| matches!(stage.screen.hits().at(x, y), Some(Target::Pane(_)));
    line.find(|at| is_frame(at.x, at.y)).map(|at| (at.x, at.y))
}

fn drag(stage: &mut Stage, (x, y): (u16, u16), (to_x, to_y): (u16, u16)) {
    stage.mouse(Down(Left), x, y);
    stage.mouse(Drag(Left), to_x, to_y);
    stage.mouse(Up(Left), to_x, to_y);
}

#[test]
fn a_border_is_dragged_as_far_as_its_keys_move_it() {
    for (width, height) in [(80, 24), (100, 30), (120, 40), (200, 60), (320, 90)] {
        let first = stage().sized(width, height);
        for pane in seen(&first) {
            for (below, keys) in [(true, "ctrl-w +"), (false, "ctrl-w >")] {
                let mut dragged = stage().sized(width, height);
                let Some((x, y)) = cell_of(&dragged, pane, below) else { continue };
                let mut pressed = stage().sized(width, height);
                pressed.screen.view.focus = pane;
                pressed.press(keys);
                let focus = dragged.screen.view.focus;
                drag(&mut dragged, (x, y), if below { (x, y + 1) } else { (x + 2, y) });
                let what = format!("{pane:?} at {width}x{height}, {keys}");
                assert_eq!(area(&dragged, pane), area(&pressed, pane), "{what}");
                assert_eq!(dragged.screen.view.focus, focus, "{what}");
                assert_eq!(dragged.screen.view.border, None, "{what}");
            }
        }
    }
}

#[test]
fn a_border_follows_the_mouse_until_the_button_is_released() {
    let mut stage = stage();
    let before = area(&stage, PaneId::Graph).unwrap();
    let (x, y) = cell_of(&stage, PaneId::Graph, false).unwrap();
    stage.mouse(Down(Left), x, y);
    for to in [x - 1, x - 9, x - 4] {
        stage.mouse(Drag(Left), to, y + 3);
        assert_eq!(area(&stage, PaneId::Graph).unwrap().right() - 1, to);
    }
    stage.mouse(Up(Left), x - 4, y);
    stage.mouse(Drag(Left), x - 20, y);
    assert_eq!(area(&stage, PaneId::Graph).unwrap().width, before.width - 4);
    // Beyond what can be read it stays.
    drag(&mut stage, (x - 4, y), (0, y));
    assert!(area(&stage, PaneId::Graph).unwrap().width >= 20);
    let at = cell_of_graph(&stage);
    drag(&mut stage, at, (119, 5));
    let areas = stage.screen.view.placed.iter().map(|placed| placed.area);
    assert!(areas.map(|area| area.width).min() >= Some(20), "{}", stage.text());
    stage.press("ctrl-w r");
    assert_eq!(area(&stage, PaneId::Graph), Some(before));
    // It is kept as by keys.
    drag(&mut stage, (x, y), (x - 6, y));
    assert_eq!(stage.press("ctrl-w s"), [ScreenRequest::SaveLayout]);
}

fn cell_of_graph(stage: &Stage) -> (u16, u16) {
    cell_of(stage, PaneId::Graph, false).unwrap()
}

#[test]
fn several_movements_between_two_frames_count_once() {
    let mut stage = stage().sized(200, 60);
    let pane = seen(&stage).into_iter().find(|pane| cell_of(&stage, *pane, true).is_some());
    let pane = pane.unwrap();
    let before = area(&stage, pane).unwrap();
    let (x, y) = cell_of(&stage, pane, true).unwrap();
    let send = |stage: &mut Stage, kind, y| {
        use ratatui::crossterm::event::{Event, KeyModifiers, MouseEvent};
        let event = MouseEvent { kind, column: x, row: y, modifiers: KeyModifiers::NONE };
        stage.screen.handle(&Event::Mouse(event));
    };
    for (kind, y) in [
        (Down(Left), y),
        (Drag(Left), y - 1),
        (Drag(Left), y - 2),
        (Drag(Left), y + 1),
        (Up(Left), y + 1),
    ] {
        send(&mut stage, kind, y);
    }
    stage.draw();
    assert_eq!(area(&stage, pane).unwrap().height, before.height + 1);
}

#[test]
fn a_click_on_a_border_only_goes_to_the_pane() {
    let mut stage = stage();
    let places = |stage: &Stage| {
        let placed = stage.screen.view.placed.iter();
        placed.map(|placed| placed.area).collect::<Vec<_>>()
    };
    let before = places(&stage);
    for pane in seen(&stage) {
        for below in [true, false] {
            let Some((x, y)) = cell_of(&stage, pane, below) else { continue };
            stage.mouse(Down(Left), x, y);
            stage.mouse(Up(Left), x, y);
            assert_eq!(places(&stage), before, "{pane:?}");
            assert!(stage.screen.view.popups.is_empty());
        }
    }
    // Neither below a popup nor in a zoomed pane is there a border.
    let (x, y) = cell_of_graph(&stage);
    for keys in ["?", "esc z"] {
        stage.press(keys);
        drag(&mut stage, (x, y), (x - 9, y));
        assert_eq!(stage.screen.view.border, None, "{keys}");
    }
    stage.press("z");
    assert_eq!(places(&stage), before);
    // One that is covered while it is held is let go.
    stage.mouse(Down(Left), x, y);
    stage.press("?");
    stage.mouse(Drag(Left), x - 9, y);
    stage.press("esc");
    stage.mouse(Drag(Left), x - 9, y);
    assert_eq!(places(&stage), before);
}

#[test]
fn the_parts_of_the_header_are_clicked() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let first = stage().sized(width, height);
        let rows = if width < 120 { 2 } else { 1 };
        let parts: Vec<(Rect, Target)> =
            first.screen.hits().targets().filter(|(area, _)| area.y < rows).cloned().collect();
        let panes: Vec<PaneId> = parts
            .iter()
            .filter_map(|(_, target)| match target {
                Target::Action(Action::Pane(pane)) => Some(*pane),
                _ => None,
            })
            .collect();
        assert!(panes.contains(&PaneId::Tasks) && panes.contains(&PaneId::Models), "{panes:?}");
        assert!(
            parts.iter().any(|(_, target)| *target == Target::Action(Action::RunOrPause)),
            "{parts:?}"
        );
        for (area, target) in &parts {
            let mut stage = stage().sized(width, height);
            let pane = match target {
                Target::Action(Action::Pane(pane)) => *pane,
                _ => continue,
            };
            stage.mouse(Down(Left), area.x, area.y);
            assert_eq!(stage.screen.view.focus, pane, "{width}x{height}: {area:?}");
        }
    }
}
