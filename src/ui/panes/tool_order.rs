//! The order in which tools are listed: those that were used or scored first, sorted as the user
//! wishes, then all others as they joined. Only the former are sorted, so 16,000 tools of which forty
//! were used cost a sort of forty.

use crate::domain::State;
use crate::ui::{panes::position::Here, view::ToolSort};

/// Up to so many tools are shown as they joined, so that a tool keeps its place.
const WHOLE: usize = 64;

/// Places of tools in `State::tools`, in the order of a list.
#[derive(Debug)]
pub struct Order {
    /// Used or scored, as sorted.
    first: Vec<usize>,
    /// The same, ascending.
    taken: Vec<usize>,
    total: usize,
}

impl Order {
    pub fn new(state: &State, sort: ToolSort) -> Self {
        let taken = match sort {
            ToolSort::Name => (0..state.tools.len()).collect(),
            ToolSort::Score | ToolSort::Calls | ToolSort::Weight => used_or_scored(state),
        };
        let mut first: Vec<usize> = taken.clone();
        match sort {
            ToolSort::Score => descending(&mut first, |i| score(state, i)),
            ToolSort::Calls => descending(&mut first, |i| f64::from(state.tools[i].started)),
            ToolSort::Weight => {
                let weights = weights(state, &taken);
                descending(&mut first, |i| {
                    taken.binary_search(&i).ok().and_then(|at| weights[at]).unwrap_or(-1.0)
                });
            }
            ToolSort::Name => first.sort_by(|a, b| name(state, *a).cmp(&name(state, *b))),
        }
        Self { first, taken, total: state.tools.len() }
    }

    /// As they joined; in a graph too large to be looked at whole, those used or scored before the rest.
    pub fn joined(state: &State) -> Self {
        let total = state.tools.len();
        let first = if total <= WHOLE { Vec::new() } else { used_or_scored(state) };
        Self { taken: first.clone(), first, total }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.total
    }

    /// The tool in this row.
    pub fn at(&self, row: usize) -> Option<usize> {
        if let Some(i) = self.first.get(row) {
            return Some(*i);
        }
        // The tool with so many tools before it that are in none of the rows above.
        let mut i = row - self.first.len();
        for taken in &self.taken {
            if *taken > i {
                break;
            }
            i += 1;
        }
        (i < self.total).then_some(i)
    }

    /// The row of this tool.
    pub fn row(&self, i: usize) -> Option<usize> {
        if i >= self.total {
            return None;
        }
        match self.taken.binary_search(&i) {
            Ok(_) => self.first.iter().position(|first| *first == i),
            Err(before) => Some(self.first.len() + i - before),
        }
    }
}

fn used_or_scored(state: &State) -> Vec<usize> {
    let mut taken: Vec<usize> = state
        .tools
        .values()
        .enumerate()
        .filter(|(_, tool)| tool.started > 0 || tool.failed > 0 || tool.refused > 0)
        .map(|(i, _)| i)
        .collect();
    let scores = &state.learning.scores;
    taken.extend(scores.iter().filter_map(|(tool, _)| state.tools.get_index_of(tool)));
    taken.sort_unstable();
    taken.dedup();
    taken
}

/// The largest first; equal ones stay as they joined.
fn descending(rows: &mut Vec<usize>, key: impl Fn(usize) -> f64) {
    let mut keyed: Vec<(f64, usize)> = rows.iter().map(|i| (key(*i), *i)).collect();
    keyed.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    rows.clear();
    rows.extend(keyed.into_iter().map(|(_, i)| i));
}

fn name(state: &State, i: usize) -> Option<&str> {
    state.tools.get_index(i).map(|(name, _)| name.as_str())
}

fn score(state: &State, i: usize) -> f64 {
    state.tools.get_index(i).map_or(0.0, |(name, _)| state.learning.score(name))
}

/// The weight of each of these tools from where the agent is.
fn weights(state: &State, tools: &[usize]) -> Vec<Option<f64>> {
    let names: Vec<&str> = tools.iter().map(|i| name(state, *i).unwrap_or_default()).collect();
    let from = Here::of(state).node();
    let some = state.learning.weights(&state.knobs).some(from, &names);
    some.into_iter().map(|choice| choice.map(|choice| choice.weight)).collect()
}
