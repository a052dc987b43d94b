//! A drawing of a graph in cells: where each node stands, along which lines each edge runs, and where
//! its label has room. It knows nothing of tools and weights and depends on nothing but the shape.

use std::collections::BTreeMap;

use super::channel::{Net, lanes};
use super::layers::{Item, Layer, Shape, height};
use crate::panes::graph::lines::Place;

/// Cells that a label takes, without the line at both sides of it.
pub const LABEL: usize = 5;
/// The least room between a layer and the next one.
const MARGIN: usize = 2;

/// Where everything goes. All in cells from the upper left corner.
#[derive(Debug, Default)]
pub struct Plan {
    pub width: usize,
    pub height: usize,
    /// The rows of a node.
    pub tall: usize,
    /// The upper left corner of each node, in the order of the shape.
    pub nodes: Vec<Place>,
    /// In the order of the shape's edges.
    pub wires: Vec<Wire>,
}

/// The way of one edge.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    /// Straight pieces: from, to, and the net they belong to, with the layer behind which that is.
    pub pieces: Vec<(Place, Place, (usize, Net))>,
    /// Where the label begins: [`LABEL`] cells of a row that is this edge's alone.
    pub label: Option<Place>,
    /// It runs from right to left.
    pub back: bool,
}

/// Where an edge is in one layer.
#[derive(Clone, Copy, Debug)]
struct Stop {
    layer: usize,
    row: usize,
    node: Option<usize>,
}

impl Plan {
    /// Draws these layers of a shape, with nodes of these widths in columns, and `spacing` (1 or more)
    /// columns from lane to lane.
    pub fn new(shape: &Shape, layers: &[Layer], widths: &[usize], spacing: usize) -> Self {
        let routes = routes(shape, layers);
        let columns = columns(layers, &routes, widths, spacing);
        let mut nodes = vec![(0, 0); shape.nodes];
        for (layer, column) in layers.iter().zip(&columns) {
            for (item, row) in layer {
                if let Item::Node(node) = item {
                    nodes[*node] = (column.start, *row);
                }
            }
        }
        let wires = routes.iter().enumerate().map(|(edge, way)| wire(edge, way, widths, &columns));
        let wires = wires.collect();
        let width = columns.last().map_or(0, |column| column.start + column.width);
        Self { width, height: height(layers, shape.height), tall: shape.height, nodes, wires }
    }
}

/// Where a layer stands, and in which column each net behind it changes rows.
#[derive(Debug)]
struct Column {
    start: usize,
    width: usize,
    lanes: BTreeMap<Net, usize>,
}

/// The stops of an edge from the left to the right, and whether that is against its direction.
#[derive(Debug)]
struct Route {
    stops: Vec<Stop>,
    back: bool,
}

fn routes(shape: &Shape, layers: &[Layer]) -> Vec<Route> {
    let mut node_stops = vec![Stop { layer: 0, row: 0, node: None }; shape.nodes];
    let mut passes: Vec<Vec<Stop>> = vec![Vec::new(); shape.edges.len()];
    for (layer, items) in layers.iter().enumerate() {
        for &(item, top) in items {
            match item {
                Item::Node(i) => {
                    let row = top + shape.height / 2;
                    node_stops[i] = Stop { layer, row, node: Some(i) };
                }
                Item::Pass(i) => passes[i].push(Stop { layer, row: top, node: None }),
            }
        }
    }
    let route = |(&(from, to), passes)| route(node_stops[from], node_stops[to], passes);
    shape.edges.iter().zip(passes).map(route).collect()
}

fn route(from: Stop, to: Stop, passes: Vec<Stop>) -> Route {
    let back = to.layer < from.layer;
    let (left, right) = if back { (to, from) } else { (from, to) };
    let mut stops = vec![left];
    for stop in passes.into_iter().chain([right]) {
        // A layer that dagre gave no bend in is passed straight on.
        while let Some(last) = stops.last().copied().filter(|last| last.layer + 1 < stop.layer) {
            stops.push(Stop { layer: last.layer + 1, row: last.row, node: None });
        }
        stops.push(stop);
    }
    Route { stops, back }
}

fn net(edge: usize, left: Stop, right: Stop) -> Net {
    match (left.node, right.node) {
        (Some(node), _) => Net::Left(node),
        (None, Some(node)) => Net::Right(node),
        (None, None) => Net::Alone(edge),
    }
}

fn columns(layers: &[Layer], routes: &[Route], widths: &[usize], spacing: usize) -> Vec<Column> {
    let mut hops = vec![Vec::new(); layers.len()];
    for (edge, route) in routes.iter().enumerate() {
        for pair in route.stops.windows(2) {
            hops[pair[0].layer].push((net(edge, pair[0], pair[1]), pair[0].row, pair[1].row));
        }
    }
    let mut next = 0;
    let column = |(layer, hops): (&Layer, &Vec<_>)| {
        let widths = layer.iter().map(|(item, _)| match item {
            Item::Node(i) => widths[*i],
            Item::Pass(_) => LABEL + 2,
        });
        let (start, width) = (next, widths.max().unwrap_or(0));
        let (mut lanes, count) = lanes(hops);
        for lane in lanes.values_mut() {
            *lane = start + width + MARGIN / 2 + *lane * spacing;
        }
        next = start + width + count * spacing + MARGIN;
        Column { start, width, lanes }
    };
    layers.iter().zip(&hops).map(column).collect()
}

fn wire(edge: usize, route: &Route, widths: &[usize], columns: &[Column]) -> Wire {
    let mut pieces = Vec::new();
    for pair in route.stops.windows(2) {
        let (left, right) = (pair[0], pair[1]);
        let (from, to) = (&columns[left.layer], &columns[right.layer]);
        let key = net(edge, left, right);
        let net = (left.layer, key);
        // The ends lie on the node itself, which is drawn over them: so the line meets it.
        let start = match left.node {
            Some(node) => from.start + widths[node].saturating_sub(1),
            None => from.start + from.width,
        };
        let turn = from.lanes.get(&key).copied();
        match turn.filter(|_| left.row != right.row || key != Net::Alone(edge)) {
            Some(x) => pieces.extend([
                ((start, left.row), (x, left.row), net),
                ((x, left.row), (x, right.row), net),
                ((x, right.row), (to.start, right.row), net),
            ]),
            None => pieces.push(((start, left.row), (to.start, right.row), net)),
        }
        if right.node.is_none() {
            let (first, last) = ((to.start, right.row), (to.start + to.width, right.row));
            pieces.push((first, last, (right.layer, Net::Alone(edge))));
        }
    }
    let passed: Vec<&Stop> = route.stops.iter().filter(|stop| stop.node.is_none()).collect();
    let label = passed.get(passed.len() / 2).map(|stop| (columns[stop.layer].start + 1, stop.row));
    Wire { pieces, label, back: route.back }
}
