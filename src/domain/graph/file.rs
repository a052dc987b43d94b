//! Reads a graph from a [`Listing`], regardless of its author.
//!
//! `start` and `end` always exist, named or not. An edge requires `from`, `to` and `prior` (0 to
//! 1); `count` defaults to 0, and `weight` is ignored, since weights are derived.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

use super::listing::{ListedEdge, Listing};
use super::store::{Prior, Structure, ToolGraph};
use crate::id::ToolName;

/// Why a text is not a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Not JSON, or of the wrong form; the text names the line and the field.
    #[error("{0}; expected {{\"nodes\": [NAME…], \"edges\": [{{\"from\", \"to\", \"prior\"}}…]}}")]
    Form(String),
    /// Of the right form, but inconsistent.
    #[error("line {line}: {fault}")]
    Content {
        /// Counted from 1.
        line: usize,
        fault: ListingFault,
    },
}

/// An inconsistency in a listing, and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{spot}: {problem}")]
pub struct ListingFault {
    spot: Spot,
    problem: String,
}

/// A place in a listing, counted from 0 as in paths like `edges[3].to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spot {
    Edges,
    Node(usize),
    Edge(usize, &'static str),
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Spot::Edges => f.write_str("edges"),
            Spot::Node(i) => write!(f, "nodes[{i}]"),
            Spot::Edge(i, "") => write!(f, "edges[{i}]"),
            Spot::Edge(i, field) => write!(f, "edges[{i}].{field}"),
        }
    }
}

impl ToolGraph {
    /// Reads a graph from JSON.
    ///
    /// # Errors
    /// Where the text is not JSON or not a graph, naming the line and the field.
    pub fn from_json(text: &str) -> Result<Self, GraphError> {
        let listing: Listing =
            serde_json::from_str(text).map_err(|error| GraphError::Form(error.to_string()))?;
        Self::try_from(listing)
            .map_err(|fault| GraphError::Content { line: line_of(text, fault.spot), fault })
    }
}

/// The line on which a node or an edge begins.
fn line_of(text: &str, spot: Spot) -> usize {
    #[derive(Deserialize)]
    struct Raw<'t> {
        #[serde(borrow)]
        nodes: Vec<&'t RawValue>,
        #[serde(borrow)]
        edges: Vec<&'t RawValue>,
    }
    // The text was parsed once already, so it has this form.
    let raw: Option<Raw<'_>> = serde_json::from_str(text).ok();
    let found = raw.and_then(|Raw { nodes, edges }| match spot {
        Spot::Edges => edges.first().copied(),
        Spot::Node(i) => nodes.get(i).copied(),
        Spot::Edge(i, _) => edges.get(i).copied(),
    });
    let offset = found.map_or(0, |found| found.get().as_ptr().addr() - text.as_ptr().addr());
    1 + text.as_bytes()[..offset].iter().filter(|&&byte| byte == b'\n').count()
}

impl TryFrom<Listing> for ToolGraph {
    type Error = ListingFault;

    fn try_from(listing: Listing) -> Result<Self, ListingFault> {
        // An uninformed graph lists nothing, so its structure is always implied.
        let structure = match listing.prior {
            Prior::Uninformed => Structure::Implied,
            Prior::Static => listing.structure,
        };
        let mut graph = ToolGraph::with_structure(listing.prior, structure);
        add_nodes(&mut graph, listing.nodes)?;
        if listing.prior == Prior::Uninformed && !listing.edges.is_empty() {
            return Err(fault(Spot::Edges, "expected none, since \"prior\" is \"uninformed\""));
        }
        let mut seen = HashSet::new();
        for (i, edge) in listing.edges.iter().enumerate() {
            check(&graph, edge).map_err(|(field, problem)| fault(Spot::Edge(i, field), problem))?;
            if !seen.insert((&edge.from, &edge.to)) {
                let problem = format!(
                    "{:?} to {:?} is listed twice; list each edge once",
                    edge.from, edge.to
                );
                return Err(fault(Spot::Edge(i, ""), problem));
            }
            graph.put_edge(edge.from.as_str(), edge.to.as_str(), *edge.prior, edge.count);
        }
        Ok(graph)
    }
}

fn add_nodes(graph: &mut ToolGraph, nodes: Vec<ToolName>) -> Result<(), ListingFault> {
    let mut seen = HashSet::new();
    for (i, node) in nodes.into_iter().enumerate() {
        if node.as_str().is_empty() {
            return Err(fault(Spot::Node(i), "expected a name, found an empty string"));
        }
        if !seen.insert(node.clone()) {
            let problem = format!("{node:?} is named twice; name each node once");
            return Err(fault(Spot::Node(i), problem));
        }
        graph.add_node(node);
    }
    Ok(())
}

/// Checks that the edge is possible; otherwise returns the wrong field and the reason.
fn check(graph: &ToolGraph, edge: &ListedEdge) -> Result<(), (&'static str, String)> {
    for (field, node) in [("from", &edge.from), ("to", &edge.to)] {
        if !node.is_special() && !graph.contains(node.as_str()) {
            let problem =
                format!("{node:?} is not among the nodes; add it there or correct the name");
            return Err((field, problem));
        }
    }
    if edge.from.as_str() == ToolName::END {
        return Err(("from", "\"end\" has no successors".into()));
    }
    if edge.to.as_str() == ToolName::START {
        return Err(("to", "\"start\" has no predecessors".into()));
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

fn fault(spot: Spot, problem: impl Into<String>) -> ListingFault {
    ListingFault { spot, problem: problem.into() }
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
