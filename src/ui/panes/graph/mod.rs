//! The tool graph: where the agent is and where it can go. Three views of the same weights: *focus* for
//! one node and its neighbours, *map* for the whole, *matrix* for every weight at once.

mod focus;
mod map;
mod matrix;
mod what_if;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::position::Here;
use crate::domain::{State, ToolName};
use crate::ui::pane::{Cx, Move, PaneId};
use crate::ui::view::{GraphView, View};
use crate::ui::{hits::Hits, vlist::Find};

const PANE: PaneId = PaneId::Graph;

pub fn title(cx: &Cx<'_>) -> Line<'static> {
    let mut title = format!("{} · {}", PANE.name(), cx.view.graph.name());
    if let Some(task) = Here::of(cx.state).task {
        let step = task.steps.last().map_or(0, |step| step.step);
        title.push_str(&format!(" · task {} step {step}", task.id));
        if task.tries > 1 {
            title.push_str(&format!(" try {}", task.tries));
        }
    }
    Line::from(title)
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    match cx.view.graph {
        GraphView::Focus => focus::draw(cx, area, buf, hits),
        GraphView::Map => map::draw(cx, area, buf, hits),
        GraphView::Matrix => matrix::draw(cx, area, buf, hits),
    }
}

pub fn go(state: &State, view: &mut View, to: Move) {
    match view.graph {
        GraphView::Focus => focus::go(state, view, to),
        GraphView::Map => map::go(state, view, to),
        GraphView::Matrix => matrix::go(state, view, to),
    }
}

pub fn find(state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    match view.graph {
        GraphView::Focus => focus::find(state, view, needle, how),
        GraphView::Map => map::find(state, view, needle, how),
        GraphView::Matrix => matrix::find(state, view, needle, how),
    }
}

/// `end` as a menu has it.
fn shown_name(name: &str) -> &str {
    if name == ToolName::END { "Finish" } else { name }
}
