//! The weights of all edges as a [`Listing`].

use super::weights::Weights;
use crate::domain::{ListedEdge, Listing, Prior, Structure, graph::nodes};

impl Weights<'_> {
    /// Every row completely, including implied edges, with the current weights.
    ///
    /// Only an uninformed graph with more than `most` edges stays unlisted: written out, 16,000
    /// tools would take some 30 GB.
    pub fn listing(&self, most: usize) -> Listing {
        let graph = self.graph;
        if graph.prior() == Prior::Uninformed && graph.len() * (graph.len() + 2) > most {
            return Listing::stored(graph);
        }
        let nodes = nodes(graph);
        let edges = nodes.iter().flat_map(|from| {
            self.in_order(from.as_str()).into_iter().map(|step| ListedEdge {
                from: from.clone(),
                to: step.to,
                prior: step.prior.into(),
                weight: Some(step.weight.into()),
                count: step.count,
            })
        });
        let edges = edges.collect();
        Listing { prior: Prior::Static, structure: Structure::Listed, nodes, edges }
    }
}
