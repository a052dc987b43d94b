//! A lane for each call, live.

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

const PANE: PaneId = PaneId::Calls;

pub fn title(_cx: &Cx<'_>) -> Line<'static> {
    Line::from(PANE.name())
}

fn total(state: &State) -> usize {
    state.calls.len()
}

fn label(state: &State, i: usize) -> Option<String> {
    state.calls.get(i).map(|call| format!("#{} {}", call.id, call.tool))
}

fn selected(state: &State, view: &View) -> Option<usize> {
    view.call(state).and_then(|call| state.calls.binary_search_by_key(&call, |call| call.id).ok())
}

fn select(state: &State, view: &mut View, i: usize) {
    if let Some(call) = state.calls.get(i) {
        view.call = Some(call.id);
        view.tool = Some(call.tool.clone());
    }
}

fn target(state: &State, i: usize) -> Option<Target> {
    state.calls.get(i).map(|call| Target::Call(call.id))
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
