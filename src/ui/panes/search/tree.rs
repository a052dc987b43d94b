//! The order in which the nodes of a tree are listed, and the lines that show the tree.

use std::collections::HashMap;

use crate::domain::{NodeState, SearchTree};

/// A node in its row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub node: &'a NodeState,
    /// The row of its parent; `None` for a child of the root.
    pub parent: Option<usize>,
    /// Whether no sibling comes after the node.
    pub last: bool,
}

/// All nodes, each followed by the nodes below it.
#[derive(Debug)]
pub(super) struct Order<'a> {
    pub rows: Vec<Placed<'a>>,
}

impl<'a> Order<'a> {
    pub fn of(tree: &'a SearchTree) -> Self {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
        let mut roots = Vec::new();
        let mut places: HashMap<u32, usize> = HashMap::with_capacity(tree.nodes.len());
        for (at, node) in tree.nodes.iter().enumerate() {
            // A parent always precedes its children, even in a damaged journal, so there are no cycles.
            match places.get(&node.parent) {
                Some(parent) => children[*parent].push(at),
                None => roots.push(at),
            }
            places.insert(node.node, at);
        }
        let mut rows: Vec<Placed<'a>> = Vec::with_capacity(tree.nodes.len());
        let mut open: Vec<(usize, Option<usize>, bool)> = Vec::new();
        push(&mut open, &roots, None);
        while let Some((at, parent, last)) = open.pop() {
            let row = rows.len();
            rows.push(Placed { node: &tree.nodes[at], parent, last });
            push(&mut open, &children[at], Some(row));
        }
        Self { rows }
    }

    pub fn row(&self, node: u32) -> Option<usize> {
        self.rows.iter().position(|placed| placed.node.node == node)
    }

    /// The row of a node's first child.
    pub fn child(&self, row: usize) -> Option<usize> {
        self.rows.get(row + 1).filter(|next| next.parent == Some(row)).map(|_| row + 1)
    }

    /// The lines before a node, two cells for each level; for a deep node the last `most` levels.
    pub fn lines(&self, row: usize, most: usize) -> String {
        let Some(placed) = self.rows.get(row) else { return String::new() };
        let mut pieces = vec![if placed.last { "└ " } else { "├ " }];
        let mut at = placed.parent;
        while let Some(above) = at.and_then(|at| self.rows.get(at)) {
            if pieces.len() >= most.max(1) {
                pieces.push("…");
                break;
            }
            pieces.push(if above.last { "  " } else { "│ " });
            at = above.parent;
        }
        pieces.into_iter().rev().collect()
    }
}

/// Pushes nodes in reverse, since the top of the stack comes first.
fn push(open: &mut Vec<(usize, Option<usize>, bool)>, nodes: &[usize], parent: Option<usize>) {
    let last = nodes.len().saturating_sub(1);
    open.extend(nodes.iter().enumerate().rev().map(|(i, node)| (*node, parent, i == last)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(nodes: &[(u32, u32)]) -> SearchTree {
        let node = |(node, parent): &(u32, u32)| NodeState {
            node: *node,
            parent: *parent,
            depth: 1,
            votes: None,
            end: None,
        };
        SearchTree { nodes: nodes.iter().map(node).collect(), at: 0 }
    }

    fn shown(tree: &SearchTree) -> Vec<String> {
        let order = Order::of(tree);
        let line = |row: usize| format!("{}{}", order.lines(row, 9), order.rows[row].node.node);
        (0..order.rows.len()).map(line).collect()
    }

    #[test]
    fn children_stand_below_their_parents() {
        let tree = tree(&[(1, 0), (2, 1), (3, 2), (4, 1), (5, 0), (6, 4)]);
        assert_eq!(shown(&tree), ["├ 1", "│ ├ 2", "│ │ └ 3", "│ └ 4", "│   └ 6", "└ 5"]);
        let order = Order::of(&tree);
        assert_eq!((order.row(6), order.child(0), order.child(2)), (Some(4), Some(1), None));
    }

    #[test]
    fn damaged_trees_are_listed_whole_and_once() {
        let damaged = tree(&[(3, 4), (4, 3), (5, 5), (3, 3), (7, 99)]);
        let mut nodes: Vec<_> = Order::of(&damaged).rows.iter().map(|row| row.node.node).collect();
        nodes.sort_unstable();
        assert_eq!(nodes, [3, 3, 4, 5, 7]);
    }

    #[test]
    fn deep_nodes_show_their_last_levels() {
        let chain: Vec<_> = (1..=100_000).map(|node| (node, node - 1)).collect();
        let tree = tree(&chain);
        let order = Order::of(&tree);
        assert_eq!(order.rows.len(), 100_000);
        assert_eq!(order.lines(99_999, 3), "…    └ ");
    }
}
