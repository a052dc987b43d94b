//! A node with its predecessors and successors. This is the best view on a small screen, and it
//! follows the agent unless the user goes elsewhere.

mod choices;
mod draw;
mod focus_drawing;
mod list;

use std::rc::Rc;

use super::{SPEC, centre, shown_name};
use crate::domain::{State, ToolName};
use crate::vlist::List;
use crate::window::{self, Move};
use crate::{panes::position::Here, view::View};
use choices::{Choices, before};

pub use draw::draw;

/// The least number of rows that are searched for a selection; beyond them the user goes page by page.
const DEPTH: usize = 200;
/// Rows beside the choices: the path, predecessors, the node, and empty lines; and all rows without choices.
const AROUND: usize = 6;
/// From this many choices on, more rows would only show weaker edges.
const LONG: usize = 24;
const UNWEIGHTED: usize = 4;
/// Rows beside the choices if lines join them.
const JOINED: usize = 4;

/// The useful rows. Without weights there are no choices to list.
pub fn most(state: &State, view: &View) -> usize {
    let choices = Choices::new(state, centre(state, view.centre.as_ref()));
    match choices.unweighted {
        Some(_) => UNWEIGHTED,
        // The first node of a walk leads to all tools.
        None if state.strategy.learns() => choices.total.max(state.tools.len().min(LONG)) + AROUND,
        None => choices.total + AROUND,
    }
}

/// The rows of the view with lines: the path, heads, the choices, and the selected edge.
pub fn rows(state: &State, view: &View) -> usize {
    Choices::new(state, centre(state, view.centre.as_ref())).total + JOINED
}

/// Whether weights say which tool comes next.
pub fn is_weighted(state: &State, view: &View) -> bool {
    let choices = Choices::new(state, centre(state, view.centre.as_ref()));
    choices.unweighted.is_none() && choices.total > 0
}

/// Predecessors, then successors of a node, as one list from top to bottom.
struct Around {
    centre: ToolName,
    others: Vec<ToolName>,
    /// The index of the first successor.
    first: usize,
}

impl Around {
    fn of(state: &State, view: &View) -> Self {
        let centre = centre(state, view.centre.as_ref());
        let choices = Choices::new(state, centre);
        let mut others: Vec<_> =
            before(state, centre).0.into_iter().map(|(from, _)| from).collect();
        let first = others.len();
        others.extend(choices.top(choices.total).into_iter().map(|choice| choice.to));
        Self { centre: centre.into(), others, first }
    }

    fn place(&self, edge: Option<&(ToolName, ToolName)>) -> Option<usize> {
        let (from, to) = edge?;
        let (leads_here, follows) = self.others.split_at(self.first);
        if *from == self.centre {
            return Some(self.first + follows.iter().position(|other| other == to)?);
        }
        leads_here.iter().position(|other| *to == self.centre && other == from)
    }

    fn edge(&self, place: usize) -> Option<(ToolName, ToolName)> {
        let (other, centre) = (self.others.get(place)?.clone(), self.centre.clone());
        Some(if place < self.first { (other, centre) } else { (centre, other) })
    }

    fn select(&self, view: &mut View, place: usize) {
        view.edge = self.edge(place);
        view.tool = self.others.get(place).cloned().or(view.tool.take());
    }
}

fn depth(view: &View) -> usize {
    let window = view.windows[SPEC.id as usize];
    DEPTH + window.first + window.rows
}

/// Moves the selection; false for a movement along the rows that a filter keeps.
pub fn go(state: &State, view: &mut View, to: Move) -> bool {
    if view.kept(SPEC.id).is_some() && !matches!(to, Move::Left | Move::Right) {
        return false;
    }
    let around = Around::of(state, view);
    let at = around.place(view.edge.as_ref());
    let follows = at.is_some_and(|at| at >= around.first);
    let place = match (to, at) {
        (Move::Left | Move::Right, Some(at)) if follows == (to == Move::Right) => {
            walk(state, view, around.others.get(at).cloned());
            return true;
        }
        (Move::Top, _) => {
            walk(state, view, None);
            return true;
        }
        // The selection goes to the other side of the node.
        (Move::Left | Move::Right, Some(_)) if follows => 0,
        (Move::Left | Move::Right, Some(_)) | (_, None) => around.first,
        (_, Some(_)) => {
            let page = view.page(SPEC.id);
            window::moved(around.others.len(), at, to, page).unwrap_or(0)
        }
    };
    around.select(view, place);
    true
}

/// Moves the middle to this node; `None`: back to where the agent is.
fn walk(state: &State, view: &mut View, to: Option<ToolName>) {
    view.edge = None;
    view.centre = to.filter(|to| to.as_str() != Here::of(state).node());
    if let Some(centre) = &view.centre {
        view.tool = Some(centre.clone());
    }
}

/// Predecessors and successors as one list.
pub fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let around = Rc::new(Around::of(state, view));
    let rows = Rc::clone(&around);
    List::new(
        (around.others.len(), around.place(view.edge.as_ref())),
        move |row| rows.others.get(row).cloned().map(|other| (row, other)),
        move |(row, _), view| around.select(view, row),
        |(_, other)| shown_name(other.as_str()).to_owned(),
    )
}
