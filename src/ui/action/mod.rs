//! Everything a person can do, declared once: name, doc, default keys, and why it cannot be done now. The
//! footer, the help, the palette, popups, `toolyard keys` and the README's table all read this table.

mod layer;
mod table;
pub(super) mod why;

use super::{pane::PaneId, view::View};
use crate::domain::State;

pub use layer::{LAYER_KEYS, Layer};
pub use table::ACTIONS;

/// Something a person can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    RunOrPause,
    Step,
    StepOut,
    Remove,
    CancelAll,
    HoldLane,
    Stop,
    NewTask,

    Fail,
    AddFault,
    Edit,
    Less,
    More,
    Switch,
    Learning,
    Strategy,
    Model,
    Pin,
    SetClass,
    ReloadTools,
    CheckModels,
    Undo,
    Redo,

    Open,
    InspectTool,
    Prompt,
    NextView,
    Sort,
    Pairs,

    EventBack,
    EventForward,
    StepBack,
    StepForward,
    PastStart,
    Live,

    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Top,
    Bottom,
    NextPane,
    PreviousPane,
    Pane(PaneId),
    Faults,
    Messages,
    Find,
    NextMatch,
    PreviousMatch,
    Leave,

    Zoom,
    Help,
    Palette,
    Screenshot,
    NextTheme,
    Redraw,
    Suspend,
    Quit,

    /// In popups only, as are those below.
    Accept,
    Toggle,
    Add,
    NewLine,
}

/// What kind of thing it is: the sections of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Run,
    Change,
    Look,
    Past,
    Move,
    Screen,
    /// What only popups know.
    Popup,
}

impl Group {
    pub const ALL: [Group; 7] = [
        Group::Run,
        Group::Change,
        Group::Look,
        Group::Past,
        Group::Move,
        Group::Screen,
        Group::Popup,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Group::Run => "Run",
            Group::Change => "Change",
            Group::Look => "Look closer",
            Group::Past => "Time",
            Group::Move => "Move",
            Group::Screen => "Screen",
            Group::Popup => "In popups",
        }
    }
}

/// What is declared about an action.
#[derive(Debug)]
pub struct ActionSpec {
    pub action: Action,
    pub group: Group,
    /// As written in the configuration.
    pub name: &'static str,
    /// One or two words, for the footer.
    pub short: &'static str,
    pub doc: &'static str,
    /// Default keys in the global layer, as [`super::key::Keys`] reads them. Those in other layers are in
    /// [`LAYER_KEYS`].
    pub keys: &'static [&'static str],
    why: Why,
}

/// Why an action cannot be done now; `None`: it can.
type Why = fn(&State, &View) -> Option<&'static str>;

impl Action {
    /// What is declared about it.
    pub fn spec(self) -> &'static ActionSpec {
        let at = ACTIONS.iter().position(|spec| spec.action == self);
        // A test keeps every action in the table; the first entry is a safe answer all the same.
        &ACTIONS[at.unwrap_or_default()]
    }

    pub fn by_name(name: &str) -> Option<Action> {
        ACTIONS.iter().find(|spec| spec.name == name).map(|spec| spec.action)
    }
}

impl ActionSpec {
    /// Why it cannot be done now, given what is true now; `None`: it can.
    pub fn why_not(&self, state: &State, view: &View) -> Option<&'static str> {
        (self.why)(state, view)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

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
    }

    #[test]
    fn every_pane_can_be_gone_to() {
        for pane in PaneId::ALL {
            assert_eq!(Action::Pane(pane).spec().action, Action::Pane(pane));
        }
    }
}
