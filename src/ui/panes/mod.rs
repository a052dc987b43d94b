//! What each region of the screen shows: a file or a folder for each, which has `title`, `draw`, `go` (a
//! movement key) and `find`. They are reached only from here.

mod brief;
pub(super) mod glyph;
mod here;
mod order;
pub(super) mod planned;
mod row;
mod since;
pub mod units;

pub mod blueprint;
pub mod budget;
pub mod graph;
pub mod knobs;
pub mod models;
pub mod scores;
pub mod search;
pub mod tasks;
pub mod transcript;
pub mod workers;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::{
    hits::Hits,
    pane::{Cx, Move, PaneId},
    popups::Subject,
    view::View,
    vlist::Find,
};
use crate::domain::state::State;

/// What stands in a pane's frame.
pub fn title(pane: PaneId, cx: &Cx<'_>) -> Line<'static> {
    match pane {
        PaneId::Graph => graph::title(cx),
        PaneId::Transcript => transcript::title(cx),
        PaneId::Scores => scores::title(cx),
        PaneId::Knobs => knobs::title(cx),
        PaneId::Models => models::title(cx),
        PaneId::Calls => workers::title(cx),
        PaneId::Tasks => tasks::title(cx),
        PaneId::Budget => budget::title(cx),
        PaneId::Search if blueprint::shows(cx.state, cx.view) => blueprint::title(cx),
        PaneId::Search => search::title(cx),
    }
}

/// What a pane is called: what it shows may depend on how the agent acts.
pub fn name(pane: PaneId, cx: &Cx<'_>) -> &'static str {
    match pane {
        PaneId::Calls if blueprint::shows(cx.state, cx.view) => workers::NAME,
        PaneId::Search if blueprint::shows(cx.state, cx.view) => blueprint::NAME,
        pane => pane.name(),
    }
}

/// What is looked at closer in the pane of plan and search.
pub fn steps_subject(state: &State, view: &View) -> Option<Subject> {
    if blueprint::shows(state, view) {
        blueprint::subject(state, view)
    } else {
        search::subject(state, view)
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
        PaneId::Calls => workers::draw(cx, area, buf, hits),
        PaneId::Tasks => tasks::draw(cx, area, buf, hits),
        PaneId::Budget => budget::draw(cx, area, buf, hits),
        PaneId::Search if blueprint::shows(cx.state, cx.view) => {
            blueprint::draw(cx, area, buf, hits);
        }
        PaneId::Search => search::draw(cx, area, buf, hits),
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
        PaneId::Calls => workers::go(state, view, to),
        PaneId::Tasks => tasks::go(state, view, to),
        PaneId::Budget => budget::go(state, view, to),
        PaneId::Search if blueprint::shows(state, view) => blueprint::go(state, view, to),
        PaneId::Search => search::go(state, view, to),
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
        PaneId::Calls => workers::find(state, view, needle, how),
        PaneId::Tasks => tasks::find(state, view, needle, how),
        PaneId::Budget => budget::find(state, view, needle, how),
        PaneId::Search if blueprint::shows(state, view) => {
            blueprint::find(state, view, needle, how)
        }
        PaneId::Search => search::find(state, view, needle, how),
    }
}
