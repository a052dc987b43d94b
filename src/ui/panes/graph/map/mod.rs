//! The graph laid out from left to right, with the weights on its edges. Dagre places the nodes. Lines are drawn so
//! that a crossing never looks like a junction, and each edge has a row of its own somewhere for its weight.

mod additions;
mod channel;
mod draw;
mod layers;
mod memo;
mod node;
mod plan;
mod scene;

use super::centre;
use super::lines::CanvasPoint;
use crate::domain::{State, ToolName};
use crate::{panes::position::Here, view::View, vlist::List, window::Move};
use scene::Scene;

pub use draw::{draw, draw_beside};

/// The rows that the map can use: those of the layout, air, and the foot.
pub fn most(state: &State, view: &View) -> usize {
    let scene = Scene::of(state, centre(state, view.centre.as_ref()), true);
    let labels: Vec<String> = scene.nodes.iter().map(|name| (*name).to_owned()).collect();
    let rows = draw::close(&scene, &labels, 0).height;
    rows + rows / 4 + 2
}

/// Moves to the nearest node in a direction on the screen; `Top` goes back to the agent.
pub fn go(state: &State, view: &mut View, to: Move) {
    if to == Move::Top {
        (view.centre, view.edge) = (None, None);
        return;
    }
    let chosen = view.centre.clone();
    let focus = centre(state, chosen.as_ref());
    let scene = Scene::of(state, focus, true);
    // All layouts have the same order of nodes; this one takes the least work.
    let labels: Vec<String> = scene.nodes.iter().map(|name| (*name).to_owned()).collect();
    let plan = draw::close(&scene, &labels, 0);
    let Some(from) = scene.nodes.get_index_of(focus).and_then(|i| plan.nodes.get(i)) else {
        // The node has no drawn edge, so nothing lies beside it.
        return select(state, view, None, scene.nodes.first().copied());
    };
    let nearest = (0..scene.nodes.len())
        .filter(|i| scene.nodes[*i] != focus)
        .filter_map(|i| Some((distance(*from, plan.nodes[i], to)?, i)))
        .min();
    if let Some((_, i)) = nearest {
        select(state, view, Some(focus), scene.nodes.get_index(i).copied());
    }
}

/// The distance to a place in this direction; `None` if it does not lie in this direction.
fn distance(from: CanvasPoint, place: CanvasPoint, to: Move) -> Option<isize> {
    let (dx, dy) = (place.0 as isize - from.0 as isize, place.1 as isize - from.1 as isize);
    // Rows are twice as high as columns are wide, and a distance to the side counts more than one ahead.
    let (ahead, aside) = match to {
        Move::Left => (-dx, dy.abs() * 4),
        Move::Right => (dx, dy.abs() * 4),
        Move::Up | Move::PageUp => (-dy, dx.abs()),
        Move::Down | Move::PageDown => (dy, dx.abs()),
        // The rightmost place.
        Move::Bottom => return (dx > 0).then_some(-dx),
        Move::Top => return None,
    };
    (ahead > 0).then_some(ahead + aside)
}

/// Selects a node, and an edge of it: the edge just moved along, in its direction or against it, else the edge from the
/// agent's node. So there is nearly always a weight to pin.
fn select(state: &State, view: &mut View, from: Option<&str>, to: Option<&str>) {
    let Some(to) = to else { return };
    let here = Here::of(state);
    let walked = from.map(|from| [(from, to), (to, from)]).into_iter().flatten();
    let mut edges = walked.chain([(here.node(), to)]);
    let edge = edges.find(|(from, to)| state.learning.graph.has_edge(from, to));
    view.edge = edge.map(|(from, to)| (ToolName::new(from), ToolName::new(to)));
    view.tool = Some(ToolName::new(to));
    view.centre = view.tool.clone().filter(|to| to.as_str() != here.node());
}

/// All tools by name, including those that are not drawn.
pub fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let selected = view.tool.as_ref().and_then(|name| state.tools.get_index_of(name));
    List::new(
        (state.tools.len(), selected),
        |row| state.tools.get_index(row).map(|(name, _)| name.as_str()),
        |name, view| select(state, view, None, Some(name)),
        str::to_owned,
    )
}
