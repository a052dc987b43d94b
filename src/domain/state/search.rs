//! The search tree: a node for each step, in the order in which they were taken.

use serde::{Deserialize, Serialize};

use crate::event::NodeEnd;

/// Node of a search tree. Its decision is the step of the same number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeState {
    /// The number of its step, from 1.
    pub node: u32,
    /// 0 for a child of the root.
    pub parent: u32,
    /// 1 for a child of the root.
    pub depth: u32,
    /// How often it was preferred to a sibling, if they were compared.
    pub votes: Option<u32>,
    /// How it ended; `None` while it is open.
    pub end: Option<NodeEnd>,
}

/// A search tree so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchTree {
    /// A parent comes before its children.
    pub nodes: Vec<NodeState>,
    /// The search's current node; 0 is the root.
    pub at: u32,
}

impl SearchTree {
    pub fn node(&self, node: u32) -> Option<&NodeState> {
        self.nodes.iter().rev().find(|known| known.node == node)
    }

    pub(super) fn node_mut(&mut self, node: u32) -> Option<&mut NodeState> {
        self.nodes.iter_mut().rev().find(|known| known.node == node)
    }

    /// The number of nodes that failed.
    pub fn pruned(&self) -> usize {
        let pruned = |node: &&NodeState| node.end.is_some_and(|end| end != NodeEnd::Answered);
        self.nodes.iter().filter(pruned).count()
    }

    pub(super) fn open(&mut self, node: u32, parent: u32) {
        let depth = self.node(parent).map_or(1, |parent| parent.depth.saturating_add(1));
        self.nodes.push(NodeState { node, parent, depth, votes: None, end: None });
        self.at = node;
    }
}
