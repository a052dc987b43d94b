//! The panes of the screen: each is a file or a folder that declares the pane in its `SPEC`. The rest of the screen
//! reaches panes only through the table [`PANES`].

pub mod budget_words;
mod curve;
mod earlier_tasks;
pub mod format;
pub(super) mod glyph;
pub(super) mod inline_json;
pub(crate) mod plot;
pub(super) mod position;
pub(super) mod program_words;
pub(super) mod row;
pub(super) mod spec;
pub(super) mod tool_order;
mod trends;

pub mod breakpoints;
pub mod budget;
pub mod calls;
pub mod conversations;
pub mod graph;
pub mod knobs;
pub(super) mod lanes;
pub mod models;
pub mod output;
pub mod plan;
pub mod probing;
pub mod problems;
pub mod program;
pub mod prompt;
pub mod reading;
pub mod resilience;
pub mod revisions;
pub mod search;
pub mod servers;
pub mod tasks;
pub mod tools;
pub mod transcript;
pub mod twin;
pub mod variables;
pub mod watches;

use ratatui::text::{Line, Span};
use ratatui::{buffer::Buffer, layout::Rect};

use self::spec::PaneSpec;
use super::cx::Cx;
use super::window::{Find, Move};
use super::{action::Action, needle::Needle, text};
use super::{hits::Hits, pane::PaneId, view::View, vlist::List};
use crate::domain::State;

/// Cells of a frame's line that a title leaves free, including the pane's key.
const AROUND_TITLE: usize = 9;

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
    program::SPEC,
    variables::SPEC,
    revisions::SPEC,
    probing::SPEC,
    reading::SPEC,
    resilience::SPEC,
    search::SPEC,
    breakpoints::SPEC,
    watches::SPEC,
    conversations::SPEC,
    output::SPEC,
    servers::SPEC,
    problems::SPEC,
    prompt::SPEC,
    twin::SPEC,
];

/// The declaration of a pane.
pub fn spec(pane: PaneId) -> &'static PaneSpec {
    &PANES[pane as usize]
}

/// The name of a pane in a session.
pub fn name(pane: PaneId, state: &State) -> &'static str {
    let watched = spec(pane).watched.filter(|_| state.watched.is_some());
    watched.unwrap_or(pane.name())
}

/// The title in a pane's frame.
pub fn title(pane: PaneId, cx: &Cx<'_>) -> Line<'static> {
    let own = (spec(pane).title)(cx);
    let mut title = Line::from(name(pane, cx.state));
    let Some(found) = cx.view.found(pane).filter(|found| found.filters.is_some()) else {
        title.spans.extend(own.spans);
        return title;
    };
    let filter = format!(" · filter: {} · {}", text::clean(found.needle.text()), found.count());
    // If only one fits, it is the filter, since that hides rows.
    let width = title.width() + own.width() + text::width(&filter) + AROUND_TITLE;
    if width <= usize::from(cx.frame.width) {
        title.spans.extend(own.spans);
    }
    title.push_span(Span::styled(filter, cx.theme.accent));
    title
}

/// Draws a pane's inside.
pub fn draw(pane: PaneId, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if area.is_empty() {
        return;
    }
    let Some(found) = cx.view.found(pane) else {
        return (spec(pane).draw)(cx, area, buf, hits);
    };
    if let Some(what) = found.filters.filter(|_| found.rows.is_empty()) {
        let all = cx.keymap.key(Action::Leave).map(|key| format!(" · {key} shows all"));
        let said = format!("no {what} matches \"{}\"", found.needle.text());
        return row::note(area, &(said + &all.unwrap_or_default()), cx.theme.dim, buf);
    }
    (spec(pane).draw)(cx, area, buf, hits);
    found.needle.tint(area, cx.theme.found, buf);
}

/// The pane's list, with only the rows that a filter keeps.
fn list<'a>(pane: PaneId, state: &'a State, view: &View) -> List<'a> {
    let list = (spec(pane).list)(state, view);
    match view.found(pane).filter(|found| found.filters.is_some()) {
        Some(found) => list.narrowed(&found.needle),
        None => list,
    }
}

/// Looks up again which rows of the searched pane match.
pub fn look_up(state: &State, view: &mut View) {
    let Some(pane) = view.find.as_ref().map(|found| found.pane) else { return };
    let spec = self::spec(pane);
    let (list, filters) = ((spec.list)(state, view), (spec.filters)(view));
    let placed = view.placed.iter().find(|placed| placed.pane == pane);
    let when = (state.n, placed.map_or(0, |placed| placed.area.width));
    let Some(found) = &mut view.find else { return };
    let needle = found.needle.clone();
    (found.filters, found.gone) = (filters, list.gone);
    found.look(list.place, list.steady, when, |row| list.holds(row, &needle));
}

/// Moves the pane's selection, which its list then follows.
pub fn go(pane: PaneId, state: &State, view: &mut View, to: Move) {
    view.follow(pane);
    let spec = self::spec(pane);
    if !(spec.go)(state, view, to) {
        list(pane, state, view).go(view, to, view.page(pane));
    }
}

/// Selects the next match in the pane; false if there is none.
pub fn find(pane: PaneId, state: &State, view: &mut View, needle: &Needle, how: Find) -> bool {
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
