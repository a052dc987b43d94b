//! Where a search goes (DFSDT; ToT-DFS).

use super::{NodeEnd, family::family};
use crate::domain::id::TaskId;

family! {
    /// Where a search goes (DFSDT; ToT-DFS).
    pub enum SearchEvent {
        /// A search goes down: the step of this number is a child of the step of that number (0: the root).
        NodeOpened {
            task: TaskId,
            node: u32,
            parent: u32,
        },
        /// A search went on from here: down to a child, or back to a node that has more.
        NodeEntered {
            task: TaskId,
            node: u32,
        },
        /// The children of a node were compared two by two, in both orders: how often each was preferred.
        NodesRanked {
            task: TaskId,
            votes: Vec<(u32, u32)>,
        },
        /// Nothing more comes of this node.
        NodeClosed {
            task: TaskId,
            node: u32,
            how: NodeEnd,
        },
    }
}
