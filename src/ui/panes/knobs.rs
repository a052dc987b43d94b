//! The numbers that can be turned while it runs.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use crate::{
    knob::KNOBS,
    state::State,
    ui::{
        hits::{Hits, Target},
        pane::{Cx, Move, PaneId},
        text,
        view::View,
        vlist::{self, Find},
    },
};

const PANE: PaneId = PaneId::Knobs;

pub fn title(_cx: &Cx<'_>) -> Line<'static> {
    Line::from(PANE.name())
}

fn total(_state: &State) -> usize {
    KNOBS.len()
}

fn label(state: &State, i: usize) -> Option<String> {
    KNOBS.get(i).map(|spec| format!("{} {}", spec.name, spec.show(state.knobs.get(spec.knob))))
}

fn selected(_state: &State, view: &View) -> Option<usize> {
    KNOBS.iter().position(|spec| spec.knob == view.knob())
}

fn select(_state: &State, view: &mut View, i: usize) {
    if let Some(spec) = KNOBS.get(i) {
        view.knob = Some(spec.knob);
    }
}

fn target(_state: &State, i: usize) -> Option<Target> {
    KNOBS.get(i).map(|spec| Target::Knob(spec.knob))
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
