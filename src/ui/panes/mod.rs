//! What each region of the screen shows: a file or a folder for each, which declares the pane in its
//! `SPEC`. The rest of the screen reaches them only by the table [`PANES`].

pub(super) mod budget_words;
pub mod format;
pub(super) mod glyph;
mod inline_json;
pub(super) mod position;
pub(super) mod row;
mod score_trend;
pub(super) mod spec;
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

use self::spec::PaneSpec;
use super::cx::Cx;
use super::window::{Find, Move};
use super::{hits::Hits, pane::PaneId, view::View};
use crate::domain::State;

/// Every pane, in the order of [`PaneId`].
pub const PANES: &[PaneSpec] = &[
    graph::SPEC,
    transcript::SPEC,
    tools::SPEC,
    knobs::SPEC,
    models::SPEC,
    calls::SPEC,
    tasks::SPEC,
    budget::SPEC,
    plan::SPEC,
    search::SPEC,
];

/// What is declared about a pane.
pub fn spec(pane: PaneId) -> &'static PaneSpec {
    &PANES[pane as usize]
}

/// What stands in a pane's frame.
pub fn title(pane: PaneId, cx: &Cx<'_>) -> Line<'static> {
    let spec = self::spec(pane);
    let mut title = Line::from(pane.name());
    title.spans.extend((spec.title)(cx).spans);
    title
}

/// Draws a pane's inside.
pub fn draw(pane: PaneId, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if !area.is_empty() {
        (spec(pane).draw)(cx, area, buf, hits);
    }
}

/// Moves the pane's selection, which its list then follows.
pub fn go(pane: PaneId, state: &State, view: &mut View, to: Move) {
    view.follow(pane);
    let spec = self::spec(pane);
    if !(spec.go)(state, view, to) {
        (spec.list)(state, view).go(view, to, view.page(pane));
    }
}

/// Selects the next thing in the pane whose text holds `needle` (lower case); false if none does.
pub fn find(pane: PaneId, state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    (spec(pane).list)(state, view).find(view, needle, how)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pane_has_its_place_in_the_table() {
        let declared: Vec<_> = PANES.iter().map(|spec| spec.id).collect();
        assert_eq!(declared, PaneId::ALL);
    }
}
