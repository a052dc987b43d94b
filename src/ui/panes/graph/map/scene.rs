//! What the map shows of the graph: which tools, and which of their edges. Everything at once could not
//! be read, so the lighter edges are left out, and counted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use indexmap::IndexSet;

use crate::domain::{Prior, State, ToolName};
use crate::panes::{graph::weights, position::Here};
use crate::papers::toolnet::Weights;

/// Up to so many tools are shown whole; of more, the neighbourhood of one.
pub const WHOLE: usize = 60;
/// Edges that leave one node at most, edges beyond one for each node, and the weight below which none is
/// drawn.
const PER_NODE: usize = 4;
const MORE: usize = 12;
const LEAST: f64 = 0.04;
/// Edges that leave a node which leads to every tool: the first few say all.
const FROM_START: usize = 4;
/// How many tools around the middle one belong to its neighbourhood, after it and before it.
const AROUND: (usize, usize) = (18, 10);

/// One edge that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Places in [`Scene::nodes`].
    pub from: usize,
    pub to: usize,
    /// `None`: the agent went there, but the graph has no such edge.
    pub weight: Option<f64>,
    pub pinned: bool,
    /// The agent went this way in its present try.
    pub walked: bool,
}

/// The part of the graph that is drawn.
#[derive(Debug, Default)]
pub struct Scene<'a> {
    /// In the order of the graph.
    pub nodes: IndexSet<&'a str>,
    pub edges: Vec<Edge>,
    /// Tools none of whose edges is drawn.
    pub loose: Vec<&'a str>,
    /// Edges between the tools here that are not drawn; those to the same tool and to the end are not
    /// counted.
    pub lighter: usize,
    /// Only the neighbourhood of a tool is shown.
    pub part: bool,
}

impl<'a> Scene<'a> {
    /// `focus` decides only what is shown of a graph that is too large to be shown whole.
    pub fn of(state: &'a State, focus: &'a str) -> Self {
        let here = Here::of(state);
        let path = here.path();
        let part = state.learning.graph.len() > WHOLE;
        let nodes = if part { around(state, focus, &path) } else { everything(state) };
        let ends = |edge: &Edge| (edge.from, edge.to);
        // The order does not depend on weights, so that the drawing stays as it is while they change.
        let mut edges: BTreeMap<(usize, usize), Edge> =
            walked(state, &path, &nodes).map(|edge| (ends(&edge), edge)).collect();
        let mut candidates = candidates(state, &nodes, focus);
        let all = candidates.len();
        candidates.retain(|edge| !edges.contains_key(&ends(edge)));
        let least = if part { 0.0 } else { LEAST };
        let heaviest = heaviest(candidates, nodes.len(), least);
        edges.extend(heaviest.into_iter().map(|edge| (ends(&edge), edge)));
        let (lighter, edges) = (all.saturating_sub(edges.len()), edges.into_values().collect());
        compact(Self { nodes, edges, loose: Vec::new(), lighter, part }, &path)
    }
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

/// Edges that could be drawn: between the tools here, not from a tool to itself, not to the end.
fn candidates(state: &State, names: &IndexSet<&str>, focus: &str) -> Vec<Edge> {
    let weights = weights(state);
    // Where nothing is known every row is the same: one of them says all.
    let alike = state.learning.graph.prior() == Prior::Uninformed;
    let rows = names.iter().enumerate().filter(|(_, name)| {
        **name != ToolName::END && (!alike || **name == ToolName::START || **name == focus)
    });
    let mut edges = Vec::new();
    for (from, name) in rows {
        let row = row(&weights, names, from);
        if alike || *name == ToolName::START {
            // All that were never scored weigh the same: which of them comes first means nothing.
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

/// The edges of one node to the tools here, the heaviest first.
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

/// The way of the present try.
fn walked(state: &State, path: &[&str], names: &IndexSet<&str>) -> impl Iterator<Item = Edge> {
    let weights = weights(state);
    path.windows(2).filter(|pair| pair[0] != pair[1]).filter_map(move |pair| {
        let (from, to) = (names.get_index_of(pair[0])?, names.get_index_of(pair[1])?);
        let weight = weights.weight(pair[0], pair[1]);
        let pinned = state.learning.pins.get(pair[0], pair[1]).is_some();
        Some(Edge { from, to, weight, pinned, walked: true })
    })
}

/// The heaviest of these, so many that a node has a few: first the heaviest of each node, so that every
/// node is tied to the rest, then by weight.
fn heaviest(mut edges: Vec<Edge>, nodes: usize, least: f64) -> Vec<Edge> {
    let weight = |edge: &Edge| edge.weight.unwrap_or(0.0);
    edges.retain(|edge| weight(edge) >= least);
    edges.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then((a.from, a.to).cmp(&(b.from, b.to))));
    let mut leaving = vec![0usize; nodes];
    let mut ranked: Vec<(usize, Edge)> = edges
        .into_iter()
        .map(|edge| {
            leaving[edge.from] += 1;
            (leaving[edge.from], edge)
        })
        .filter(|(rank, _)| *rank <= PER_NODE)
        .collect();
    // A stable sort: those that are not the first of their node stay by weight.
    ranked.sort_by_key(|(rank, _)| *rank > 1);
    ranked.truncate(nodes + MORE);
    ranked.into_iter().map(|(_, edge)| edge).collect()
}

/// Takes out the nodes that no drawn edge touches, except where the agent is.
fn compact<'a>(scene: Scene<'a>, path: &[&str]) -> Scene<'a> {
    let here = path.last().and_then(|name| scene.nodes.get_index_of(name));
    let ends = scene.edges.iter().flat_map(|edge| [edge.from, edge.to]);
    let used: BTreeSet<usize> = ends.chain(here).collect();
    let unused = (0..scene.nodes.len()).filter(|place| !used.contains(place));
    let loose = unused.map(|place| scene.nodes[place]);
    let loose = loose.filter(|name| *name != ToolName::START && *name != ToolName::END).collect();
    let nodes = used.iter().map(|place| scene.nodes[*place]).collect();
    let moved: HashMap<usize, usize> = used.into_iter().zip(0..).collect();
    let edges = scene.edges.into_iter();
    let edges = edges.map(|edge| Edge { from: moved[&edge.from], to: moved[&edge.to], ..edge });
    Scene { nodes, edges: edges.collect(), loose, ..scene }
}
