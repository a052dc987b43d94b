//! Tests of the table of actions.

use super::*;
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_lead_back() {
    let names: BTreeSet<_> = ACTIONS.iter().map(|spec| spec.name).collect();
    assert_eq!(names.len(), ACTIONS.len());
    for spec in ACTIONS {
        assert_eq!(Action::by_name(spec.name), Some(spec.action));
        assert_eq!(spec.action.spec().name, spec.name);
        assert!(spec.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", spec.name);
        assert!(![spec.name, spec.short, spec.doc].contains(&""), "{:?}", spec.action);
    }
    // Every pane has an action that goes to it.
    for pane in PaneId::ALL.iter().copied() {
        assert_eq!(Action::Pane(pane).spec().action, Action::Pane(pane));
    }
}
