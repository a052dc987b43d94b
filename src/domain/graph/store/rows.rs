//! The rows of the graph, which combine stored edges and those that exist by rule.

use petgraph::{stable_graph::NodeIndex, visit::EdgeRef as _};

use super::{GraphNode, Prior, Structure, ToolGraph, Transition};
use crate::id::ToolName;

/// Step out of a node, stored or implied.
#[derive(Clone, Copy, Debug)]
pub struct Successor<'a> {
    pub name: &'a ToolName,
    pub rank: u64,
    pub prior: f64,
    pub count: u64,
}

/// All steps out of a node.
#[derive(Clone, Debug)]
pub enum GraphRow<'a> {
    /// Every tool, and `end` if set, all with the same prior: built only on request.
    Even { end: bool },
    /// The successors, ordered by rank.
    Listed(Vec<Successor<'a>>),
}

impl ToolGraph {
    /// All possible successors of `from`; `None` if there is no such node.
    pub fn row(&self, from: &str) -> Option<GraphRow<'_>> {
        let from = self.node(from)?;
        match (self.prior, self.structure) {
            _ if from == self.end => Some(GraphRow::Listed(Vec::new())),
            (_, Structure::Listed) => Some(GraphRow::Listed(self.stored_row(from))),
            (Prior::Static | Prior::Uninformed, Structure::Implied) if from == self.start => {
                Some(GraphRow::Even { end: false })
            }
            (Prior::Uninformed, Structure::Implied) => Some(GraphRow::Even { end: true }),
            (Prior::Static, Structure::Implied) => Some(GraphRow::Listed(self.learned_row(from))),
        }
    }

    fn stored_row(&self, from: NodeIndex) -> Vec<Successor<'_>> {
        let mut row: Vec<_> = self
            .store
            .edges(from)
            .map(|edge| self.successor(edge.target(), *edge.weight()))
            .collect();
        row.sort_unstable_by_key(|step| step.rank);
        row
    }

    /// The stored row, plus the self edge and the edge to `end` if they were never observed.
    fn learned_row(&self, from: NodeIndex) -> Vec<Successor<'_>> {
        let mut row = self.stored_row(from);
        for to in [from, self.end] {
            let step = self.successor(to, Transition { prior: 0.0, count: 0 });
            if let Err(place) = row.binary_search_by_key(&step.rank, |step| step.rank) {
                row.insert(place, step);
            }
        }
        row
    }

    fn successor(&self, to: NodeIndex, known: Transition) -> Successor<'_> {
        let GraphNode { name, rank } = &self.store[to];
        Successor { name, rank: *rank, prior: known.prior, count: known.count }
    }
}
