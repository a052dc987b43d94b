//! The weights of all edges as a [`Listing`].

use super::weights::Weights;
use crate::domain::{ListedEdge, Listing, Prior, Structure, graph::nodes};

impl Listing {
    /// Every row in full, including implied edges, with the current weights.
    ///
    /// Only an uninformed graph with more than `most` edges stays unlisted: written out, 16,000
    /// tools would take some 30 GB.
    pub fn weighed(weights: &Weights<'_>, most: usize) -> Self {
        let graph = weights.graph;
        if graph.prior() == Prior::Uninformed && graph.len() * (graph.len() + 2) > most {
            return Self::stored(graph);
        }
        let nodes = nodes(graph);
        let edges = nodes.iter().flat_map(|from| {
            weights.in_order(from.as_str()).into_iter().map(|step| ListedEdge {
                from: from.clone(),
                to: step.to,
                prior: step.prior.into(),
                weight: Some(step.weight.into()),
                count: step.count,
            })
        });
        let edges = edges.collect();
        Self { prior: Prior::Static, structure: Structure::Listed, nodes, edges }
    }
}
