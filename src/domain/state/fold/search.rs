//! The fold of movements of a search.

use super::Family;
use crate::event::{NodeEnd, SearchEvent};
use crate::id::TaskId;
use crate::state::{SearchTree, State, What};

impl State {
    fn apply_search(&mut self, event: &SearchEvent) {
        match event {
            SearchEvent::NodeOpened { task, node, parent } => {
                self.on_tree(*task, |tree| tree.open(*node, *parent));
            }
            SearchEvent::NodeEntered { task, node } => self.on_tree(*task, |tree| tree.at = *node),
            SearchEvent::NodesRanked { task, votes } => self.on_tree(*task, |tree| {
                for (node, votes) in votes {
                    if let Some(node) = tree.node_mut(*node) {
                        node.votes = Some(*votes);
                    }
                }
            }),
            SearchEvent::NodeClosed { task, node, how } => self.on_tree(*task, |tree| {
                if let Some(node) = tree.node_mut(*node) {
                    node.end = Some(*how);
                }
            }),
        }
    }

    fn on_tree(&mut self, task: TaskId, change: impl FnOnce(&mut SearchTree)) {
        if let Some(task) = self.task_mut(task) {
            change(&mut task.search);
        }
    }
}

impl Family for SearchEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        state.apply_search(self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            SearchEvent::NodeClosed { how, .. } if *how != NodeEnd::Answered => {
                What::told(self.clone())
            }
            SearchEvent::NodeClosed { .. }
            | SearchEvent::NodeOpened { .. }
            | SearchEvent::NodeEntered { .. }
            | SearchEvent::NodesRanked { .. } => None,
        }
    }
}
