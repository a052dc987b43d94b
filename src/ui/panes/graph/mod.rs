//! The tool graph: where the agent is and where it can go. Three views of the same weights: *focus* for
//! one node and its neighbours, *map* for the whole, *matrix* for every weight at once.

mod focus;
mod lines;
mod map;
mod matrix;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::position::Here;
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::change;
use crate::domain::{State, ToolName};
use crate::hits::Hits;
use crate::papers::toolnet::Weights;
use crate::view::{GraphView, Round};
use crate::{cx::Cx, pane::PaneId};

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Graph,
    most: |state, view| {
        // The list of choices with what leads here; the drawn graph can use any room.
        (view.graph == GraphView::Focus).then(|| focus::most(state, view))
    },
    title,
    draw,
    list: |state, view| match view.graph {
        GraphView::Focus => focus::list(state, view),
        GraphView::Map => map::list(state, view),
        GraphView::Matrix => matrix::list(state, view),
    },
    filters: |view| (view.graph == GraphView::Focus).then_some("tool"),
    go: |state, view, to| {
        match view.graph {
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
    keys: &[Action::Less, Action::More, Action::Pin, Action::NextView],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
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
        GraphView::Focus => focus::draw(cx, area, buf, hits),
        GraphView::Map => map::draw(cx, area, buf, hits),
        GraphView::Matrix => matrix::draw(cx, area, buf, hits),
    }
}

/// The node that is looked at: the one that the user went to, else where the agent is.
fn centre<'a>(state: &'a State, centre: Option<&'a ToolName>) -> &'a str {
    let known =
        centre.filter(|node| node.is_special() || state.learning.graph.contains(node.as_str()));
    known.map_or_else(|| Here::of(state).node(), ToolName::as_str)
}

fn weights(state: &State) -> Weights<'_> {
    Weights::of(&state.learning, &state.knobs)
}

/// `end` as a menu has it.
pub(super) fn shown_name(name: &str) -> &str {
    if name == ToolName::END { "Finish" } else { name }
}
