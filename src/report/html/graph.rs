//! The tools in the order of their calls, as a graph: the width of an edge shows how often it was walked.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dagre::graph::Graph;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir, layout};
use indexmap::IndexMap;

use super::page::escaped;
use crate::domain::{State, ToolCallPhase, ToolName};
use crate::ui::text;

/// Pixels of a node.
const NODE: (f64, f64) = (170.0, 38.0);
const MARGIN: f64 = 12.0;
/// The most edges of one picture: the most walked ones.
const MOST: usize = 120;

/// Counts of a tool's calls, for its node of the graph.
#[derive(Default)]
struct ToolNode {
    calls: u32,
    failed: u32,
}

/// The walks of all tasks together.
struct Walked<'a> {
    nodes: IndexMap<&'a str, ToolNode>,
    edges: Vec<((usize, usize), u32)>,
}

const START: &str = "start";
const END: &str = "end";

/// The graph with its heading; empty if no tool was called.
pub fn section(state: &State) -> String {
    let walked = Walked::of(state);
    if walked.edges.is_empty() {
        return String::new();
    }
    format!("<h2>Paths through the tools</h2>\n{}", walked.picture(state))
}

impl<'a> Walked<'a> {
    fn of(state: &'a State) -> Self {
        let mut nodes: IndexMap<&str, ToolNode> = IndexMap::new();
        let mut edges: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for task in &state.tasks {
            let mut at = None;
            for call in task.tool_calls.iter().filter_map(|id| state.tool_call(*id)) {
                let failed = matches!(call.phase, ToolCallPhase::Failed { .. });
                at = Some(walk(&mut nodes, &mut edges, at, call.tool.as_str(), failed));
            }
            if at.is_some() {
                walk(&mut nodes, &mut edges, at, END, false);
            }
        }
        if state.watched.is_some() {
            let mut node = |tool: &'a ToolName| {
                let entry = nodes.entry(tool.as_str());
                let at = entry.index();
                entry.or_default();
                at
            };
            // The calls of one answer of a watched agent run together.
            let counted = state.followed.edges();
            edges = counted.map(|it| ((node(it.after), node(it.came)), it.times)).collect();
        }
        let mut edges: Vec<_> = edges.into_iter().collect();
        edges.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        edges.truncate(MOST);
        Self { nodes, edges }
    }

    fn picture(&self, state: &State) -> String {
        let laid = self.laid();
        let node = |at: usize| laid.node(&at.to_string()).and_then(|node| Some((node.x?, node.y?)));
        let (mut width, mut height) = (0.0_f64, 0.0_f64);
        let (mut shapes, mut lines) = (String::new(), String::new());
        for (at, (name, about)) in self.nodes.iter().enumerate() {
            let Some((x, y)) = node(at) else { continue };
            (width, height) = (width.max(x + NODE.0 / 2.0), height.max(y + NODE.1 / 2.0));
            shapes += &shape(state, name, about, (x, y));
        }
        let most = self.edges.iter().map(|(_, count)| *count).max().unwrap_or(1);
        for ((from, to), count) in &self.edges {
            let (Some(a), Some(b)) = (node(*from), node(*to)) else { continue };
            let thick = 1.0 + 5.0 * f64::from(*count) / f64::from(most);
            let edge = laid.edge(&from.to_string(), &to.to_string(), None);
            let path = match edge.map(|edge| edge.points.as_slice()) {
                Some(points) if points.len() > 1 => along(points.iter().map(|at| (at.x, at.y))),
                Some(_) | None if from == to => around(a),
                Some(_) | None => format!("M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1),
            };
            let _ = writeln!(
                lines,
                "<path class=\"edge\" stroke-width=\"{thick:.1}\" opacity=\".7\" \
                 marker-end=\"url(#to)\" d=\"{path}\"><title>{count} times</title></path>"
            );
        }
        let (width, height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN + NODE.1);
        format!(
            "<svg width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"-{MARGIN} -{MARGIN} {width:.0} \
             {height:.0}\">\n<defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
             markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"fill\" \
             d=\"M0 0L8 4L0 8z\"/></marker></defs>\n{lines}{shapes}</svg>\n"
        )
    }

    /// The places of all nodes, in layers from left to right.
    fn laid(&self) -> Graph<NodeLabel, EdgeLabel> {
        let mut graph = Graph::new();
        for at in 0..self.nodes.len() {
            let label = NodeLabel { width: NODE.0, height: NODE.1, ..NodeLabel::default() };
            graph.set_node(at.to_string(), Some(label));
        }
        for ((from, to), _) in self.edges.iter().filter(|((from, to), _)| from != to) {
            graph.set_edge(from.to_string(), to.to_string(), Some(EdgeLabel::default()), None);
        }
        let options = LayoutOptions {
            rankdir: RankDir::LR,
            nodesep: 18.0,
            ranksep: 70.0,
            ..LayoutOptions::default()
        };
        layout(&mut graph, Some(options));
        graph
    }
}

/// Walks on to a tool, and returns its node.
fn walk<'a>(
    nodes: &mut IndexMap<&'a str, ToolNode>,
    edges: &mut BTreeMap<(usize, usize), u32>,
    from: Option<usize>,
    to: &'a str,
    failed: bool,
) -> usize {
    let from = from.unwrap_or_else(|| {
        let start = nodes.entry(START);
        let at = start.index();
        start.or_default();
        at
    });
    let entry = nodes.entry(to);
    let at = entry.index();
    let node = entry.or_default();
    node.calls += 1;
    node.failed += u32::from(failed);
    *edges.entry((from, at)).or_default() += 1;
    at
}

/// A node with its name, its calls and its score.
fn shape(state: &State, name: &str, about: &ToolNode, (x, y): (f64, f64)) -> String {
    let (left, top) = (x - NODE.0 / 2.0, y - NODE.1 / 2.0);
    let is_tool = name != START && name != END;
    let hurt = if about.failed > 0 { " hurt" } else { "" };
    let score = state.learning.scores.get(name).filter(|_| is_tool);
    let score = score.map_or(String::new(), |score| format!(", score {score:+}"));
    let failed =
        if about.failed > 0 { format!(", {} failed", about.failed) } else { String::new() };
    let below = match is_tool {
        true => format!("{}×{failed}{score}", about.calls),
        false => String::new(),
    };
    let (name, below) = (escaped(&text::cut(name, 22)), escaped(&below));
    format!(
        "<rect class=\"node{hurt}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{}\" height=\"{}\" rx=\"5\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\">{name}</text><text x=\"{:.1}\" y=\"{:.1}\" opacity=\".7\">{below}</text>\n",
        NODE.0,
        NODE.1,
        left + 8.0,
        top + 16.0,
        left + 8.0,
        top + 31.0,
    )
}

/// A curve from the first of these points to the last one, bent by the others.
fn along(points: impl Iterator<Item = (f64, f64)>) -> String {
    let points: Vec<_> = points.collect();
    let mut path = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let _ = match points.get(at + 1) {
            _ if at == 0 => write!(path, "M{x:.1} {y:.1}"),
            None => write!(path, "L{x:.1} {y:.1}"),
            Some((next_x, next_y)) => {
                write!(path, "Q{x:.1} {y:.1} {:.1} {:.1}", (x + next_x) / 2.0, (y + next_y) / 2.0)
            }
        };
    }
    path
}

/// A loop above a node.
fn around((x, y): (f64, f64)) -> String {
    let top = y - NODE.1 / 2.0;
    let (left, right, high) = (x - 24.0, x + 24.0, top - 22.0);
    format!("M{left:.1} {top:.1}C{left:.1} {high:.1} {right:.1} {high:.1} {right:.1} {top:.1}")
}
