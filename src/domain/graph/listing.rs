//! The graph as a list of nodes and edges, for saving, printing and other programs.
//!
//! As JSON:
//!
//! ```json
//! { "structure": "implied", "nodes": ["start", "search", "end"],
//!   "edges": [{ "from": "search", "to": "end", "prior": 1.0, "weight": 1.0, "count": 3 }] }
//! ```
//!
//! - `nodes`: the names, in the order of the graph.
//! - `edges`: by the places of `from` and `to` among the nodes.
//! - `"structure": "implied"`: `start` leads to every tool equally, every tool leads to itself and
//!   to `end`, and only observed or explored edges are listed. Without this field the listed edges
//!   are the only ones.
//! - `"prior": "uninformed"`: every tool leads to every tool and to `end`, all equally; no edge is
//!   listed, because there are too many.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::store::{Prior, Structure, ToolGraph};
use crate::finite::Finite;
use crate::id::ToolName;

/// Nodes and edges in stable order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    #[serde(default = "informed", skip_serializing_if = "is_informed")]
    pub prior: Prior,
    #[serde(default = "listed", skip_serializing_if = "is_listed")]
    pub structure: Structure,
    pub nodes: Vec<ToolName>,
    #[serde(deserialize_with = "numbered")]
    pub edges: Vec<ListedEdge>,
}

/// Edge of a [`Listing`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedEdge {
    pub from: ToolName,
    pub to: ToolName,
    pub prior: Finite,
    /// For readers: a derived value, which is never read from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Finite>,
    #[serde(default)]
    pub count: u64,
}

fn informed() -> Prior {
    Prior::Static
}

fn is_informed(prior: &Prior) -> bool {
    *prior == Prior::Static
}

fn listed() -> Structure {
    Structure::Listed
}

fn is_listed(structure: &Structure) -> bool {
    *structure == Structure::Listed
}

impl Listing {
    /// The stored edges with their data.
    pub fn stored(graph: &ToolGraph) -> Self {
        let edges = graph.edges().into_iter().map(|edge| ListedEdge {
            from: edge.from.clone(),
            to: edge.to.clone(),
            prior: edge.prior.into(),
            weight: None,
            count: edge.count,
        });
        Self {
            prior: graph.prior(),
            structure: graph.structure(),
            nodes: nodes(graph),
            edges: edges.collect(),
        }
    }

    /// Lists the edges observed in trajectories. Their weights are those before the first score, which equal the prior.
    pub fn learned(graph: &ToolGraph) -> Self {
        let mut listing = Self::stored(graph);
        for edge in &mut listing.edges {
            edge.weight = Some(edge.prior);
        }
        listing
    }

    /// The edges, in stable order.
    pub fn into_edges(self) -> Vec<ListedEdge> {
        self.edges
    }

    /// As JSON, one field per line, so that two versions can be compared line by line.
    #[expect(clippy::expect_used, reason = "names and numbers in lists and structs can be written")]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .expect("names and numbers in lists and structs can be written");
        text.push('\n');
        text
    }

    /// Why the list omits some edges, if it does.
    pub fn note(&self) -> Option<&'static str> {
        match (self.prior, self.structure) {
            (Prior::Uninformed, Structure::Implied | Structure::Listed) => {
                Some("uninformed: every tool leads to every tool and to end, all equally")
            }
            (Prior::Static, Structure::Implied) => Some(
                "start leads to every tool equally, every tool leads to itself and to end; \
                 only edges that were seen or explored are listed",
            ),
            (Prior::Static, Structure::Listed) => None,
        }
    }
}

pub fn nodes(graph: &ToolGraph) -> Vec<ToolName> {
    let tools = graph.tools().cloned();
    [ToolName::start()].into_iter().chain(tools).chain([ToolName::end()]).collect()
}

/// Reads the edges so that an error names the edge.
fn numbered<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ListedEdge>, D::Error> {
    struct Numbered;

    impl<'de> Visitor<'de> for Numbered {
        type Value = Vec<ListedEdge>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of edges")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut edges = Vec::new();
            loop {
                match list.next_element() {
                    Ok(Some(edge)) => edges.push(edge),
                    Ok(None) => return Ok(edges),
                    Err(error) => {
                        return Err(de::Error::custom(format!("edges[{}]: {error}", edges.len())));
                    }
                }
            }
        }
    }

    deserializer.deserialize_seq(Numbered)
}
