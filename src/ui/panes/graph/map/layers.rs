//! Positions of nodes and edges, in layers from left to right. Dagre decides each node's layer, the order within a
//! layer and the rough height, which is rounded to rows here.

use dagre::{
    EdgeLabel, LayoutOptions, NodeLabel, RankDir, graph::Graph, layout, layout::types::LabelPos,
};

/// A graph to lay out: only its connections. Widths do not count: they change with every digit of a score, and a layer
/// takes as many columns as it needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The number of nodes.
    pub nodes: usize,
    /// Height of every node in rows: 1, or 3 for boxes.
    pub height: usize,
    /// Edges from node to node, by index. No self edges.
    pub edges: Vec<(usize, usize)>,
}

/// An item of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerItem {
    Node(usize),
    /// The place where this edge passes through. It passes each layer at most once.
    Pass(usize),
}

/// A layer from top to bottom: each item with its first row.
pub type MapLayer = Vec<(LayerItem, usize)>;

/// Room between dagre's layers, just enough to tell layers apart.
const GAP: f64 = 8.0;
/// Width of a node for dagre; the real widths matter only later, for whole columns.
const WIDE: f64 = 2.0;

/// How much higher a drawing may be than its fullest layer: as a factor, and in rows.
const SLACK: (f64, f64) = (1.25, 4.0);

/// How many times its height a drawing may be stretched to, where there is room.
const FARTHEST: usize = 5;

/// The layers from left to right. Every edge between two nodes passes at least one layer between them,
/// where its label has a row of its own.
pub fn layers(shape: &Shape) -> Vec<MapLayer> {
    let items = arrange(shape);
    // The distinct columns that dagre used, from left to right.
    let mut columns: Vec<f64> = items.iter().map(|(_, x, _)| *x).collect();
    columns.sort_by(f64::total_cmp);
    columns.dedup_by(|a, b| (*a - *b).abs() < 0.5);
    let mut layers: Vec<Vec<(LayerItem, f64)>> = vec![Vec::new(); columns.len()];
    for (item, x, y) in items {
        let after = columns.partition_point(|column| *column < x - 0.5);
        layers[after.min(columns.len() - 1)].push((item, y));
    }
    let scale = scale(&layers, shape.height);
    let layers: Vec<MapLayer> =
        layers.into_iter().map(|layer| whole_rows(layer, scale, shape.height)).collect();
    without_gaps(layers, shape.height)
}

/// The factor for heights: dagre draws long edges straight at the cost of height, and rows are few.
fn scale(layers: &[Vec<(LayerItem, f64)>], height: usize) -> f64 {
    let full = |layer: &Vec<(LayerItem, f64)>| -> usize {
        layer.iter().map(|(item, _)| tall(*item, height)).sum()
    };
    let needed = layers.iter().map(full).max().unwrap_or(0) as f64;
    let drawn = layers.iter().flatten().map(|(_, y)| *y).fold(0.0, f64::max);
    let wanted = needed * SLACK.0 + SLACK.1;
    if drawn > wanted { wanted / drawn } else { 1.0 }
}

/// Every node, and every bend of an edge between two nodes, with the coordinates from dagre.
fn arrange(shape: &Shape) -> Vec<(LayerItem, f64, f64)> {
    let mut graph = Graph::new();
    for i in 0..shape.nodes {
        let node = NodeLabel { width: WIDE, height: shape.height as f64, ..NodeLabel::default() };
        graph.set_node(i.to_string(), Some(node));
    }
    for &(from, to) in &shape.edges {
        // A label makes dagre keep a layer free between the ends, with a row for it.
        let label = EdgeLabel {
            width: WIDE,
            height: 1.0,
            labelpos: LabelPos::Center,
            ..EdgeLabel::default()
        };
        graph.set_edge(from.to_string(), to.to_string(), Some(label), None);
    }
    let options = LayoutOptions {
        rankdir: RankDir::LR,
        nodesep: 1.0,
        edgesep: 0.0,
        ranksep: GAP,
        ..LayoutOptions::default()
    };
    layout(&mut graph, Some(options));
    let nodes = (0..shape.nodes).filter_map(|i| {
        let node = graph.node(&i.to_string())?;
        Some((LayerItem::Node(i), node.x?, node.y?))
    });
    let passes = shape.edges.iter().enumerate().flat_map(|(i, (from, to))| {
        let edge = graph.edge(&from.to_string(), &to.to_string(), None);
        let points = edge.map_or(&[][..], |edge| &edge.points);
        // The first and the last point are where the line meets the nodes.
        let inner = points.get(1..points.len().saturating_sub(1)).unwrap_or_default();
        inner.iter().map(move |point| (LayerItem::Pass(i), point.x, point.y))
    });
    nodes.chain(passes).collect()
}

/// Rounds positions to rows, in the same order and without overlaps, as near as possible to the old ones: items too
/// close to each other are pushed apart evenly, up and down.
fn whole_rows(mut layer: Vec<(LayerItem, f64)>, scale: f64, height: usize) -> MapLayer {
    layer.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut above = 0;
    let mut wished = Vec::new();
    for (item, middle) in &layer {
        let height = tall(*item, height);
        wished.push(middle * scale - height as f64 / 2.0 - above as f64);
        above += height;
    }
    above = 0;
    let row = |((item, _), place): ((LayerItem, f64), f64)| {
        let top = place.round().max(0.0) as usize + above;
        above += tall(item, height);
        (item, top)
    };
    layer.into_iter().zip(rising(&wished)).map(row).collect()
}

/// The non-decreasing numbers nearest to these (pool adjacent violators).
fn rising(wished: &[f64]) -> Vec<f64> {
    // Runs of equal results: their mean and their length.
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for wish in wished {
        runs.push((*wish, 1));
        while let [.., (before, n), (after, m)] = runs.as_slice() {
            if before <= after {
                break;
            }
            let both = n + m;
            let mean = (before * *n as f64 + after * *m as f64) / both as f64;
            runs.truncate(runs.len() - 2);
            runs.push((mean, both));
        }
    }
    runs.into_iter().flat_map(|(mean, n)| std::iter::repeat_n(mean, n)).collect()
}

/// Removes rows that are empty in all layers; one of several in succession stays, as a gap.
fn without_gaps(mut layers: Vec<MapLayer>, height: usize) -> Vec<MapLayer> {
    let mut used = vec![false; self::height(&layers, height)];
    for (item, top) in layers.iter().flatten() {
        used[*top..*top + tall(*item, height)].fill(true);
    }
    let mut next = 0;
    let mut gap = true;
    let moved: Vec<usize> = used
        .iter()
        .map(|used| {
            let row = next;
            next += usize::from(*used || !gap);
            gap = !used;
            row
        })
        .collect();
    for (_, top) in layers.iter_mut().flatten() {
        *top = moved[*top];
    }
    layers
}

/// The layers stretched from top to bottom to about this many rows; unchanged if they already take more. Items that
/// shared a row still do.
pub fn apart(layers: &[MapLayer], height: usize, rows: usize) -> Vec<MapLayer> {
    let last = layers.iter().flatten().map(|it| middle(it, height)).max().unwrap_or(0);
    let wanted = rows.saturating_sub(1 + height / 2).min(last * FARTHEST);
    if wanted <= last {
        return layers.to_vec();
    }
    let moved = |it: &(LayerItem, usize)| {
        let row = (2 * middle(it, height) * wanted + last) / (2 * last);
        (it.0, row - tall(it.0, height) / 2)
    };
    layers.iter().map(|layer| layer.iter().map(moved).collect()).collect()
}

/// The number of rows of these layers, with nodes of this height.
pub fn height(layers: &[MapLayer], height: usize) -> usize {
    let ends = layers.iter().flatten().map(|(item, top)| top + tall(*item, height));
    ends.max().unwrap_or(0)
}

/// The middle row of an item.
pub fn middle((item, top): &(LayerItem, usize), height: usize) -> usize {
    top + tall(*item, height) / 2
}

/// The number of rows of an item.
pub fn tall(item: LayerItem, height: usize) -> usize {
    match item {
        LayerItem::Node(_) => height,
        LayerItem::Pass(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_too_close_is_pushed_apart_evenly() {
        assert_eq!(rising(&[1.0, 3.0, 2.0, 4.0]), [1.0, 2.5, 2.5, 4.0]);
        let layer =
            vec![(LayerItem::Pass(0), 5.5), (LayerItem::Pass(1), 5.5), (LayerItem::Pass(2), 5.5)];
        let rows: Vec<usize> = whole_rows(layer, 1.0, 1).iter().map(|(_, row)| *row).collect();
        assert_eq!(rows, [4, 5, 6]);
    }

    proptest! {
        #[test]
        fn every_node_has_its_place_and_nothing_overlaps(
            nodes in 1usize..20, height in prop_oneof![Just(1usize), Just(3)],
            edges in prop::collection::vec((0usize..20, 0usize..20), 0..40), rows in 0usize..200,
        ) {
            let mut edges: Vec<_> =
                edges.into_iter().filter(|(a, b)| a != b && *a < nodes && *b < nodes).collect();
            edges.sort_unstable();
            edges.dedup();
            let shape = Shape { nodes, height, edges };
            let close = layers(&shape);
            let layers = apart(&close, height, rows);
            prop_assert!(self::height(&layers, height) <= rows.max(self::height(&close, height)));
            let mut placed: Vec<usize> = Vec::new();
            for layer in &layers {
                let mut free = 0;
                for (item, top) in layer {
                    prop_assert!(*top >= free);
                    free = top + tall(*item, height);
                    if let LayerItem::Node(node) = item {
                        placed.push(*node);
                    }
                }
            }
            placed.sort_unstable();
            prop_assert_eq!(placed, (0..nodes).collect::<Vec<_>>());
        }
    }
}
