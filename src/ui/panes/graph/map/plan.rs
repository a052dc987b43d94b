//! A drawing of a graph in cells: the place of each node, the lines of each edge, and the room for its label. The
//! drawing knows nothing of tools and weights and depends only on the shape.

use std::collections::BTreeMap;

use super::additions;
use super::channel::{self, Net, lanes};
use super::layers::{LayerItem, MapLayer, Shape, apart, height};
use crate::panes::graph::lines::CanvasPoint;

/// Cells of a label, without the line at both sides of it.
pub const LABEL: usize = 5;
/// The least room between a layer and the next one.
const MARGIN: usize = 2;

/// Distances in a drawing, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing {
    /// Columns from lane to lane, 1 or more.
    pub lanes: usize,
    /// Further columns from layer to layer.
    pub layers: usize,
    /// Rows of the drawing, if more than it needs.
    pub rows: usize,
}

/// The contents of a drawing, with their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapContent {
    /// The nodes, and the edges that decide their places.
    pub shape: Shape,
    /// Edges that are drawn between the others, also to nodes outside of the shape.
    pub added: Vec<(usize, usize)>,
    /// Columns of each node: those it takes now, and those reserved for it.
    pub widths: Vec<(usize, usize)>,
    /// Columns reserved for nodes outside of the shape, so that a further node moves nothing.
    pub leaf: usize,
    /// Columns of a layer beside a label.
    pub air: usize,
    pub spacing: Spacing,
}

impl MapContent {
    /// Reserves no columns for later labels, and as few as possible around labels of edges.
    pub fn close(&mut self) {
        self.widths.iter_mut().for_each(|(now, kept)| *kept = *now);
        (self.leaf, self.air) = (0, 0);
    }
}

/// The layout, in cells from the upper left corner.
#[derive(Debug, Default)]
pub struct MapLayout {
    pub width: usize,
    pub height: usize,
    /// Rows without the added nodes and edges.
    pub laid: usize,
    /// The number of layers.
    pub layers: usize,
    /// The rows of a node.
    pub tall: usize,
    /// The upper left corner of each node, in the order of the shape.
    pub nodes: Vec<CanvasPoint>,
    /// The wires of the shape's edges, then of the added edges.
    pub wires: Vec<Wire>,
}

/// The path of one edge.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    /// Straight pieces: from, to, and the net of the piece, with the layer before the channel of that net.
    pub pieces: Vec<(CanvasPoint, CanvasPoint, (usize, Net))>,
    /// The start of the label: [`LABEL`] cells in a row that only this edge has.
    pub label: Option<CanvasPoint>,
    /// Whether the edge runs from right to left.
    pub back: bool,
}

/// The position of an edge in one layer.
#[derive(Clone, Copy, Debug)]
struct RouteStop {
    layer: usize,
    row: usize,
    node: Option<usize>,
}

impl MapLayout {
    /// Draws these contents; their shape is laid out in these layers.
    pub fn new(parts: &MapContent, layers: &[MapLayer]) -> Self {
        let (shape, spacing) = (&parts.shape, parts.spacing);
        let mut layers = apart(layers, shape.height, spacing.rows);
        let kept = shape.edges.len();
        let laid = height(&layers, shape.height);
        additions::add_nodes(&mut layers, shape.height, shape.nodes..parts.widths.len());
        additions::add_edges(&mut layers, shape.height, kept, &parts.added);
        let routes = routes(parts, &layers);
        let columns = columns(&layers, &routes, parts);
        let mut nodes = vec![(0, 0); parts.widths.len()];
        for (layer, column) in layers.iter().zip(&columns) {
            for (item, row) in layer {
                if let LayerItem::Node(node) = item {
                    nodes[*node] = (column.start, *row);
                }
            }
        }
        let wire = |(edge, way)| wire(edge, way, &parts.widths, &columns);
        let wires = routes.iter().enumerate().map(wire).collect();
        let width = columns.last().map_or(0, |column| column.start + column.width);
        let (height, layers) = (height(&layers, shape.height), layers.len());
        Self { width, height, laid, layers, tall: shape.height, nodes, wires }
    }
}

/// The columns of a layer, and the column in which each net behind it changes rows.
#[derive(Debug)]
struct LayerColumn {
    start: usize,
    width: usize,
    lanes: BTreeMap<Net, usize>,
}

/// The stops of an edge from left to right, and whether its direction is the opposite.
#[derive(Debug)]
struct Route {
    stops: Vec<RouteStop>,
    back: bool,
}

fn routes(parts: &MapContent, layers: &[MapLayer]) -> Vec<Route> {
    let shape = &parts.shape;
    let edges: Vec<(usize, usize)> = shape.edges.iter().chain(&parts.added).copied().collect();
    let mut node_stops = vec![RouteStop { layer: 0, row: 0, node: None }; parts.widths.len()];
    let mut passes: Vec<Vec<RouteStop>> = vec![Vec::new(); edges.len()];
    for (layer, items) in layers.iter().enumerate() {
        for &(item, top) in items {
            match item {
                LayerItem::Node(i) => {
                    let row = top + shape.height / 2;
                    node_stops[i] = RouteStop { layer, row, node: Some(i) };
                }
                LayerItem::Pass(i) => passes[i].push(RouteStop { layer, row: top, node: None }),
            }
        }
    }
    let route = |((from, to), passes)| route(node_stops[from], node_stops[to], passes);
    edges.into_iter().zip(passes).map(route).collect()
}

fn route(from: RouteStop, to: RouteStop, passes: Vec<RouteStop>) -> Route {
    let back = to.layer < from.layer;
    let (left, right) = if back { (to, from) } else { (from, to) };
    let mut stops = vec![left];
    for stop in passes.into_iter().chain([right]) {
        // A layer without a bend is passed straight on.
        while let Some(last) = stops.last().copied().filter(|last| last.layer + 1 < stop.layer) {
            stops.push(RouteStop { layer: last.layer + 1, row: last.row, node: None });
        }
        stops.push(stop);
    }
    Route { stops, back }
}

fn net(edge: usize, left: RouteStop, right: RouteStop) -> Net {
    match (left.node, right.node) {
        (Some(node), _) => Net::Left(node),
        (None, Some(node)) => Net::Right(node),
        (None, None) => Net::Alone(edge),
    }
}

fn columns(layers: &[MapLayer], routes: &[Route], parts: &MapContent) -> Vec<LayerColumn> {
    let mut hops = vec![(Vec::new(), Vec::new()); layers.len()];
    for (edge, route) in routes.iter().enumerate() {
        for pair in route.stops.windows(2) {
            let hop = (net(edge, pair[0], pair[1]), pair[0].row, pair[1].row);
            let (kept, all) = &mut hops[pair[0].layer];
            all.push(hop);
            if edge < parts.shape.edges.len() {
                kept.push(hop);
            }
        }
    }
    let spacing = parts.spacing;
    let mut next = 0;
    let column = |(i, (layer, (kept, all))): (usize, (&MapLayer, &(Vec<_>, Vec<_>)))| {
        let widths = layer.iter().map(|(item, _)| match item {
            LayerItem::Node(i) => parts.widths[*i].0.max(parts.widths[*i].1),
            LayerItem::Pass(_) => LABEL + parts.air,
        });
        let leaf = if i == additions::LAYER { parts.leaf } else { 0 };
        let (start, width) = (next, widths.max().unwrap_or(0).max(leaf));
        let (mut lanes, count) = lanes(all);
        // Added edges use the room between the layers, as far as there is any.
        let kept = channel::lanes(kept).1 * spacing.lanes + spacing.layers;
        let room = MARGIN + kept.max(count * spacing.lanes);
        let first = start + width + (room - count * spacing.lanes) / 2;
        lanes.values_mut().for_each(|lane| *lane = first + *lane * spacing.lanes);
        next = start + width + room;
        LayerColumn { start, width, lanes }
    };
    layers.iter().zip(&hops).enumerate().map(column).collect()
}

fn wire(edge: usize, route: &Route, widths: &[(usize, usize)], columns: &[LayerColumn]) -> Wire {
    let mut pieces = Vec::new();
    for pair in route.stops.windows(2) {
        let (left, right) = (pair[0], pair[1]);
        let (from, to) = (&columns[left.layer], &columns[right.layer]);
        let key = net(edge, left, right);
        let net = (left.layer, key);
        // The ends lie on the node itself, which is drawn over them, so that the line meets it.
        let last =
            |column: &LayerColumn, node: usize| column.start + widths[node].0.saturating_sub(1);
        let start = match left.node {
            Some(node) => last(from, node),
            None => from.start + from.width,
        };
        // Nodes of one layer are joined at their right sides.
        let end = match right.node.filter(|_| left.layer == right.layer) {
            Some(node) => last(to, node),
            None => to.start,
        };
        let turn = from.lanes.get(&key).copied();
        match turn.filter(|_| left.row != right.row || key != Net::Alone(edge)) {
            Some(x) => pieces.extend([
                ((start, left.row), (x, left.row), net),
                ((x, left.row), (x, right.row), net),
                ((x, right.row), (end, right.row), net),
            ]),
            None => pieces.push(((start, left.row), (end, right.row), net)),
        }
        if right.node.is_none() {
            let (first, last) = ((to.start, right.row), (to.start + to.width, right.row));
            pieces.push((first, last, (right.layer, Net::Alone(edge))));
        }
    }
    let passed: Vec<&RouteStop> = route.stops.iter().filter(|stop| stop.node.is_none()).collect();
    let label = passed.get(passed.len() / 2).map(|stop| (columns[stop.layer].start + 1, stop.row));
    Wire { pieces, label, back: route.back }
}
