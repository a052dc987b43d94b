//! Reading a graph back from a [`Listing`], whoever wrote it.
//!
//! `start` and `end` are always there, named or not. Of an edge `from`, `to` and `prior` (0 to 1) are
//! required, `count` is 0 where it is missing, and `weight` is not taken over, since weights are derived.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    listing::{ListedEdge, Listing},
    store::{Prior, Structure, ToolGraph},
};
use crate::id::ToolName;

/// Why a text is no graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Not JSON, or not of the right form; the text names the line and the field.
    #[error("{0}")]
    Form(String),
    /// Of the right form, but it makes no sense.
    #[error("{field}: {problem}")]
    Content {
        /// Where it stands, such as `edges[3].to`.
        field: String,
        problem: String,
    },
}

impl ToolGraph {
    /// Reads a graph from JSON.
    ///
    /// # Errors
    /// Where the text is no JSON or no graph, naming the line or the field.
    pub fn from_json(text: &str) -> Result<Self, GraphError> {
        let listing: Listing =
            serde_json::from_str(text).map_err(|error| GraphError::Form(error.to_string()))?;
        Self::try_from(listing)
    }
}

impl TryFrom<Listing> for ToolGraph {
    type Error = GraphError;

    fn try_from(listing: Listing) -> Result<Self, GraphError> {
        // An uninformed graph lists nothing, so its structure cannot be meant otherwise.
        let structure = match listing.prior {
            Prior::Uninformed => Structure::Implied,
            Prior::Static => listing.structure,
        };
        let mut graph = ToolGraph::with_structure(listing.prior, structure);
        add_nodes(&mut graph, listing.nodes)?;
        if listing.prior == Prior::Uninformed && !listing.edges.is_empty() {
            return Err(content("edges", "expected none, since \"prior\" is \"uninformed\""));
        }
        let mut seen = HashSet::new();
        for (i, edge) in listing.edges.iter().enumerate() {
            check(&graph, edge).map_err(|(field, problem)| {
                let dot = if field.is_empty() { "" } else { "." };
                content(format!("edges[{i}]{dot}{field}"), problem)
            })?;
            if !seen.insert((&edge.from, &edge.to)) {
                let problem = format!(
                    "{:?} to {:?} is there already; list each edge once",
                    edge.from, edge.to
                );
                return Err(content(format!("edges[{i}]"), problem));
            }
            graph.put_edge(edge.from.as_str(), edge.to.as_str(), edge.prior, edge.count);
        }
        Ok(graph)
    }
}

fn add_nodes(graph: &mut ToolGraph, nodes: Vec<ToolName>) -> Result<(), GraphError> {
    let mut seen = HashSet::new();
    for (i, node) in nodes.into_iter().enumerate() {
        let field = || format!("nodes[{i}]");
        if node.as_str().is_empty() {
            return Err(content(field(), "expected a name, found an empty string"));
        }
        if !seen.insert(node.clone()) {
            return Err(content(
                field(),
                format!("{node:?} is there already; name each node once"),
            ));
        }
        graph.add_node(node);
    }
    Ok(())
}

/// Whether the edge can be; else the field that is wrong, and why.
fn check(graph: &ToolGraph, edge: &ListedEdge) -> Result<(), (&'static str, String)> {
    for (field, node) in [("from", &edge.from), ("to", &edge.to)] {
        if !node.is_special() && !graph.contains(node.as_str()) {
            let problem =
                format!("{node:?} is not among the nodes; add it there or correct the name");
            return Err((field, problem));
        }
    }
    if edge.from.as_str() == ToolName::END {
        return Err(("from", "nothing comes after \"end\"".into()));
    }
    if edge.to.as_str() == ToolName::START {
        return Err(("to", "nothing leads to \"start\"".into()));
    }
    if graph.structure() == Structure::Implied && edge.from.as_str() == ToolName::START {
        let problem = "\"start\" leads to every tool equally, by rule; list no edge from it, \
                       or leave \"structure\" out and list all edges";
        return Err(("from", problem.into()));
    }
    if !(0.0..=1.0).contains(&edge.prior) {
        return Err(("prior", format!("expected a number from 0 to 1, found {}", edge.prior)));
    }
    Ok(())
}

fn content(field: impl Into<String>, problem: impl Into<String>) -> GraphError {
    GraphError::Content { field: field.into(), problem: problem.into() }
}

impl Serialize for ToolGraph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Listing::stored(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolGraph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Listing::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
