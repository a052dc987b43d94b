//! The rows of the graph, in which stored edges and those that are there by rule come together.

use petgraph::{stable_graph::NodeIndex, visit::EdgeRef as _};

use super::{Node, Prior, Structure, ToolGraph, Transition};
use crate::domain::id::ToolName;

/// One step out of a node, stored or implied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successor<'a> {
    pub name: &'a ToolName,
    pub rank: u64,
    pub prior: f64,
    pub count: u64,
}

/// All steps out of a node.
#[derive(Clone, Debug)]
pub(crate) enum Row<'a> {
    /// Every tool, and `end` where it says so, all with the same prior: never built unless asked for.
    Even { end: bool },
    /// These, in the order of their ranks.
    Listed(Vec<Successor<'a>>),
}

impl ToolGraph {
    /// All that may follow `from`; `None` where there is no such node.
    pub(crate) fn row(&self, from: &str) -> Option<Row<'_>> {
        let from = self.node(from)?;
        match (self.prior, self.structure) {
            _ if from == self.end => Some(Row::Listed(Vec::new())),
            (_, Structure::Listed) => Some(Row::Listed(self.stored_row(from))),
            (Prior::Static | Prior::Uninformed, Structure::Implied) if from == self.start => {
                Some(Row::Even { end: false })
            }
            (Prior::Uninformed, Structure::Implied) => Some(Row::Even { end: true }),
            (Prior::Static, Structure::Implied) => Some(Row::Listed(self.learned_row(from))),
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

    /// The stored row, with the self edge and the edge to `end` where they were never seen.
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
        let Node { name, rank } = &self.store[to];
        Successor { name, rank: *rank, prior: known.prior, count: known.count }
    }
}
