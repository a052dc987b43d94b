//! The layers of the keymap: popups hide the panes' keys, and several keys in a row are one.

use indexmap::IndexSet;
use toolyard::domain::Command;
use toolyard::ui::action::{Action, KeyLayer};
use toolyard::ui::key::Key;
use toolyard::ui::keymap::{Keymap, Meaning};
use toolyard::ui::request::ScreenRequest;

use super::{command, stage};
use crate::stage::Stage;

/// Every popup there is, by the keys that open it.
const POPUPS: [&str; 17] = [
    "t", "A", "m", "F", "g f", "g f a", "S", "q", "?", ":", "/", "i", "v", "g m", "e", "5 P", "3 C",
];

#[test]
fn no_key_changes_anything_behind_a_popup_but_those_that_work_everywhere() {
    let keymap = Keymap::default();
    let of_panes = |layer| layer == KeyLayer::Global || matches!(layer, KeyLayer::Pane(_));
    let of_panes = keymap.bindings().filter(|(layer, ..)| of_panes(*layer));
    // Many sequences begin with the same key.
    let keys: IndexSet<Key> = of_panes.flat_map(|(_, keys, _)| keys.iter().copied()).collect();
    let everywhere: Vec<_> = keymap.bindings().filter(|it| it.0 == KeyLayer::Everywhere).collect();
    for open in POPUPS {
        let seen = |stage: &Stage| {
            let view = &stage.screen.view;
            let selected = (view.focus, view.zoom, view.tool.clone(), view.edge.clone(), view.knob);
            (selected, view.sort, view.graph, view.moment, view.task, view.call, view.line)
        };
        let mut popped = stage();
        popped.press(open);
        let own = popped.screen.view.popups.last().unwrap().keys().0;
        let (before, popup) = (seen(&popped), format!("{:?}", popped.screen.view.popups));
        for key in &keys {
            // What the popup knows itself may well close it or send what it is for.
            let known = keymap.meaning(&[own], &[*key]) != Meaning::Nothing;
            let global = keymap.meaning(&[KeyLayer::Global], &[*key]);
            let quits = open == "q" && global == Meaning::Action(KeyLayer::Global, Action::Quit);
            let searches = open == "/";
            if known || quits || searches {
                continue;
            }
            assert_eq!(popped.press(&key.to_string()), [], "{open}: {key}");
            assert_eq!(seen(&popped), before, "{open}: {key}");
            assert_eq!(popped.screen.view.popups.len(), 1 + usize::from(open == "g f a"));
            if !matches!(own, KeyLayer::Form | KeyLayer::Chooser) {
                assert_eq!(format!("{:?}", popped.screen.view.popups), popup, "{open}: {key}");
            }
        }
        for (_, keys, action) in &everywhere {
            let mut stage = stage();
            stage.press(open);
            let requests = stage.press(&keys.to_string());
            assert!(!requests.is_empty(), "{open}: {keys} does no {}", action.spec().name);
        }
    }
}

#[test]
fn keys_that_follow_each_other_are_shown_taken_back_and_dropped() {
    let mut stage = stage();
    stage.press("g");
    assert!(stage.shows("g …"), "{}", stage.text());
    assert!(!stage.shows("faults"), "{}", stage.text());
    // Help shows at once what can follow.
    stage.press("?");
    assert!(stage.shows("f faults") && stage.shows("g top "), "{}", stage.text());
    stage.press("backspace");
    assert!(stage.screen.view.pending.is_empty() && !stage.shows("f faults"));
    // What cannot follow does nothing, and the next key is a first one again.
    assert_eq!(stage.press("g n"), []);
    assert_eq!(command(&mut stage, "n"), Command::Step);
    assert_eq!(stage.press("y s"), [ScreenRequest::Shoot]);
    assert_eq!(stage.press("g esc"), []);
    stage.press("3 home");
    let first = stage.screen.view.tool.clone();
    stage.press("end g g");
    assert_eq!(stage.screen.view.tool, first);
}
