//! The graph laid out from left to right, with the weights on its edges. Nodes are placed by dagre; the
//! lines between them are drawn so that a crossing is never taken for a junction, and each edge has a
//! row somewhere that is its alone, where its weight stands.

mod channel;
mod draw;
mod layers;
mod lines;
mod memo;
mod node;
mod plan;
mod scene;

use super::PANE;
use crate::{
    id::ToolName,
    state::State,
    ui::{
        pane::Move,
        panes::here::Here,
        view::View,
        vlist::{self, Find},
    },
};
use scene::Scene;

pub use draw::draw;

/// The node that is looked at: the selected tool, else where the agent is.
fn focus_of<'a>(state: &'a State, selected: Option<&'a ToolName>) -> &'a str {
    let known =
        selected.filter(|tool| tool.is_special() || state.learning.graph.contains(tool.as_str()));
    known.map_or_else(|| Here::of(state).node(), ToolName::as_str)
}

/// Moves to the nearest node in a direction, as one sees them.
pub fn go(state: &State, view: &mut View, to: Move) {
    view.follow(PANE);
    let seen = view.tool.clone();
    let focus = focus_of(state, seen.as_ref());
    let scene = Scene::of(state, focus);
    // The order of nodes is that of any way to draw them; this one has the least to lay out.
    let labels: Vec<String> = scene.nodes.iter().map(|name| (*name).to_owned()).collect();
    let plan = draw::plan(&scene, &labels, 1, 1);
    let Some(at) = scene.place(focus).filter(|_| seen.is_some()) else {
        let first = scene.place(Here::of(state).node()).unwrap_or(0);
        return select(state, view, None, scene.nodes.get(first).copied());
    };
    let (x, y) = signed(plan.nodes[at]);
    let distance = |i: &usize| {
        let (dx, dy) = signed(plan.nodes[*i]);
        let (dx, dy) = (dx - x, dy - y);
        // Rows are twice as high as columns are wide, and sideways counts more than ahead.
        let (ahead, aside) = match to {
            Move::Left => (-dx, dy.abs() * 4),
            Move::Right => (dx, dy.abs() * 4),
            Move::Up | Move::PageUp => (-dy, dx.abs()),
            Move::Down | Move::PageDown => (dy, dx.abs()),
            Move::Top => (-dx * 1000 - dy, 0),
            Move::Bottom => (dx * 1000 + dy, 0),
        };
        (ahead > 0).then_some(match to {
            // As far as it goes.
            Move::Top | Move::Bottom => -ahead,
            Move::Left | Move::Right | Move::Up | Move::Down | Move::PageUp | Move::PageDown => {
                ahead + aside
            }
        })
    };
    let nearest =
        (0..scene.nodes.len()).filter(|i| *i != at).filter_map(|i| Some((distance(&i)?, i))).min();
    let from = scene.nodes[at].to_owned();
    if let Some((_, i)) = nearest {
        select(state, view, Some(&from), scene.nodes.get(i).copied());
    }
}

fn signed((x, y): (usize, usize)) -> (isize, isize) {
    (x as isize, y as isize)
}

/// Selects a node, and an edge of it: the one that was walked, in its direction or against it, else the
/// one by which the agent could go there. So there is nearly always a weight to hold.
fn select(state: &State, view: &mut View, from: Option<&str>, to: Option<&str>) {
    let Some(to) = to else { return };
    let here = Here::of(state);
    let walked = from.map(|from| [(from, to), (to, from)]).into_iter().flatten();
    let mut edges = walked.chain([(here.node(), to)]);
    let edge = edges.find(|(from, to)| state.learning.graph.has_edge(from, to));
    view.edge = edge.map(|(from, to)| (ToolName::new(from), ToolName::new(to)));
    view.tool = Some(ToolName::new(to));
}

/// Selects a tool by its name, wherever it is.
pub fn find(state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    let at = view.tool.as_ref().and_then(|tool| state.tools.get_index_of(tool));
    let hit = vlist::found(state.tools.len(), at, how, |i| {
        let tool = state.tools.get_index(i);
        tool.is_some_and(|(name, _)| name.as_str().to_lowercase().contains(needle))
    });
    let name = hit.and_then(|i| state.tools.get_index(i)).map(|(name, _)| name.as_str());
    select(state, view, None, name);
    name.is_some()
}
