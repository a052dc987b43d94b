//! One node, what leads to it and what can follow it. The best view on a small screen, and the one that
//! follows the agent unless the user goes elsewhere.

mod choices;
mod draw;
mod into;
mod list;
mod rows;

use super::{SPEC, centre, shown_name};
use crate::domain::{State, ToolName};
use crate::ui::vlist::List;
use crate::ui::window::{self, Move};
use crate::ui::{panes::position::Here, view::View};
use choices::{Choices, before};

pub use draw::draw;

/// Rows that are built at least when a selection is looked for; beyond them one goes page by page.
const DEPTH: usize = 200;

/// Both lists around a node as one, top to bottom: what leads to it, then what can follow.
struct Around<'a> {
    centre: &'a str,
    before: Vec<ToolName>,
    choices: Choices<'a>,
    depth: usize,
}

impl<'a> Around<'a> {
    fn new(state: &'a State, centre: &'a str, depth: usize) -> Self {
        let before = before(state, centre).0.into_iter().map(|(from, _)| from).collect();
        Self { centre, before, choices: Choices::new(state, centre, None), depth }
    }

    fn len(&self) -> usize {
        self.before.len() + self.choices.len()
    }

    fn place(&self, edge: Option<&(ToolName, ToolName)>) -> Option<usize> {
        let (from, to) = edge?;
        if from.as_str() == self.centre {
            let row = self.choices.row(to.as_str(), self.depth)?;
            return Some(self.before.len() + row);
        }
        let into = to.as_str() == self.centre;
        self.before.iter().position(|before| into && before == from)
    }

    fn edge(&self, place: usize) -> Option<(ToolName, ToolName)> {
        let centre = ToolName::new(self.centre);
        match place.checked_sub(self.before.len()) {
            None => Some((self.before.get(place)?.clone(), centre)),
            Some(row) => Some((centre, self.choices.top(row + 1).get(row)?.to.clone())),
        }
    }
}

fn depth(view: &View) -> usize {
    let window = view.windows[SPEC.id as usize];
    DEPTH + window.first + window.rows
}

fn select(view: &mut View, centre: &str, edge: Option<(ToolName, ToolName)>) {
    if let Some((from, to)) = &edge {
        let other = if from.as_str() == centre { to } else { from };
        view.tool = Some(other.clone());
    }
    view.edge = edge;
}

/// False for a movement along the rows that a filter keeps.
pub fn go(state: &State, view: &mut View, to: Move) -> bool {
    if view.kept(SPEC.id).is_some() && !matches!(to, Move::Left | Move::Right) {
        return false;
    }
    step(state, view, to);
    true
}

fn step(state: &State, view: &mut View, to: Move) {
    let chosen = view.centre.clone();
    let centre = centre(state, chosen.as_ref());
    let around = Around::new(state, centre, depth(view));
    let at = around.place(view.edge.as_ref());
    let first = around.before.len();
    let place = match (to, at) {
        (Move::Left | Move::Right, Some(at)) => {
            let follows = at >= first;
            if follows == (to == Move::Right) {
                return walk(
                    state,
                    view,
                    around.edge(at).map(|(from, to)| if follows { to } else { from }),
                );
            }
            // To the other side of the node.
            if follows { 0 } else { first }
        }
        (Move::Top, _) => return walk(state, view, None),
        (_, None) => first,
        (_, Some(_)) => window::moved(around.len(), at, to, view.page(SPEC.id)).unwrap_or(0),
    };
    select(view, centre, around.edge(place));
}

/// Moves the middle to this node; `None`: back to where the agent is.
fn walk(state: &State, view: &mut View, to: Option<ToolName>) {
    view.edge = None;
    view.centre = to.filter(|to| to.as_str() != Here::of(state).node());
    if let Some(centre) = &view.centre {
        view.tool = Some(centre.clone());
    }
}

/// Both lists as one.
pub fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let centre = ToolName::new(centre(state, view.centre.as_ref()));
    let around = Around::new(state, centre.as_str(), usize::MAX);
    let place = (around.len(), around.place(view.edge.as_ref()));
    let after = around.choices.top(around.choices.len()).into_iter().map(|choice| choice.to);
    let others: Vec<ToolName> = around.before.iter().cloned().chain(after).collect();
    let before = around.before.len();
    List::new(
        place,
        move |row| others.get(row).cloned().map(|other| (row < before, other)),
        move |(leads_here, other), view| {
            let edge = if leads_here { (other, centre.clone()) } else { (centre.clone(), other) };
            select(view, centre.as_str(), Some(edge));
        },
        |(_, other)| shown_name(other.as_str()).to_owned(),
    )
}
