//! Nodes and edges that are added to a finished layout, without moving its parts.

use std::ops::Range;

use super::layers::{LayerItem, MapLayer, middle, tall};

/// The layer that nodes are added to: the first one behind the start and its successors.
pub const LAYER: usize = 2;

/// Adds nodes of this height with these numbers behind the start, each at the free place nearest to its row.
pub fn add_nodes(layers: &mut Vec<MapLayer>, height: usize, nodes: Range<usize>) {
    if nodes.is_empty() {
        return;
    }
    layers.resize(layers.len().max(LAYER + 1), MapLayer::new());
    let start = layers[0].first().map_or(0, |it| middle(it, height));
    for node in nodes {
        // The edge from the start should also be straight.
        let mut taken = layers[LAYER].clone();
        let above = |(item, top): &(LayerItem, usize)| (*item, top.saturating_sub(height / 2));
        taken.extend(layers[LAYER - 1].iter().map(above));
        let top = free_row(&taken, height, height, start.saturating_sub(height / 2));
        insert(&mut layers[LAYER], (LayerItem::Node(node), top));
    }
}

fn insert(layer: &mut MapLayer, it: (LayerItem, usize)) {
    let at = layer.partition_point(|(_, top)| *top < it.1);
    layer.insert(at, it);
}

/// Adds these edges, numbered from `first` on, to layers with nodes of this height. Each edge passes every layer
/// between its ends in the free row nearest to its right end.
pub fn add_edges(layers: &mut [MapLayer], height: usize, first: usize, edges: &[(usize, usize)]) {
    for (edge, (from, to)) in (first..).zip(edges) {
        let (Some(from), Some(to)) = (place(layers, height, *from), place(layers, height, *to))
        else {
            continue;
        };
        let (left, right) = (from.min(to), from.max(to));
        for layer in &mut layers[left.0 + 1..right.0.max(left.0 + 1)] {
            let row = free_row(layer, height, 1, right.1);
            insert(layer, (LayerItem::Pass(edge), row));
        }
    }
}

/// The layer of a node, and the row in its middle.
fn place(layers: &[MapLayer], height: usize, node: usize) -> Option<(usize, usize)> {
    layers.iter().enumerate().find_map(|(i, layer)| {
        let found = layer.iter().find(|(item, _)| *item == LayerItem::Node(node))?;
        Some((i, middle(found, height)))
    })
}

/// The first of this many free rows of a layer, nearest to the wished one.
fn free_row(layer: &MapLayer, height: usize, rows: usize, wished: usize) -> usize {
    let is_free = |row: &usize| {
        let mut taken = layer.iter().map(|(item, top)| *top..*top + tall(*item, height));
        taken.all(|taken| taken.end <= *row || row + rows <= taken.start)
    };
    let nearest = (0..).flat_map(|off| [wished.checked_sub(off), Some(wished + off)]);
    nearest.flatten().find(is_free).unwrap_or(wished)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_added_edge_passes_where_nothing_is() {
        let node = LayerItem::Node;
        let mut layers: Vec<MapLayer> = vec![
            vec![(node(0), 0), (node(1), 4)],
            vec![(LayerItem::Pass(0), 2), (LayerItem::Pass(1), 3)],
            vec![(node(2), 1)],
        ];
        let before = layers.clone();
        // Forward, back, and beside each other in one layer.
        add_edges(&mut layers, 3, 2, &[(0, 2), (2, 1), (0, 1)]);
        assert_eq!((&layers[0], &layers[2]), (&before[0], &before[2]));
        let pass = LayerItem::Pass;
        assert_eq!(layers[1], [(pass(3), 0), (pass(2), 1), (pass(0), 2), (pass(1), 3)]);
        add_nodes(&mut layers, 3, 3..5);
        assert_eq!(layers[2], [(node(2), 1), (node(3), 4), (node(4), 7)]);
    }
}
