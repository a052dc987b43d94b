//! The tools and edges of the graph that the map shows. All edges at once would be unreadable, so the lighter ones are
//! left out and counted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use indexmap::IndexSet;

use crate::domain::{Prior, State, ToolName};
use crate::panes::{graph::weights, position::Here};
use crate::papers::toolnet::Weights;

/// The most tools that are all shown; of a larger graph, only the neighbourhood of one tool is.
pub const WHOLE: usize = 60;
/// The most edges that leave one node, further edges for the whole graph, and the weight below which no edge is drawn.
const PER_NODE: usize = 4;
const MORE: usize = 12;
const LEAST: f64 = 0.04;
/// The weight from which on an edge is drawn even if no trajectory contains it.
const HEAVY: f64 = 0.25;
/// Edges drawn from a node that leads to every tool: the first few suffice.
const FROM_START: usize = 4;
/// The number of tools in a neighbourhood: after the middle one, and before it.
const AROUND: (usize, usize) = (18, 10);

/// An edge that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Indices in [`Scene::nodes`].
    pub from: usize,
    pub to: usize,
    /// `None`: the agent went there, but the graph has no such edge.
    pub weight: Option<f64>,
    pub pinned: bool,
    /// Whether the agent took this edge in its present attempt.
    pub walked: bool,
}

/// The part of the graph that is drawn.
#[derive(Debug, Default)]
pub struct Scene<'a> {
    /// In the order of the graph; nodes that are laid out come first.
    pub nodes: IndexSet<&'a str>,
    pub edges: Vec<Edge>,
    /// How many of the first nodes and edges are laid out, in an order that does not depend on weights. The others are
    /// added where there is room.
    pub laid: usize,
    pub fixed: usize,
    /// Tools without a drawn edge.
    pub loose: Vec<&'a str>,
    /// Edges between these tools that are not drawn, without self edges and edges to the end.
    pub lighter: usize,
    /// Whether only the neighbourhood of a tool is shown.
    pub part: bool,
}

impl Edge {
    /// Whether there is anything to draw: the graph leaves out edges learned only from the present task.
    pub fn is_shown(&self) -> bool {
        self.weight.is_some() || self.walked
    }

    fn ends(&self) -> (usize, usize) {
        (self.from, self.to)
    }
}

type Edges = BTreeMap<(usize, usize), Edge>;

impl<'a> Scene<'a> {
    /// The scene of a graph. `focus` matters only for a graph too large to be shown whole. If `all` is false, tools
    /// without experience are shown only on the path of this attempt.
    pub fn of(state: &'a State, focus: &'a str, all: bool) -> Self {
        let here = Here::of(state);
        let path = here.path();
        let part = state.learning.graph.len() > WHOLE;
        let nodes = if part { around(state, focus, &path) } else { everything(state) };
        let candidates = candidates(state, &nodes, focus);
        let count = candidates.len();
        let least = if part { 0.0 } else { LEAST };
        let walked = walked(state, &path, &nodes);
        let (edges, added) = if is_alike(state) {
            // Only the path of this attempt tells the tools apart.
            let mut edges = by_ends(walked);
            let new = candidates.into_iter().filter(|edge| !edges.contains_key(&edge.ends()));
            let heaviest = heaviest(by_weight(new), nodes.len(), least);
            edges.extend(by_ends(heaviest));
            (edges, Edges::new())
        } else {
            // The layout follows earlier experience, so that nothing moves while weights change.
            let mut edges = by_ends(heaviest(learned(state, &nodes), nodes.len(), least));
            hang_on(state, &nodes, &mut edges);
            let is_laid = |node: usize| edges.keys().any(|(from, to)| [*from, *to].contains(&node));
            let is_kept = |edge: &Edge| all || edge.pinned || is_laid(edge.from.max(edge.to));
            let heavy = candidates.into_iter().filter(|edge| is_heavy(edge, &nodes));
            let heavy = heaviest(by_weight(heavy.filter(is_kept)), 0, least);
            let mut added = if all { used(state, &nodes) } else { Edges::new() };
            added.retain(|(_, to), _| !is_laid(*to));
            for edge in heavy.into_iter().chain(walked) {
                match edges.get_mut(&edge.ends()) {
                    Some(known) => known.walked |= edge.walked,
                    None => drop(added.insert(edge.ends(), edge)),
                }
            }
            (edges, added)
        };
        let fixed = edges.len();
        let edges: Vec<Edge> = edges.into_values().chain(added.into_values()).collect();
        let lighter = count.saturating_sub(edges.len());
        compact(Self { nodes, edges, fixed, laid: 0, loose: Vec::new(), lighter, part }, &path)
    }
}

fn by_ends(edges: impl IntoIterator<Item = Edge>) -> Edges {
    edges.into_iter().map(|edge| (edge.ends(), edge)).collect()
}

fn by_weight(edges: impl Iterator<Item = Edge>) -> Vec<(f64, Edge)> {
    edges.map(|edge| (edge.weight.unwrap_or(0.0), edge)).collect()
}

/// Whether every row of the graph is the same, since no trajectory has taught anything.
fn is_alike(state: &State) -> bool {
    state.learning.graph.prior() == Prior::Uninformed
}

/// Whether an edge is worth a line, whatever was learned before.
fn is_heavy(edge: &Edge, nodes: &IndexSet<&str>) -> bool {
    let weight = edge.weight.unwrap_or(0.0);
    edge.pinned || weight >= HEAVY || nodes[edge.from] == ToolName::START
}

/// The edges between these tools that trajectories contain, each with its prior.
fn learned(state: &State, nodes: &IndexSet<&str>) -> Vec<(f64, Edge)> {
    let (weights, whole) = (weights(state), state.learning.whole());
    let mut learned = Vec::new();
    for (to, name) in nodes.iter().enumerate().filter(|(_, name)| **name != ToolName::END) {
        let before = whole.before(name).into_iter().filter(|edge| edge.count > 0);
        for edge in before.filter(|edge| edge.from.as_str() != *name) {
            let Some(from) = nodes.get_index_of(edge.from.as_str()) else { continue };
            let weight = weights.weight(edge.from.as_str(), name);
            let pinned = state.learning.pins.get(edge.from.as_str(), name).is_some();
            learned.push((edge.prior, Edge { from, to, weight, pinned, walked: false }));
        }
    }
    learned
}

/// Connects tools without a learned edge to them to the start, if other tools follow them.
fn hang_on(state: &State, nodes: &IndexSet<&str>, edges: &mut Edges) {
    let met: BTreeSet<usize> = edges.keys().map(|(_, to)| *to).collect();
    let roots: BTreeSet<usize> = edges.keys().map(|(from, _)| *from).collect();
    let roots = roots.into_iter().filter(|root| !met.contains(root));
    edges.extend(by_ends(from_start(state, nodes, roots)));
}

/// The edges from the start to used tools.
fn used(state: &State, nodes: &IndexSet<&str>) -> Edges {
    let used = nodes.iter().enumerate().filter(|(_, name)| {
        state.tools.get(**name).is_some_and(|tool| tool.succeeded + tool.failed > 0)
    });
    by_ends(from_start(state, nodes, used.map(|(to, _)| to)))
}

fn from_start(state: &State, nodes: &IndexSet<&str>, to: impl Iterator<Item = usize>) -> Vec<Edge> {
    let Some(from) = nodes.get_index_of(ToolName::START) else { return Vec::new() };
    let weights = weights(state);
    let edge = |to| {
        let weight = weights.weight(ToolName::START, nodes[to]);
        let pinned = state.learning.pins.get(ToolName::START, nodes[to]).is_some();
        Edge { from, to, weight, pinned, walked: false }
    };
    to.filter(|to| *to != from).map(edge).collect()
}

fn everything(state: &State) -> IndexSet<&str> {
    let tools = state.learning.graph.tools().map(ToolName::as_str);
    [ToolName::START].into_iter().chain(tools).chain([ToolName::END]).collect()
}

/// The neighbourhood of a node, in the order of the graph.
fn around<'a>(state: &'a State, focus: &'a str, path: &[&'a str]) -> IndexSet<&'a str> {
    let graph = &state.learning.graph;
    let weights = weights(state);
    let ends = [focus, ToolName::START, ToolName::END];
    let mut names: IndexSet<&str> = path.iter().copied().chain(ends).collect();
    let after = weights.top(focus, AROUND.0);
    names.extend(after.iter().filter_map(|edge| known(state, edge.to.as_str())));
    let mut before = graph.before(focus);
    before.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    names.extend(before.iter().take(AROUND.1).map(|edge| edge.from.as_str()));
    let rank = |name: &str| match name {
        ToolName::START => 0,
        ToolName::END => usize::MAX,
        tool => state.tools.get_index_of(tool).map_or(usize::MAX - 1, |i| i + 1),
    };
    names.sort_by_key(|name| (rank(name), *name));
    names.truncate(WHOLE + 2);
    names
}

/// The state's own copy of a tool's name.
fn known<'a>(state: &'a State, name: &str) -> Option<&'a str> {
    state.tools.get_key_value(name).map(|(name, _)| name.as_str())
}

/// The edges that could be drawn: between these tools, without self edges and edges to the end.
fn candidates(state: &State, names: &IndexSet<&str>, focus: &str) -> Vec<Edge> {
    let weights = weights(state);
    // Without experience every row is the same, so one of them suffices.
    let alike = is_alike(state);
    let rows = names.iter().enumerate().filter(|(_, name)| {
        **name != ToolName::END && (!alike || **name == ToolName::START || **name == focus)
    });
    let mut edges = Vec::new();
    for (from, name) in rows {
        let row = row(&weights, names, from);
        if alike || *name == ToolName::START {
            // All tools without a score weigh the same, so their order means nothing.
            let better = |edge: &Edge| {
                edge.pinned || state.learning.scores.get(names[edge.to]).is_some_and(|s| s > 0.0)
            };
            edges.extend(row.filter(better).take(FROM_START));
        } else {
            edges.extend(row);
        }
    }
    edges
}

/// The edges from one node to these tools, the heaviest first.
fn row<'a>(
    weights: &Weights<'_>,
    names: &'a IndexSet<&str>,
    from: usize,
) -> impl Iterator<Item = Edge> + 'a {
    let all = weights.top(names[from], names.len() * 2);
    all.into_iter().filter_map(move |edge| {
        let to = names.get_index_of(edge.to.as_str())?;
        let drawn = to != from && edge.to.as_str() != ToolName::END;
        let (weight, pinned) = (Some(edge.weight), edge.pinned);
        drawn.then_some(Edge { from, to, weight, pinned, walked: false })
    })
}

/// The edges on the path of the present attempt.
fn walked(state: &State, path: &[&str], names: &IndexSet<&str>) -> impl Iterator<Item = Edge> {
    let weights = weights(state);
    let pairs = path.windows(2).filter(|pair| pair[0] != pair[1] && pair[1] != ToolName::END);
    pairs.filter_map(move |pair| {
        let (from, to) = (names.get_index_of(pair[0])?, names.get_index_of(pair[1])?);
        let weight = weights.weight(pair[0], pair[1]);
        let pinned = state.learning.pins.get(pair[0], pair[1]).is_some();
        Some(Edge { from, to, weight, pinned, walked: true })
    })
}

/// The heaviest of these edges with their weights, a few for each node: first the heaviest of each node, so that every
/// node is connected, then by weight.
fn heaviest(mut edges: Vec<(f64, Edge)>, nodes: usize, least: f64) -> Vec<Edge> {
    edges.retain(|(weight, edge)| *weight >= least || edge.pinned);
    edges.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.ends().cmp(&b.ends())));
    let mut leaving: HashMap<usize, usize> = HashMap::new();
    let mut ranked: Vec<(usize, Edge)> = edges
        .into_iter()
        .map(|(_, edge)| {
            let rank = leaving.entry(edge.from).or_default();
            *rank += 1;
            (*rank, edge)
        })
        .filter(|(rank, _)| *rank <= PER_NODE)
        .collect();
    // The sort is stable: edges that are not the first of their node stay by weight.
    ranked.sort_by_key(|(rank, _)| *rank > 1);
    ranked.truncate(nodes + MORE);
    ranked.into_iter().map(|(_, edge)| edge).collect()
}

/// Removes nodes without a drawn edge, except the agent's.
fn compact<'a>(scene: Scene<'a>, path: &[&str]) -> Scene<'a> {
    let here = path.last().filter(|name| **name != ToolName::END);
    let here = here.and_then(|name| scene.nodes.get_index_of(name));
    let ends = |edges: &[Edge]| -> BTreeSet<usize> {
        edges.iter().flat_map(|edge| [edge.from, edge.to]).collect()
    };
    let start = scene.nodes.get_index_of(ToolName::START);
    let laid: BTreeSet<usize> =
        ends(&scene.edges[..scene.fixed]).into_iter().chain(start).collect();
    let added: BTreeSet<usize> = ends(&scene.edges).into_iter().chain(here).collect();
    let used: Vec<usize> = laid.iter().chain(added.difference(&laid)).copied().collect();
    let unused = (0..scene.nodes.len()).filter(|place| !used.contains(place));
    let loose = unused.map(|place| scene.nodes[place]);
    let loose = loose.filter(|name| *name != ToolName::START && *name != ToolName::END).collect();
    let nodes = used.iter().map(|place| scene.nodes[*place]).collect();
    let moved: HashMap<usize, usize> = used.into_iter().zip(0..).collect();
    let edges = scene.edges.into_iter();
    let edges = edges.map(|edge| Edge { from: moved[&edge.from], to: moved[&edge.to], ..edge });
    Scene { nodes, edges: edges.collect(), laid: laid.len(), loose, ..scene }
}
