//! The tool graph: where the agent is and where it can go. Three views of the same weights: *focus* for
//! one node and its neighbours, *map* for the whole, *matrix* for every weight at once. Agents that are watched obey no
//! weights: their calls are *counted*.

mod focus;
mod lines;
mod map;
mod matrix;
mod succession_graph;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::position::Here;
use super::row::split;
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::change;
use crate::domain::{Prior, State, ToolName};
use crate::hits::Hits;
use crate::papers::toolnet::Weights;
use crate::view::{GraphView, Round, View};
use crate::{cx::Cx, pane::PaneId};

/// The least cells and rows of a pane that shows the map beside the focus view, or below it.
const BESIDE: (u16, u16) = (140, 14);
const BELOW: (u16, u16) = (72, 24);
/// The fewest cells of the focus view beside the map, and its fewest rows above the map.
const NEAR: (u16, u16) = (68, 12);

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Graph,
    watched: Some("Graph"),
    most: |state, view| {
        if state.watched.is_some() {
            return Some(succession_graph::most(state));
        }
        // The list of choices with the predecessors, and below it the map; the map alone can use any room.
        (view.graph == GraphView::Focus).then(|| focus::most(state, view) + map_rows(state, view))
    },
    title,
    draw,
    list: |state, view| match view.graph {
        _ if state.watched.is_some() => succession_graph::list(state, view),
        GraphView::Focus => focus::list(state, view),
        GraphView::Map => map::list(state, view),
        GraphView::Matrix => matrix::list(state, view),
    },
    filters: |view| (view.graph == GraphView::Focus).then_some("tool"),
    go: |state, view, to| {
        match view.graph {
            _ if state.watched.is_some() => return false,
            GraphView::Focus => return focus::go(state, view, to),
            GraphView::Map => map::go(state, view, to),
            GraphView::Matrix => matrix::go(state, view, to),
        }
        true
    },
    open: |_, _| Opened::Act(Action::InspectTool),
    leave: |view| view.centre = None,
    why_not_remove: change::not_pinned,
    remove: change::unpin,
    why_not_adjust: |state, view| match state.watched {
        Some(_) => Some("a watched agent has no scores: the graph counts what came after what"),
        None => change::no_tool(state, view),
    },
    keys: &[Action::Less, Action::More, Action::Pin, Action::NextView],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    if cx.state.watched.is_some() {
        return Line::from(succession_graph::title(cx.state));
    }
    let mut title = format!(" · {}", cx.view.graph.name());
    if let Some(task) = Here::of(cx.state).task {
        let step = task.steps.last().map_or(0, |step| step.step);
        title.push_str(&format!(" · task {} step {step}", task.id));
        if task.tries > 1 {
            title.push_str(&format!(" attempt {}", task.tries));
        }
    }
    Line::from(title)
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    match cx.view.graph {
        _ if cx.state.watched.is_some() => succession_graph::draw(cx, area, buf, hits),
        GraphView::Focus => {
            let (near, far) = parts(cx, area);
            focus::draw(cx, near, buf, hits);
            far.into_iter().for_each(|far| map::draw_beside(cx, far, buf, hits));
        }
        GraphView::Map => map::draw(cx, area, buf, hits),
        GraphView::Matrix => matrix::draw(cx, area, buf, hits),
    }
}

/// The rows that a map below the focus view can use, and one above it; 0 if it would say nothing more.
fn map_rows(state: &State, view: &View) -> usize {
    let tells = focus::is_weighted(state, view) && state.learning.graph.prior() == Prior::Static;
    if tells { map::most(state, view) + 1 } else { 0 }
}

/// The area of the focus view, and that of the map beside it or below it, if there is room for both.
fn parts(cx: &Cx<'_>, area: Rect) -> (Rect, Option<Rect>) {
    let rows = u16::try_from(map_rows(cx.state, cx.view)).unwrap_or(u16::MAX);
    if rows == 0 {
        return (area, None);
    }
    if area.width >= BESIDE.0 && area.height >= BESIDE.1 {
        let near = Rect { width: NEAR.0.max(area.width * 2 / 5), ..area };
        let x = near.right() + 2;
        return (near, Some(Rect { x, width: area.right() - x, ..area }));
    }
    if area.width < BELOW.0 || area.height < BELOW.1 {
        return (area, None);
    }
    let most = u16::try_from(focus::rows(cx.state, cx.view)).unwrap_or(u16::MAX).max(NEAR.1);
    let least = (area.height * 2 / 5).clamp(NEAR.1, most);
    let (near, rest) = split(area, area.height.saturating_sub(rows).clamp(least, most));
    (near, Some(split(rest, 1).1))
}

/// The node that is looked at: the one the user went to, else the agent's.
fn centre<'a>(state: &'a State, centre: Option<&'a ToolName>) -> &'a str {
    let known =
        centre.filter(|node| node.is_special() || state.learning.graph.contains(node.as_str()));
    known.map_or_else(|| Here::of(state).node(), ToolName::as_str)
}

fn weights(state: &State) -> Weights<'_> {
    Weights::of(&state.learning, &state.knobs)
}

/// The name of a node; `end` is named as in a menu.
pub(super) fn shown_name(name: &str) -> &str {
    if name == ToolName::END { "Finish" } else { name }
}
