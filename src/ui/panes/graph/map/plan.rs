//! A drawing of a graph in cells: where each node stands, along which lines each edge runs, and where
//! its label has room. It knows nothing of tools and weights and depends on nothing but the shape.

use std::collections::BTreeMap;

use super::channel::{Net, lanes};
use super::layers::{Item, Layer, Shape, tall};
use super::lines::Place;

/// Cells that a label takes, without the line at both sides of it.
pub const LABEL: usize = 5;
/// The least room between a layer and the next one.
const MARGIN: usize = 2;

/// Where everything goes. All in cells from the upper left corner.
#[derive(Debug, Default)]
pub struct Plan {
    pub width: usize,
    pub height: usize,
    /// The upper left corner of each node, in the order of the shape.
    pub nodes: Vec<Place>,
    /// In the order of the shape's edges.
    pub wires: Vec<Wire>,
}

/// The way of one edge.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    /// Straight pieces: from, to, and the net they belong to.
    pub pieces: Vec<(Place, Place, u32)>,
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
        let channels = channels(layers, &routes);
        let columns = columns(widths, layers, &channels, spacing);
        let mut plan = Self {
            width: columns.last().map_or(0, |column| column.start + column.width),
            height: height(shape, layers),
            nodes: vec![(0, 0); shape.nodes],
            wires: Vec::new(),
        };
        for (layer, column) in layers.iter().zip(&columns) {
            for (item, row) in layer {
                if let Item::Node(node) = item {
                    plan.nodes[*node] = (column.start, *row);
                }
            }
        }
        plan.wires = routes
            .iter()
            .enumerate()
            .map(|(edge, route)| wire(edge, route, widths, &columns, &channels))
            .collect();
        plan
    }
}

/// Where a layer stands, and where the lanes behind it are.
#[derive(Clone, Copy, Debug)]
struct Column {
    start: usize,
    width: usize,
    spacing: usize,
}

/// The lanes between one layer and the next.
type Channel = (BTreeMap<Net, usize>, usize);

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
    let ends = shape.edges.iter().map(|&(from, to)| (node_stops[from], node_stops[to]));
    ends.zip(passes).map(|((from, to), passes)| route(from, to, passes)).collect()
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

fn channels(layers: &[Layer], routes: &[Route]) -> Vec<Channel> {
    let mut hops = vec![Vec::new(); layers.len()];
    for (edge, route) in routes.iter().enumerate() {
        for pair in route.stops.windows(2) {
            hops[pair[0].layer].push((net(edge, pair[0], pair[1]), pair[0].row, pair[1].row));
        }
    }
    hops.iter().map(|hops| lanes(hops)).collect()
}

fn columns(
    widths: &[usize],
    layers: &[Layer],
    channels: &[Channel],
    spacing: usize,
) -> Vec<Column> {
    let mut start = 0;
    let column = |(layer, (_, lanes)): (&Layer, &Channel)| {
        let widths = layer.iter().map(|(item, _)| match item {
            Item::Node(i) => widths[*i],
            Item::Pass(_) => LABEL + 2,
        });
        let column = Column { start, width: widths.max().unwrap_or(0), spacing };
        start += column.width + lanes * spacing + MARGIN;
        column
    };
    layers.iter().zip(channels).map(column).collect()
}

fn height(shape: &Shape, layers: &[Layer]) -> usize {
    let ends = layers.iter().flatten().map(|(item, top)| top + tall(*item, shape.height));
    ends.max().unwrap_or(0)
}

fn wire(
    edge: usize,
    route: &Route,
    widths: &[usize],
    columns: &[Column],
    channels: &[Channel],
) -> Wire {
    let mut pieces = Vec::new();
    for pair in route.stops.windows(2) {
        let (left, right) = (pair[0], pair[1]);
        let (from, to) = (columns[left.layer], columns[right.layer]);
        let key = net(edge, left, right);
        let net = number(left.layer, key);
        // The ends lie on the node itself, which is drawn over them: so the line meets it.
        let start = match left.node {
            Some(node) => from.start + widths[node].saturating_sub(1),
            None => from.start + from.width,
        };
        let turn = channels[left.layer].0.get(&key).map(|lane| from.lane(*lane));
        match turn.filter(|_| left.row != right.row || key != Net::Alone(edge)) {
            Some(x) => {
                pieces.push(((start, left.row), (x, left.row), net));
                pieces.push(((x, left.row), (x, right.row), net));
                pieces.push(((x, right.row), (to.start, right.row), net));
            }
            None => pieces.push(((start, left.row), (to.start, right.row), net)),
        }
        if right.node.is_none() {
            let through = number(right.layer, Net::Alone(edge));
            let (first, last) = (to.start, to.start + to.width);
            pieces.push(((first, right.row), (last, right.row), through));
        }
    }
    let passed: Vec<&Stop> = route.stops.iter().filter(|stop| stop.node.is_none()).collect();
    let label = passed.get(passed.len() / 2).map(|stop| (columns[stop.layer].start + 1, stop.row));
    Wire { pieces, label, back: route.back }
}

impl Column {
    /// The column of a lane behind this layer.
    fn lane(self, lane: usize) -> usize {
        self.start + self.width + MARGIN / 2 + lane * self.spacing
    }
}

/// A number for a net that no other net of the drawing has.
fn number(layer: usize, net: Net) -> u32 {
    let (kind, i) = match net {
        Net::Left(i) => (0, i),
        Net::Right(i) => (1, i),
        Net::Alone(i) => (2, i),
    };
    // At most 64 nodes and a few hundred edges are ever drawn.
    (layer * 3 + kind) as u32 * 4096 + (i % 4096) as u32
}
