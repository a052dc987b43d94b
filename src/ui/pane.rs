//! The regions of the screen, by name, and what every one of them is given. What they show is in
//! [`super::panes`].

use super::panes::{PANES, PaneSpec};
use super::{action::Action, keymap::Keymap, theme::Theme, view::View};
use crate::domain::State;

/// A region of the screen, in the order of the number keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PaneId {
    /// Where the agent is and where it can go.
    #[default]
    Graph,
    /// What happened, line by line.
    Transcript,
    /// The tools: score, trend, weight, calls, faults.
    Tools,
    Knobs,
    /// Roles, the models bound to them, and what they used.
    Models,
    /// A lane for each call, live.
    Calls,
    Tasks,
    /// What the task may cost, what was planned for it, and what it has cost.
    Budget,
    /// What a planner wrote.
    Plan,
    /// Where a search has been.
    Search,
}

impl PaneId {
    pub const ALL: [PaneId; 10] = [
        PaneId::Graph,
        PaneId::Transcript,
        PaneId::Tools,
        PaneId::Knobs,
        PaneId::Models,
        PaneId::Calls,
        PaneId::Tasks,
        PaneId::Budget,
        PaneId::Plan,
        PaneId::Search,
    ];

    /// The pane so many places further on, going round.
    #[must_use]
    pub fn after(self, places: usize) -> Self {
        Self::ALL[(self as usize + places) % Self::ALL.len()]
    }

    /// What is declared about it.
    pub fn spec(self) -> &'static PaneSpec {
        &PANES[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.spec().name
    }
}

/// One value for each pane.
#[derive(Clone, Copy, Debug, Default)]
pub struct PerPane<T>([T; PaneId::ALL.len()]);

impl<T: Copy> PerPane<T> {
    pub fn get(&self, pane: PaneId) -> T {
        self.0[pane as usize]
    }

    pub fn set(&mut self, pane: PaneId, value: T) {
        self.0[pane as usize] = value;
    }
}

/// What drawing may read.
#[derive(Clone, Copy)]
pub struct Cx<'a> {
    /// The state at the moment looked at.
    pub state: &'a State,
    /// The state now; another one than `state` only while the past is looked at.
    pub live: &'a State,
    pub view: &'a View,
    pub theme: &'a Theme,
    pub keymap: &'a Keymap,
    /// Microseconds since the session was opened. In the past: when the moment was.
    pub now: u64,
    /// Whether this pane has the keyboard.
    pub focused: bool,
}

impl Cx<'_> {
    /// Whether this pane is searched, and what is searched for is in this text.
    pub fn finds(&self, pane: PaneId, text: impl FnOnce() -> String) -> bool {
        let needle = self.view.needle(pane);
        needle.is_some_and(|needle| text().to_lowercase().contains(needle))
    }
}

/// Where a movement key points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Move {
    /// The movement that an action is, if it is one.
    pub fn of(action: Action) -> Option<Self> {
        let moves = [
            (Action::Up, Move::Up),
            (Action::Down, Move::Down),
            (Action::Left, Move::Left),
            (Action::Right, Move::Right),
            (Action::PageUp, Move::PageUp),
            (Action::PageDown, Move::PageDown),
            (Action::Top, Move::Top),
            (Action::Bottom, Move::Bottom),
        ];
        moves.into_iter().find(|(of, _)| *of == action).map(|(_, to)| to)
    }
}
