//! The graph as JSON: how it is saved, journaled and written by hand.
//!
//! ```json
//! { "structure": "implied", "nodes": ["start", "search", "end"],
//!   "edges": [{ "from": "search", "to": "end", "prior": 1.0, "weight": 1.0, "count": 3 }] }
//! ```
//!
//! - `nodes`: the names, in the order of the graph. `start` and `end` are always there, named or not.
//! - `edges`: `prior` (0 to 1) is required, `count` is 0 where it is missing. `weight` is for readers:
//!   weights are derived, so it is not taken over.
//! - `"structure": "implied"`: `start` leads to every tool equally, every tool leads to itself and to
//!   `end`, and only edges that were seen or explored are listed. Without this field the successors of a
//!   node are the edges listed and no others.
//! - `"prior": "uninformed"`: every tool leads to every tool and to `end`, all equally; no edge is listed,
//!   for there are too many of them.

use std::{collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, Visitor},
};

use super::store::{Prior, Structure, ToolGraph};
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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphFile {
    #[serde(default = "informed", skip_serializing_if = "is_informed")]
    prior: Prior,
    #[serde(default = "listed", skip_serializing_if = "is_listed")]
    structure: Structure,
    nodes: Vec<ToolName>,
    #[serde(deserialize_with = "numbered")]
    edges: Vec<EdgeFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EdgeFile {
    from: ToolName,
    to: ToolName,
    prior: f64,
    #[serde(default)]
    count: u64,
    /// Accepted, checked to be a number and left alone.
    #[serde(default, rename = "weight", skip_serializing)]
    _weight: Option<f64>,
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

impl ToolGraph {
    /// Reads a graph from JSON.
    ///
    /// # Errors
    /// Where the text is no JSON or no graph, naming the line or the field.
    pub fn from_json(text: &str) -> Result<Self, GraphError> {
        let file: GraphFile =
            serde_json::from_str(text).map_err(|error| GraphError::Form(error.to_string()))?;
        Self::try_from(file)
    }
}

impl TryFrom<GraphFile> for ToolGraph {
    type Error = GraphError;

    fn try_from(file: GraphFile) -> Result<Self, GraphError> {
        // An uninformed graph lists nothing, so its structure cannot be meant otherwise.
        let structure = match file.prior {
            Prior::Uninformed => Structure::Implied,
            Prior::Static => file.structure,
        };
        let mut graph = ToolGraph::with_structure(file.prior, structure);
        add_nodes(&mut graph, file.nodes)?;
        if file.prior == Prior::Uninformed && !file.edges.is_empty() {
            return Err(content("edges", "expected none, since \"prior\" is \"uninformed\""));
        }
        add_edges(&mut graph, &file.edges)?;
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

fn add_edges(graph: &mut ToolGraph, edges: &[EdgeFile]) -> Result<(), GraphError> {
    let mut seen = HashSet::new();
    for (i, EdgeFile { from, to, prior, count, _weight }) in edges.iter().enumerate() {
        for (end, node) in [("from", from), ("to", to)] {
            if !node.is_special() && !graph.contains(node.as_str()) {
                return Err(content(
                    format!("edges[{i}].{end}"),
                    format!("{node:?} is not among the nodes; add it there or correct the name"),
                ));
            }
        }
        if from.as_str() == ToolName::END {
            return Err(content(format!("edges[{i}].from"), "nothing comes after \"end\""));
        }
        if to.as_str() == ToolName::START {
            return Err(content(format!("edges[{i}].to"), "nothing leads to \"start\""));
        }
        if graph.structure() == Structure::Implied && from.as_str() == ToolName::START {
            return Err(content(
                format!("edges[{i}].from"),
                "\"start\" leads to every tool equally, by rule; list no edge from it, \
                 or leave \"structure\" out and list all edges",
            ));
        }
        if !(0.0..=1.0).contains(prior) {
            return Err(content(
                format!("edges[{i}].prior"),
                format!("expected a number from 0 to 1, found {prior}"),
            ));
        }
        if !seen.insert((from, to)) {
            return Err(content(
                format!("edges[{i}]"),
                format!("{from:?} to {to:?} is there already; list each edge once"),
            ));
        }
        graph.put_edge(from.as_str(), to.as_str(), *prior, *count);
    }
    Ok(())
}

fn content(field: impl Into<String>, problem: impl Into<String>) -> GraphError {
    GraphError::Content { field: field.into(), problem: problem.into() }
}

/// Reads the edges so that an error says which one it is about.
fn numbered<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EdgeFile>, D::Error> {
    struct Numbered;

    impl<'de> Visitor<'de> for Numbered {
        type Value = Vec<EdgeFile>;

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

impl Serialize for ToolGraph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nodes = [ToolName::start()]
            .into_iter()
            .chain(self.tools().cloned())
            .chain([ToolName::end()])
            .collect();
        let edges = self
            .edges()
            .into_iter()
            .map(|edge| EdgeFile {
                from: edge.from.clone(),
                to: edge.to.clone(),
                prior: edge.prior,
                count: edge.count,
                _weight: None,
            })
            .collect();
        GraphFile { prior: self.prior(), structure: self.structure(), nodes, edges }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolGraph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(GraphFile::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
