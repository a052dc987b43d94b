//! What each region of the screen shows: a file or a folder for each, which declares the pane in its
//! `SPEC`. The rest of the screen reaches them only by the table [`PANES`].

pub(super) mod budget_words;
pub mod format;
pub(super) mod glyph;
mod inline_json;
pub(super) mod position;
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

use super::action::{Action, why};
use super::pane::{Cx, Move, PaneId};
use super::update::{ScreenRequest, World, change};
use super::vlist::{Find, List};
use super::{hits::Hits, view::View};
use crate::domain::State;

/// What is declared about a pane.
pub struct PaneSpec {
    pub id: PaneId,
    pub name: &'static str,
    /// Whether it has something to show, or will have.
    pub when: fn(&State, &View) -> bool,
    /// What stands in its frame behind its name.
    title: fn(&Cx<'_>) -> Line<'static>,
    /// Draws its inside, which is never empty.
    draw: fn(&Cx<'_>, Rect, &mut Buffer, &mut Hits),
    /// What can be selected in it.
    list: for<'a> fn(&'a State, &View) -> List<'a>,
    /// A movement that leads elsewhere than along the list; false: this one does not.
    go: fn(&State, &mut View, Move) -> bool,
    /// Looks closer at what is selected.
    pub open: fn(&World<'_>, &mut View) -> Vec<ScreenRequest>,
    /// Why what is selected cannot be removed; `None`: it can.
    pub why_not_remove: fn(&State, &View) -> Option<&'static str>,
    /// Takes away what is selected.
    pub remove: fn(&State, &View) -> Vec<ScreenRequest>,
    /// Why what is selected cannot be edited or turned; `None`: it can.
    pub why_not_adjust: fn(&State, &View) -> Option<&'static str>,
    /// Types a new value for what is selected.
    pub edit: fn(&World<'_>, &mut View) -> Vec<ScreenRequest>,
    /// Turns what is selected by one step, up or down.
    pub turn: fn(&World<'_>, &mut View, up: bool) -> Vec<ScreenRequest>,
    /// Lets go of what holds the pane still.
    pub leave: fn(&mut View),
    /// What is worth a place in the footer, the most useful first.
    pub keys: &'static [Action],
}

/// What holds for a pane that declares nothing else: the selected tool's score is edited and turned, and the
/// selected call is removed.
const PLAIN: PaneSpec = PaneSpec {
    id: PaneId::Graph,
    name: "",
    when: |_, _| true,
    title: |_| Line::default(),
    draw: |_, _, _, _| {},
    list: |_, _| List::none(),
    go: |_, _, _| false,
    open: |_, _| Vec::new(),
    why_not_remove: |state, view| view.cancels(state).err(),
    remove: change::cancel,
    why_not_adjust: why::no_tool,
    edit: change::edit_score,
    turn: change::turn_score,
    leave: |_| {},
    keys: &[],
};

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

/// What stands in a pane's frame.
pub fn title(pane: PaneId, cx: &Cx<'_>) -> Line<'static> {
    let spec = pane.spec();
    let mut title = Line::from(spec.name);
    title.spans.extend((spec.title)(cx).spans);
    title
}

/// Draws a pane's inside.
pub fn draw(pane: PaneId, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if !area.is_empty() {
        (pane.spec().draw)(cx, area, buf, hits);
    }
}

/// Moves the pane's selection, which its list then follows.
pub fn go(pane: PaneId, state: &State, view: &mut View, to: Move) {
    view.follow(pane);
    let spec = pane.spec();
    if !(spec.go)(state, view, to) {
        (spec.list)(state, view).go(view, to, view.page(pane));
    }
}

/// Selects the next thing in the pane whose text holds `needle` (lower case); false if none does.
pub fn find(pane: PaneId, state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    (pane.spec().list)(state, view).find(view, needle, how)
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
