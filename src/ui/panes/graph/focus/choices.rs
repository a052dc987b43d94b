//! Rows for the successors and predecessors of the node in the middle. Only the rows in view are built.

use std::collections::HashSet;

use crate::domain::{MenuItem, MenuReason, Prior, State, Structure, ToolName};
use crate::panes::{graph::weights, position::Here};
use crate::papers::toolnet::WeightedEdge;

/// The most predecessors that are listed: a longer table says no more.
const BEFORE: usize = 200;

/// A tool that can come next.
#[derive(Clone, Debug)]
pub struct NextTool {
    pub to: ToolName,
    /// The edge; `None` if the tool has none and is only offered to explore.
    pub edge: Option<WeightedEdge>,
    /// The reason why the tool is on the present menu; `None` if it is not.
    pub offered: Option<MenuReason>,
}

/// The choices of a node: the present menu first, as the model sees it, then all others by weight.
#[derive(Debug)]
pub struct Choices<'a> {
    state: &'a State,
    from: &'a str,
    /// The present menu, if the agent is at this node.
    pub menu: &'a [MenuItem],
    /// How many choices there are.
    pub total: usize,
    /// The number of tools to choose from if they have no weights; then there are no rows.
    pub unweighted: Option<usize>,
}

impl<'a> Choices<'a> {
    pub fn new(state: &'a State, from: &'a str) -> Self {
        let step = Here::of(state).step.filter(|step| step.from.as_str() == from);
        let menu = step.map_or(&[][..], |step| &step.menu);
        // A strategy that does not walk the graph offers every tool.
        let tools = menu.iter().filter(|item| item.tool.as_str() != ToolName::END);
        let offered = tools.clone().count();
        if offered > 0 && tools.clone().all(|item| item.why == MenuReason::All) {
            return Self { state, from, menu: &[], total: 0, unweighted: Some(offered) };
        }
        let graph = &state.learning.graph;
        let without_edge = menu.iter().filter(|item| !graph.has_edge(from, item.tool.as_str()));
        let total = weights(state).successors_len(from) + without_edge.count();
        Self { state, from, menu, total, unweighted: None }
    }

    /// The first `k` choices.
    pub fn top(&self, k: usize) -> Vec<NextTool> {
        if self.total == 0 {
            return Vec::new();
        }
        let weights = weights(self.state);
        let on_menu: Vec<&str> = self.menu.iter().map(|item| item.tool.as_str()).collect();
        let offered = self
            .menu
            .iter()
            .zip(weights.some(self.from, &on_menu))
            .map(|(item, edge)| NextTool { to: item.tool.clone(), edge, offered: Some(item.why) });
        let on_menu: HashSet<&str> = on_menu.iter().copied().collect();
        let others = if k > self.menu.len() { weights.top(self.from, k) } else { Vec::new() };
        let others = others.into_iter().filter(|edge| !on_menu.contains(edge.to.as_str()));
        let others =
            others.map(|edge| NextTool { to: edge.to.clone(), edge: Some(edge), offered: None });
        offered.chain(others).take(k).collect()
    }

    /// The row of this tool, if it is among the first `k`.
    pub fn row(&self, tool: &str, k: usize) -> Option<usize> {
        self.top(k).iter().position(|row| row.to.as_str() == tool)
    }
}

/// The predecessors of a node with their weights, the heaviest first, and how many more are not listed. In a graph
/// without experience every tool leads to every other.
pub fn before(state: &State, to: &str) -> (Vec<(ToolName, f64)>, usize) {
    let walked = Here::of(state).path();
    let came_from = walked.windows(2).filter(|pair| pair[1] == to).map(|pair| pair[0]);
    let mut stored = state.learning.graph.before(to);
    stored.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    let known = stored.iter().map(|edge| edge.from.as_str()).take(BEFORE);
    let mut seen = HashSet::new();
    let weights = weights(state);
    let mut rows: Vec<(ToolName, f64)> = came_from
        .chain([ToolName::START])
        .chain(known)
        .filter(|from| *from != to && seen.insert(*from))
        .filter_map(|from| Some((ToolName::new(from), weights.weight(from, to)?)))
        .collect();
    rows.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let others = sources(state, to).saturating_sub(rows.len());
    (rows, others)
}

/// The number of nodes that lead to this one, without itself.
fn sources(state: &State, to: &str) -> usize {
    let graph = &state.learning.graph;
    let everyone = graph.structure() == Structure::Implied
        && (graph.prior() == Prior::Uninformed || to == ToolName::END);
    let tools = match everyone {
        true => graph.len() - usize::from(graph.contains(to)),
        false => {
            let stored = graph.before(to);
            let others = stored.iter().map(|edge| edge.from.as_str());
            others.filter(|from| *from != to && *from != ToolName::START).count()
        }
    };
    tools + usize::from(graph.has_edge(ToolName::START, to))
}
