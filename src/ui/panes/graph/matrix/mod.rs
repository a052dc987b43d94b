//! A heat map of all weights: rows are current nodes, columns possible next ones.

mod draw;

use std::rc::Rc;

use super::SPEC;
use crate::domain::{State, ToolName};
use crate::panes::{position::Here, tool_order};
use crate::view::View;
use crate::vlist::List;
use crate::window::{self, Move};

pub use draw::draw;

/// The rows or the columns: one special node, then the tools.
#[derive(Clone, Copy)]
struct Axis<'a> {
    state: &'a State,
    order: &'a [usize],
    first: &'static str,
}

impl<'a> Axis<'a> {
    fn rows(state: &'a State, order: &'a [usize]) -> Self {
        Self { state, order, first: ToolName::START }
    }

    fn columns(state: &'a State, order: &'a [usize]) -> Self {
        Self { state, order, first: ToolName::END }
    }

    fn len(&self) -> usize {
        self.order.len() + 1
    }

    fn name(&self, i: usize) -> Option<&'a str> {
        let Some(i) = i.checked_sub(1) else { return Some(self.first) };
        let (name, _) = self.state.tools.get_index(*self.order.get(i)?)?;
        Some(name.as_str())
    }

    fn place(&self, name: &str) -> Option<usize> {
        if name == self.first {
            return Some(0);
        }
        let tool = self.state.tools.get_index_of(name)?;
        Some(self.order.iter().position(|place| *place == tool)? + 1)
    }
}

/// Row and column of the selected edge; without one, the agent's row and no column.
fn cursor(rows: Axis<'_>, columns: Axis<'_>, view: &View) -> (Option<usize>, Option<usize>) {
    match &view.edge {
        Some((from, to)) => (rows.place(from.as_str()), columns.place(to.as_str())),
        None => (rows.place(Here::of(rows.state).node()), None),
    }
}

pub fn go(state: &State, view: &mut View, to: Move) {
    let order = tool_order::joined(state);
    let (rows, columns) = (Axis::rows(state, &order), Axis::columns(state, &order));
    let (row, column) = cursor(rows, columns, view);
    let (row, column) = match to {
        Move::Left => (row, Some(column.map_or(0, |column| column.saturating_sub(1)))),
        Move::Right => (row, Some(column.map_or(0, |column| (column + 1).min(columns.len() - 1)))),
        Move::Up | Move::Down | Move::PageUp | Move::PageDown | Move::Top | Move::Bottom => {
            (window::moved(rows.len(), row, to, view.page(SPEC.id)), column)
        }
    };
    let from = rows.name(row.unwrap_or(0));
    let to = columns.name(column.unwrap_or(0));
    if let (Some(from), Some(to)) = (from, to) {
        view.edge = Some((from.into(), to.into()));
        view.tool = Some(to.into());
    }
}

/// The nodes that have outgoing weights.
pub fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let order = Rc::new(tool_order::joined(state));
    let of_rows = Rc::clone(&order);
    let rows = Axis::rows(state, &order);
    let (row, column) = cursor(rows, Axis::columns(state, &order), view);
    List::new(
        (rows.len(), row),
        move |row| Axis::rows(state, &of_rows).name(row).map(ToolName::new),
        move |from, view| {
            let to = Axis::columns(state, &order).name(column.unwrap_or(0));
            view.edge = Some((from.clone(), to.unwrap_or(ToolName::END).into()));
            view.tool = Some(from);
        },
        |from| from.to_string(),
    )
}
