//! The graph as it is kept: nodes, and those edges that were seen or tried.
//!
//! Most edges of a tool graph are there by rule (`start` leads everywhere, every tool leads to itself
//! and to `end`, an uninformed graph connects everything), so they are never stored: 16,000 tools cost
//! 16,000 nodes, not 256 million edges.

mod rows;

use indexmap::IndexMap;
use petgraph::Direction;
use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use petgraph::visit::{EdgeRef as _, IntoEdgeReferences as _};
use serde::{Deserialize, Serialize};

pub(crate) use rows::{Row, Successor};

use crate::domain::id::ToolName;

/// What the graph assumes before the first score (ToolNet, sections 3.2 and 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prior {
    /// Observed in trajectories: what was never seen has prior 0 or no edge at all.
    Static,
    /// Nothing: every tool leads to every tool and to `end`, all equally.
    #[default]
    Uninformed,
}

/// Whether edges are there by rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structure {
    /// `start` leads to every tool, equally; every tool leads to itself and to `end`, with prior 0
    /// unless seen.
    #[default]
    Implied,
    /// The successors of a node are the stored edges and no others: a graph written by hand.
    Listed,
}

/// Tools and the transitions between them.
///
/// The order of the tools is the order in which they joined. It breaks ties wherever weights are equal.
#[derive(Clone, Debug)]
pub struct ToolGraph {
    prior: Prior,
    structure: Structure,
    store: StableDiGraph<Node, Transition>,
    tools: IndexMap<ToolName, NodeIndex>,
    start: NodeIndex,
    end: NodeIndex,
    joined: u64,
}

#[derive(Clone, Debug)]
struct Node {
    name: ToolName,
    /// Where it stands among the others: `start` is 0, `end` the largest, tools count upwards as they
    /// join. Node indices do not serve, since freed ones are given out again.
    rank: u64,
}

/// What is known about a stored edge.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Transition {
    prior: f64,
    count: u64,
}

/// One stored edge. Edges that are there by rule are never among them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeRef<'a> {
    pub from: &'a ToolName,
    pub to: &'a ToolName,
    /// ToolNet, eq. 5: the share of this transition among all that leave `from`, 0 to 1.
    pub prior: f64,
    /// How often it was seen in trajectories; 0 for an edge that an agent explored later.
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

    pub(crate) fn with_structure(prior: Prior, structure: Structure) -> Self {
        let mut store = StableDiGraph::new();
        let start = store.add_node(Node { name: ToolName::start(), rank: 0 });
        let end = store.add_node(Node { name: ToolName::end(), rank: u64::MAX });
        Self { prior, structure, store, tools: IndexMap::new(), start, end, joined: 0 }
    }

    pub fn prior(&self) -> Prior {
        self.prior
    }

    pub fn structure(&self) -> Structure {
        self.structure
    }

    /// How many tools there are; `start` and `end` do not count.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tools in the order in which they joined.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolName> + Clone {
        self.tools.keys()
    }

    /// Whether this is a tool of the graph; `start` and `end` are none.
    pub fn contains(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Lets a tool join, in amortised constant time: nothing that is there changes but the equal shares
    /// of the implied rows. `false` where it is there already, or is called `start` or `end`.
    pub fn add_tool(&mut self, tool: ToolName) -> bool {
        if !self.add_node(tool.clone()) {
            return false;
        }
        if self.structure == Structure::Listed {
            // Nothing is implied in a listed graph, and a tool that nothing leads to nor away from
            // would never be tried.
            self.put_edge(ToolName::START, tool.as_str(), 0.0, 0);
            self.put_edge(tool.as_str(), tool.as_str(), 0.0, 0);
            self.put_edge(tool.as_str(), ToolName::END, 0.0, 0);
        }
        true
    }

    /// Adds a node and no edge.
    pub(crate) fn add_node(&mut self, tool: ToolName) -> bool {
        if tool.is_special() || self.tools.contains_key(&tool) {
            return false;
        }
        self.joined += 1;
        let node = self.store.add_node(Node { name: tool.clone(), rank: self.joined });
        self.tools.insert(tool, node);
        true
    }

    /// Takes a tool out, with all its edges; what was learned about them is gone. `false` where there
    /// is no such tool.
    ///
    /// The rows that led to it keep their sum: what its share was goes to the others in proportion,
    /// as if the trajectories had never gone there (ToolNet, eq. 5).
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
        // In a fixed order: a graph that was read from a file sums as the one that was saved did.
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

    /// Adds an edge that an agent explored: prior 0, count 0. `false` where it is there already, by
    /// rule or stored, and where it cannot be (no such tool, into `start`, out of `end`, past all tools).
    pub fn add_edge(&mut self, from: &str, to: &str) -> bool {
        let past_all = from == ToolName::START && to == ToolName::END;
        let ruled_out = past_all && self.structure == Structure::Implied;
        !ruled_out && !self.has_edge(from, to) && self.put_edge(from, to, 0.0, 0)
    }

    /// Stores an edge, which must not be stored yet: looking would cost a walk through the whole row.
    /// `false` where it cannot be.
    pub(crate) fn put_edge(&mut self, from: &str, to: &str, prior: f64, count: u64) -> bool {
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

    /// The stored edges, ordered by where `from` and `to` stand among the nodes (`start` first, `end` last).
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

    /// The stored edges that lead to this node, ordered by where they come from. Costs as much as there
    /// are of them, however large the graph is.
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

    /// How many stored edges leave this node.
    pub fn out_degree(&self, from: &str) -> usize {
        self.node(from).map_or(0, |from| self.store.edges(from).count())
    }

    fn node(&self, name: &str) -> Option<NodeIndex> {
        match name {
            ToolName::START => Some(self.start),
            ToolName::END => Some(self.end),
            tool => self.tools.get(tool).copied(),
        }
    }

    /// The graph's own copy of a name, and where it stands among the others.
    pub(crate) fn named(&self, name: &str) -> Option<(&ToolName, u64)> {
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
