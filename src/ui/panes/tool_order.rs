//! The order in which tools are listed, as indices in `State::tools`: used or scored tools first, sorted as the user
//! wishes, then all others in the order in which they were added. Only the former are sorted, so 16,000 tools with
//! forty used ones cost a sort of forty.

use std::collections::BTreeSet;

use crate::domain::{Knob, State};
use crate::papers::toolnet::Weights;
use crate::{panes::position::Here, view::ToolSort};

/// Up to this number, tools are shown in the order in which they were added, so that each keeps its place.
const WHOLE: usize = 64;

/// Whether somebody scores tools. Those of a watched agent are scored if a person asks for it, and keep their scores.
pub fn is_scored(state: &State) -> bool {
    let is_asked = || state.knobs.is_on(Knob::Scores);
    state.watched.is_none() || is_asked() || !state.learning.scores.is_empty()
}

/// The order in which tools are really listed.
pub fn of(state: &State, sort: ToolSort) -> ToolSort {
    match sort {
        ToolSort::Weight if state.watched.is_some() => ToolSort::Calls,
        ToolSort::Score if !is_scored(state) => ToolSort::Calls,
        _ => sort,
    }
}

/// The tools in row order.
pub fn sorted(state: &State, sort: ToolSort) -> Vec<usize> {
    let sort = of(state, sort);
    if sort == ToolSort::Name {
        let mut all: Vec<usize> = (0..state.tools.len()).collect();
        all.sort_by_key(|i| name(state, *i));
        return all;
    }
    let used = used_or_scored(state);
    let score = |i: &usize| {
        name(state, *i).map_or(0.0, |name| state.learning.scores.get(name).unwrap_or(0.0))
    };
    let keys: Vec<f64> = match sort {
        ToolSort::Score => used.iter().map(score).collect(),
        ToolSort::Weight => weights(state, &used),
        ToolSort::Calls | ToolSort::Name => {
            used.iter().map(|i| f64::from(state.tools[*i].started)).collect()
        }
    };
    let mut keyed: Vec<(f64, usize)> = keys.into_iter().zip(used).collect();
    // The largest first; equal ones stay in the order in which they were added.
    keyed.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    before_others(state, keyed.into_iter().map(|(_, i)| i).collect())
}

/// Tools in the order in which they were added; in a graph too large to show whole, used or scored tools come first.
pub fn joined(state: &State) -> Vec<usize> {
    let whole = state.tools.len() <= WHOLE;
    before_others(state, if whole { Vec::new() } else { used_or_scored(state) })
}

/// Appends all other tools to the given ones.
fn before_others(state: &State, mut first: Vec<usize>) -> Vec<usize> {
    let mut listed = vec![false; state.tools.len()];
    for i in &first {
        listed[*i] = true;
    }
    first.extend(listed.iter().enumerate().filter(|(_, listed)| !**listed).map(|(i, _)| i));
    first
}

fn used_or_scored(state: &State) -> Vec<usize> {
    let tools = state.tools.values().enumerate();
    let used = tools.filter(|(_, tool)| tool.started > 0 || tool.failed > 0 || tool.refused > 0);
    let scored = state.learning.scores.iter();
    let scored = scored.filter_map(|(tool, _)| state.tools.get_index_of(tool));
    let places: BTreeSet<usize> = used.map(|(i, _)| i).chain(scored).collect();
    places.into_iter().collect()
}

fn name(state: &State, i: usize) -> Option<&str> {
    state.tools.get_index(i).map(|(name, _)| name.as_str())
}

/// The weight of the edge from the agent's node to each of these tools; tools without one come last.
fn weights(state: &State, tools: &[usize]) -> Vec<f64> {
    let names: Vec<&str> = tools.iter().map(|i| name(state, *i).unwrap_or_default()).collect();
    let from = Here::of(state).node();
    let some = Weights::of(&state.learning, &state.knobs).some(from, &names);
    some.into_iter().map(|edge| edge.map_or(-1.0, |edge| edge.weight)).collect()
}
