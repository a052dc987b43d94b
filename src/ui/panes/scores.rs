//! The tools: score, trend, weight, calls and faults.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use crate::{
    state::State,
    ui::{
        hits::{Hits, Target},
        pane::{Cx, Move, PaneId},
        text,
        view::View,
        vlist::{self, Find},
    },
};

const PANE: PaneId = PaneId::Scores;

pub fn title(_cx: &Cx<'_>) -> Line<'static> {
    Line::from(PANE.name())
}

fn total(state: &State) -> usize {
    state.tools.len()
}

fn label(state: &State, i: usize) -> Option<String> {
    state.tools.get_index(i).map(|(name, _)| format!("{name} {:+}", state.learning.score(name)))
}

fn selected(state: &State, view: &View) -> Option<usize> {
    state.tools.get_index_of(view.tool.as_ref()?)
}

fn select(state: &State, view: &mut View, i: usize) {
    if let Some((name, _)) = state.tools.get_index(i) {
        view.tool = Some(name.clone());
    }
}

fn target(state: &State, i: usize) -> Option<Target> {
    state.tools.get_index(i).map(|(name, _)| Target::Tool(name.clone()))
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let rows = (total(cx.state), selected(cx.state, cx.view));
    vlist::draw(cx, PANE, (area, buf, hits), rows, |i, line, buf, hits| {
        let label = label(cx.state, i).unwrap_or_default();
        let width = usize::from(line.width);
        buf.set_stringn(line.x, line.y, text::cut(&label, width), width, cx.theme.text);
        if let Some(target) = target(cx.state, i) {
            hits.add(line, target);
        }
    });
}

pub fn go(state: &State, view: &mut View, to: Move) {
    let at = selected(state, view);
    if let Some(i) = vlist::moved(total(state), at, to, view.page(PANE)) {
        select(state, view, i);
    }
}

pub fn find(state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    let hit = vlist::found(total(state), selected(state, view), how, |i| {
        label(state, i).is_some_and(|label| label.to_lowercase().contains(needle))
    });
    if let Some(i) = hit {
        select(state, view, i);
    }
    hit.is_some()
}
