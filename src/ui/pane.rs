//! The regions of the screen. What every pane is given and what it must be able to do; each lives in
//! its own file under `panes/` and is reached only from here.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::{
    hits::Hits,
    panes::{calls, graph, knobs, models, scores, tasks, transcript},
    theme::Theme,
    view::View,
    vlist::Find,
};
use crate::state::State;

/// A region of the screen, in the order of its number key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PaneId {
    /// Where the agent is and where it can go.
    #[default]
    Graph,
    /// What happened, line by line.
    Transcript,
    /// The tools: score, trend, weight, calls, faults.
    Scores,
    Knobs,
    /// Roles, the models bound to them, and what they used.
    Models,
    /// A lane for each call, live.
    Calls,
    Tasks,
}

impl PaneId {
    pub const ALL: [PaneId; 7] = [
        PaneId::Graph,
        PaneId::Transcript,
        PaneId::Scores,
        PaneId::Knobs,
        PaneId::Models,
        PaneId::Calls,
        PaneId::Tasks,
    ];

    /// The pane so many places further on, going round.
    #[must_use]
    pub fn after(self, places: usize) -> Self {
        Self::ALL[(self as usize + places) % Self::ALL.len()]
    }

    pub fn name(self) -> &'static str {
        match self {
            PaneId::Graph => "Graph",
            PaneId::Transcript => "Transcript",
            PaneId::Scores => "Tools",
            PaneId::Knobs => "Knobs",
            PaneId::Models => "Models",
            PaneId::Calls => "Calls",
            PaneId::Tasks => "Tasks",
        }
    }
}

/// One value for each pane.
#[derive(Clone, Copy, Debug, Default)]
pub struct PerPane<T>([T; 7]);

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
    /// Microseconds since the session was opened. In the past: when the moment was.
    pub now: u64,
    /// Whether this pane has the keyboard.
    pub focused: bool,
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

/// What stands in a pane's frame.
pub fn title(pane: PaneId, cx: &Cx<'_>) -> Line<'static> {
    match pane {
        PaneId::Graph => graph::title(cx),
        PaneId::Transcript => transcript::title(cx),
        PaneId::Scores => scores::title(cx),
        PaneId::Knobs => knobs::title(cx),
        PaneId::Models => models::title(cx),
        PaneId::Calls => calls::title(cx),
        PaneId::Tasks => tasks::title(cx),
    }
}

/// Draws a pane's inside.
pub fn draw(pane: PaneId, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if area.is_empty() {
        return;
    }
    match pane {
        PaneId::Graph => graph::draw(cx, area, buf, hits),
        PaneId::Transcript => transcript::draw(cx, area, buf, hits),
        PaneId::Scores => scores::draw(cx, area, buf, hits),
        PaneId::Knobs => knobs::draw(cx, area, buf, hits),
        PaneId::Models => models::draw(cx, area, buf, hits),
        PaneId::Calls => calls::draw(cx, area, buf, hits),
        PaneId::Tasks => tasks::draw(cx, area, buf, hits),
    }
}

/// Moves the pane's selection. What is selected always has an id in `view`.
pub fn go(pane: PaneId, state: &State, view: &mut View, to: Move) {
    match pane {
        PaneId::Graph => graph::go(state, view, to),
        PaneId::Transcript => transcript::go(state, view, to),
        PaneId::Scores => scores::go(state, view, to),
        PaneId::Knobs => knobs::go(state, view, to),
        PaneId::Models => models::go(state, view, to),
        PaneId::Calls => calls::go(state, view, to),
        PaneId::Tasks => tasks::go(state, view, to),
    }
}

/// Selects the next thing in the pane whose text holds `needle` (lower case); false if none does.
pub fn find(pane: PaneId, state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    match pane {
        PaneId::Graph => graph::find(state, view, needle, how),
        PaneId::Transcript => transcript::find(state, view, needle, how),
        PaneId::Scores => scores::find(state, view, needle, how),
        PaneId::Knobs => knobs::find(state, view, needle, how),
        PaneId::Models => models::find(state, view, needle, how),
        PaneId::Calls => calls::find(state, view, needle, how),
        PaneId::Tasks => tasks::find(state, view, needle, how),
    }
}
