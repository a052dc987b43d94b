//! What each region of the screen shows: a file or a folder for each, which has `title`, `draw`, `go` (a
//! movement key) and `find`. They are reached only from here.

pub(super) mod budget_words;
pub mod format;
pub(super) mod glyph;
mod inline_json;
mod position;
pub(super) mod row;
mod tool_order;
mod weight_trend;

pub mod budget;
pub mod calls;
pub mod graph;
pub mod knobs;
pub mod models;
pub mod plan;
pub mod search;
pub mod tasks;
pub mod tools;
pub mod transcript;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::pane::{Cx, Move, PaneId};
use super::{hits::Hits, popups::Subject, view::View, vlist::Find};
use crate::domain::State;

/// What stands in a pane's frame.
pub fn title(pane: PaneId, cx: &Cx<'_>) -> Line<'static> {
    match pane {
        PaneId::Graph => graph::title(cx),
        PaneId::Transcript => transcript::title(cx),
        PaneId::Tools => tools::title(cx),
        PaneId::Knobs => knobs::title(cx),
        PaneId::Models => models::title(cx),
        PaneId::Calls => calls::title(cx),
        PaneId::Tasks => tasks::title(cx),
        PaneId::Budget => budget::title(cx),
        PaneId::Search if plan::shows(cx.state, cx.view) => plan::title(cx),
        PaneId::Search => search::title(cx),
    }
}

/// What a pane is called: what it shows may depend on how the agent acts.
pub fn name(pane: PaneId, cx: &Cx<'_>) -> &'static str {
    match pane {
        PaneId::Calls if plan::shows(cx.state, cx.view) => calls::NAME,
        PaneId::Search if plan::shows(cx.state, cx.view) => plan::NAME,
        pane => pane.name(),
    }
}

/// What is looked at closer in the pane of plan and search.
pub fn steps_subject(state: &State, view: &View) -> Option<Subject> {
    if plan::shows(state, view) { plan::subject(state, view) } else { search::subject(state, view) }
}

/// Draws a pane's inside.
pub fn draw(pane: PaneId, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if area.is_empty() {
        return;
    }
    match pane {
        PaneId::Graph => graph::draw(cx, area, buf, hits),
        PaneId::Transcript => transcript::draw(cx, area, buf, hits),
        PaneId::Tools => tools::draw(cx, area, buf, hits),
        PaneId::Knobs => knobs::draw(cx, area, buf, hits),
        PaneId::Models => models::draw(cx, area, buf, hits),
        PaneId::Calls => calls::draw(cx, area, buf, hits),
        PaneId::Tasks => tasks::draw(cx, area, buf, hits),
        PaneId::Budget => budget::draw(cx, area, buf, hits),
        PaneId::Search if plan::shows(cx.state, cx.view) => {
            plan::draw(cx, area, buf, hits);
        }
        PaneId::Search => search::draw(cx, area, buf, hits),
    }
}

/// Moves the pane's selection. What is selected always has an id in `view`.
pub fn go(pane: PaneId, state: &State, view: &mut View, to: Move) {
    match pane {
        PaneId::Graph => graph::go(state, view, to),
        PaneId::Transcript => transcript::go(state, view, to),
        PaneId::Tools => tools::go(state, view, to),
        PaneId::Knobs => knobs::go(state, view, to),
        PaneId::Models => models::go(state, view, to),
        PaneId::Calls => calls::go(state, view, to),
        PaneId::Tasks => tasks::go(state, view, to),
        PaneId::Budget => budget::go(state, view, to),
        PaneId::Search if plan::shows(state, view) => plan::go(state, view, to),
        PaneId::Search => search::go(state, view, to),
    }
}

/// Selects the next thing in the pane whose text holds `needle` (lower case); false if none does.
pub fn find(pane: PaneId, state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    match pane {
        PaneId::Graph => graph::find(state, view, needle, how),
        PaneId::Transcript => transcript::find(state, view, needle, how),
        PaneId::Tools => tools::find(state, view, needle, how),
        PaneId::Knobs => knobs::find(state, view, needle, how),
        PaneId::Models => models::find(state, view, needle, how),
        PaneId::Calls => calls::find(state, view, needle, how),
        PaneId::Tasks => tasks::find(state, view, needle, how),
        PaneId::Budget => budget::find(state, view, needle, how),
        PaneId::Search if plan::shows(state, view) => plan::find(state, view, needle, how),
        PaneId::Search => search::find(state, view, needle, how),
    }
}
