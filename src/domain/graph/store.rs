//! The stored graph: nodes, and the edges that were observed or explored.
//!
//! Most edges of a tool graph exist by rule (`start` leads everywhere, every tool leads to itself
//! and to `end`, an uninformed graph connects everything), so they are never stored: 16,000 tools
//! cost 16,000 nodes, not 256 million edges.

mod exclusion;
mod rows;

use indexmap::IndexMap;
use petgraph::Direction;
use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use petgraph::visit::{EdgeRef as _, IntoEdgeReferences as _};
use serde::{Deserialize, Serialize};

pub use rows::{GraphRow, Successor};

use crate::id::ToolName;

/// The graph's assumption before the first score (ToolNet, sections 3.2 and 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prior {
    /// Observed in trajectories: an unseen transition has prior 0 or no edge at all.
    Static,
    /// No assumption: every tool leads to every tool and to `end`, all equally.
    #[default]
    Uninformed,
}

/// Whether edges exist by rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structure {
    /// `start` leads to every tool, equally; every tool leads to itself and to `end`, with prior 0
    /// unless seen.
    #[default]
    Implied,
    /// The stored edges are the only ones: a graph written by hand.
    Listed,
}

/// Tools and the transitions between them.
///
/// The tools are ordered by when they were added. This order breaks ties between equal weights.
#[derive(Clone, Debug)]
pub struct ToolGraph {
    prior: Prior,
    structure: Structure,
    store: StableDiGraph<GraphNode, Transition>,
    tools: IndexMap<ToolName, NodeIndex>,
    start: NodeIndex,
    end: NodeIndex,
    joined: u64,
}

#[derive(Clone, Debug)]
struct GraphNode {
    name: ToolName,
    /// Position of the node in the order: `start` is 0, `end` the largest, and tools count upwards as they are added.
    /// Node indices do not serve, since freed ones are reused.
    rank: u64,
}

/// The data of a stored edge.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Transition {
    prior: f64,
    count: u64,
}

/// Stored edge, never one that exists by rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeRef<'a> {
    pub from: &'a ToolName,
    pub to: &'a ToolName,
    /// ToolNet, eq. 5: the share of this transition among all that leave `from`, 0 to 1.
    pub prior: f64,
    /// Number of times that trajectories contain it; 0 for an edge that an agent explored later.
    pub count: u64,
}

impl Default for ToolGraph {
    fn default() -> Self {
        Self::new(Prior::default())
    }
}

impl ToolGraph {
    /// A graph without tools.
    pub fn new(prior: Prior) -> Self {
        Self::with_structure(prior, Structure::Implied)
    }

    pub fn with_structure(prior: Prior, structure: Structure) -> Self {
        let mut store = StableDiGraph::new();
        let start = store.add_node(GraphNode { name: ToolName::start(), rank: 0 });
        let end = store.add_node(GraphNode { name: ToolName::end(), rank: u64::MAX });
        Self { prior, structure, store, tools: IndexMap::new(), start, end, joined: 0 }
    }

    pub fn prior(&self) -> Prior {
        self.prior
    }

    pub fn structure(&self) -> Structure {
        self.structure
    }

    /// The number of tools, without `start` and `end`.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tools in the order in which they were added.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolName> + Clone {
        self.tools.keys()
    }

    /// Whether this is a tool of the graph; `start` and `end` are not.
    pub fn contains(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Adds a tool, in amortised constant time: only the equal shares of the implied rows change.
    /// `false` if it exists already, or is called `start` or `end`.
    pub fn add_tool(&mut self, tool: ToolName) -> bool {
        if !self.add_node(tool.clone()) {
            return false;
        }
        if self.structure == Structure::Listed {
            // A listed graph implies no edges, and a tool without edges would never be tried.
            self.put_edge(ToolName::START, tool.as_str(), 0.0, 0);
            self.put_edge(tool.as_str(), tool.as_str(), 0.0, 0);
            self.put_edge(tool.as_str(), ToolName::END, 0.0, 0);
        }
        true
    }

    /// Adds a node without edges.
    pub fn add_node(&mut self, tool: ToolName) -> bool {
        if tool.is_special() || self.tools.contains_key(&tool) {
            return false;
        }
        self.joined += 1;
        let node = self.store.add_node(GraphNode { name: tool.clone(), rank: self.joined });
        self.tools.insert(tool, node);
        true
    }

    /// Removes a tool with all its edges and their data. `false` if the tool does not exist.
    ///
    /// The rows that led to it keep their sum: the others receive its share in proportion, as if
    /// the trajectories had never gone there (ToolNet, eq. 5).
    pub fn remove_tool(&mut self, tool: &str) -> bool {
        let Some(gone) = self.tools.shift_remove(tool) else {
            return false;
        };
        let before: Vec<NodeIndex> = self
            .store
            .neighbors_directed(gone, Direction::Incoming)
            .filter(|&node| node != gone)
            .collect();
        for node in before {
            self.hand_over(node, gone);
        }
        self.store.remove_node(gone);
        true
    }

    /// Spreads the prior of `from → gone` over the other edges of `from`.
    fn hand_over(&mut self, from: NodeIndex, gone: NodeIndex) {
        let mut others: Vec<_> = self.store.edges(from).collect();
        // In a fixed order, so that a graph read from a file sums exactly like the saved one.
        others.sort_by_key(|edge| self.store[edge.target()].rank);
        let all: f64 = others.iter().map(|edge| edge.weight().prior).sum();
        others.retain(|edge| edge.target() != gone);
        let kept: f64 = others.iter().map(|edge| edge.weight().prior).sum();
        if kept <= 0.0 {
            return;
        }
        let ids: Vec<_> = others.iter().map(|edge| edge.id()).collect();
        for id in ids {
            self.store[id].prior *= all / kept;
        }
    }

    /// Adds an explored edge: prior 0, count 0. `false` if it exists already, by rule or stored, or
    /// is impossible (no such tool, into `start`, out of `end`, past all tools).
    pub fn add_edge(&mut self, from: &str, to: &str) -> bool {
        let past_all = from == ToolName::START && to == ToolName::END;
        let ruled_out = past_all && self.structure == Structure::Implied;
        !ruled_out && !self.has_edge(from, to) && self.put_edge(from, to, 0.0, 0)
    }

    /// Stores an edge, which must not be stored yet: checking would walk the whole row. `false` if
    /// it is impossible.
    pub fn put_edge(&mut self, from: &str, to: &str, prior: f64, count: u64) -> bool {
        let (Some(from), Some(to)) = (self.node(from), self.node(to)) else {
            return false;
        };
        if from == self.end || to == self.start {
            return false;
        }
        self.store.add_edge(from, to, Transition { prior, count });
        true
    }

    /// Whether `to` may follow `from`, by rule or because it is stored.
    pub fn has_edge(&self, from: &str, to: &str) -> bool {
        let (Some(a), Some(b)) = (self.node(from), self.node(to)) else {
            return false;
        };
        if a == self.end || b == self.start {
            return false;
        }
        let implied = match (self.prior, self.structure) {
            (_, Structure::Listed) => false,
            (Prior::Uninformed, Structure::Implied) => a != self.start || b != self.end,
            (Prior::Static, Structure::Implied) if a == self.start => b != self.end,
            (Prior::Static, Structure::Implied) => a == b || b == self.end,
        };
        implied || self.store.contains_edge(a, b)
    }

    /// The stored edges, ordered by the positions of `from` and `to` (`start` first, `end` last).
    pub fn edges(&self) -> Vec<EdgeRef<'_>> {
        let mut edges: Vec<_> = self
            .store
            .edge_references()
            .map(|edge| (&self.store[edge.source()], &self.store[edge.target()], *edge.weight()))
            .collect();
        edges.sort_by_key(|(from, to, _)| (from.rank, to.rank));
        edges
            .into_iter()
            .map(|(from, to, known)| EdgeRef {
                from: &from.name,
                to: &to.name,
                prior: known.prior,
                count: known.count,
            })
            .collect()
    }

    /// The stored edges that lead to this node, ordered by their origin. The cost is linear in
    /// their number, regardless of the graph's size.
    pub fn before(&self, to: &str) -> Vec<EdgeRef<'_>> {
        let Some(to) = self.node(to) else { return Vec::new() };
        let mut edges: Vec<_> = self
            .store
            .edges_directed(to, Direction::Incoming)
            .map(|edge| (&self.store[edge.source()], *edge.weight()))
            .collect();
        edges.sort_by_key(|(from, _)| from.rank);
        let to = &self.store[to].name;
        edges
            .into_iter()
            .map(|(from, known)| EdgeRef {
                from: &from.name,
                to,
                prior: known.prior,
                count: known.count,
            })
            .collect()
    }

    /// How many edges are stored.
    pub fn edge_count(&self) -> usize {
        self.store.edge_count()
    }

    fn node(&self, name: &str) -> Option<NodeIndex> {
        match name {
            ToolName::START => Some(self.start),
            ToolName::END => Some(self.end),
            tool => self.tools.get(tool).copied(),
        }
    }

    /// The graph's own copy of a name, and its position.
    pub fn named(&self, name: &str) -> Option<(&ToolName, u64)> {
        self.node(name).map(|node| (&self.store[node].name, self.store[node].rank))
    }
}

/// Equal: the same tools in the same order, with the same edges.
impl PartialEq for ToolGraph {
    fn eq(&self, other: &Self) -> bool {
        self.prior == other.prior
            && self.structure == other.structure
            && self.edge_count() == other.edge_count()
            && self.tools().eq(other.tools())
            && self.edges() == other.edges()
    }
}
