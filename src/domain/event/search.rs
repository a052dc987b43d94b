//! Movements of a search (DFSDT; ToT-DFS).

use super::{NodeEnd, family::family};
use crate::id::TaskId;

family! {
    /// Movements of a search (DFSDT; ToT-DFS).
    pub enum SearchEvent {
        /// A search goes down: this step is a child of that step (0: the root).
        NodeOpened {
            task: TaskId,
            node: u32,
            parent: u32,
        },
        /// A search continues here: in a child, or back at a node that has more.
        NodeEntered {
            task: TaskId,
            node: u32,
        },
        /// The children of a node were compared pairwise, in both orders: how often each was
        /// preferred.
        NodesRanked {
            task: TaskId,
            votes: Vec<(u32, u32)>,
        },
        /// The node is finished.
        NodeClosed {
            task: TaskId,
            node: u32,
            how: NodeEnd,
        },
    }
}
