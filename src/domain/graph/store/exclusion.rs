//! The graph without one of the trajectories that it was learned from, so that no task is helped by
//! its own solution.

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef as _;

use super::ToolGraph;
use crate::id::ToolName;

impl ToolGraph {
    /// The graph as if this trajectory had not been among those that it was learned from (ToolNet,
    /// eq. 5): its transitions are counted once less, and edges that only it had are gone. The tools stay.
    pub fn without(&self, calls: &[ToolName]) -> Self {
        let mut graph = self.clone();
        let end = ToolName::end();
        let after = calls.iter().skip(1).chain([&end]);
        let mut rows = Vec::new();
        for (from, to) in calls.iter().zip(after) {
            let nodes = graph.node(from.as_str()).zip(graph.node(to.as_str()));
            let Some((from, to)) = nodes else { continue };
            let Some(edge) = graph.store.find_edge(from, to) else { continue };
            match graph.store[edge].count {
                0 => continue,
                1 => _ = graph.store.remove_edge(edge),
                count => graph.store[edge].count = count - 1,
            }
            if !rows.contains(&from) {
                rows.push(from);
            }
        }
        rows.into_iter().for_each(|row| graph.share(row));
        graph
    }

    /// Computes the priors of a row from its counts.
    fn share(&mut self, from: NodeIndex) {
        let edges: Vec<_> = self.store.edges(from).map(|edge| edge.id()).collect();
        let all: u64 = edges.iter().map(|edge| self.store[*edge].count).sum();
        for edge in edges {
            let known = &mut self.store[edge];
            known.prior = if all == 0 { 0.0 } else { known.count as f64 / all as f64 };
        }
    }
}
