//! What can follow the node in the middle, and what leads to it: as rows, no more of them than are
//! looked at.

use std::collections::HashSet;

use crate::domain::{Offered, Prior, State, Structure, ToolName};
use crate::papers::toolnet::WeightedEdge;
use crate::ui::panes::{graph::weights, position::Here, weight_trend::Since};

/// Nodes that lead to the middle are cut off behind so many: a table of them says no more.
const BEFORE: usize = 200;

/// One tool that can come next.
#[derive(Clone, Debug)]
pub struct Choice {
    pub to: ToolName,
    /// The edge; `None` where the tool is offered to explore and has none.
    pub edge: Option<WeightedEdge>,
    /// The edge's weight before the last change of weights.
    pub was: Option<f64>,
    /// Why it is on the present menu; `None`: it is not.
    pub offered: Option<Offered>,
}

/// The choices of a node: the present menu first, as the model sees it, then all others by weight.
#[derive(Debug)]
pub struct Choices<'a> {
    state: &'a State,
    from: &'a str,
    /// The tools of the menu, where the agent is at this node.
    menu: Vec<(ToolName, Offered)>,
    since: Option<&'a Since<'a>>,
    total: usize,
    /// How many tools the agent may choose from where nothing weighs them; then there are no rows.
    unweighted: Option<usize>,
}

impl<'a> Choices<'a> {
    pub fn new(state: &'a State, from: &'a str, since: Option<&'a Since<'a>>) -> Self {
        let here = Here::of(state);
        let step = here.step.filter(|step| step.from.as_str() == from);
        let menu: Vec<(ToolName, Offered)> = step
            .map_or(&[][..], |step| &step.menu)
            .iter()
            .map(|item| (item.tool.clone(), item.why))
            .collect();
        // A strategy that does not walk the graph offers every tool.
        let tools = menu.iter().filter(|(_, why)| *why == Offered::All).count();
        let others = menu.iter().filter(|(tool, _)| tool.as_str() != ToolName::END).count() - tools;
        if tools > 0 && others == 0 {
            return Self {
                state,
                from,
                menu: Vec::new(),
                since,
                total: 0,
                unweighted: Some(tools),
            };
        }
        let graph = &state.learning.graph;
        let without_edge =
            menu.iter().filter(|(tool, _)| !graph.has_edge(from, tool.as_str())).count();
        let total = weights(state).successors_len(from) + without_edge;
        Self { state, from, menu, since, total, unweighted: None }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.total
    }

    /// How many of them are on the menu.
    pub fn offered(&self) -> usize {
        self.menu.len()
    }

    pub fn unweighted(&self) -> Option<usize> {
        self.unweighted
    }

    /// The first `k`.
    pub fn top(&self, k: usize) -> Vec<Choice> {
        if self.total == 0 {
            return Vec::new();
        }
        let names: Vec<&str> = self.menu.iter().map(|(tool, _)| tool.as_str()).collect();
        let edges = weights(self.state).some(self.from, &names);
        let on_menu: HashSet<&str> = names.iter().copied().collect();
        let choice = |to, edge, offered| Choice { to, edge, was: None, offered };
        let offered = self.menu.iter().zip(edges);
        let offered = offered.map(|((tool, why), edge)| choice(tool.clone(), edge, Some(*why)));
        let mut rows: Vec<Choice> = offered.take(k).collect();
        if k > rows.len() {
            let others = weights(self.state).top(self.from, k);
            let others = others.into_iter().filter(|edge| !on_menu.contains(edge.to.as_str()));
            let room = k - rows.len();
            rows.extend(others.take(room).map(|edge| choice(edge.to.clone(), Some(edge), None)));
        }
        rows
    }

    /// Adds to these rows what they were.
    pub fn compare(&self, rows: &mut [Choice]) {
        let names: Vec<&str> = rows.iter().map(|row| row.to.as_str()).collect();
        let was: Vec<Option<f64>> = match self.since {
            Some(since) => {
                let some = since.weights().some(self.from, &names);
                some.into_iter().map(|edge| edge.map(|edge| edge.weight)).collect()
            }
            None => vec![None; rows.len()],
        };
        for (row, was) in rows.iter_mut().zip(was) {
            row.was = was;
        }
    }

    /// The row of this tool, if it is among the first `k`.
    pub fn row(&self, tool: &str, k: usize) -> Option<usize> {
        self.top(k).iter().position(|row| row.to.as_str() == tool)
    }
}

/// What leads to a node, the heaviest first, and how many more there are that are not listed: in a graph
/// that knows nothing every tool leads everywhere.
pub fn before(state: &State, to: &str) -> (Vec<(ToolName, f64)>, usize) {
    let graph = &state.learning.graph;
    let here = Here::of(state);
    let walked = here.path();
    let came_from = walked.windows(2).filter(|pair| pair[1] == to).map(|pair| pair[0]);
    let stored = graph.before(to);
    let mut by_prior: Vec<(&str, f64)> =
        stored.iter().map(|edge| (edge.from.as_str(), edge.prior)).collect();
    by_prior.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let known = by_prior.iter().map(|(from, _)| *from).take(BEFORE);
    let mut seen = HashSet::new();
    let weights = weights(state);
    let mut rows: Vec<(ToolName, f64)> = came_from
        .chain([ToolName::START])
        .chain(known)
        .filter(|from| *from != to && seen.insert(*from))
        .filter_map(|from| Some((ToolName::new(from), weights.weight(from, to)?)))
        .collect();
    rows.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let total = sources(state, to);
    let others = total.saturating_sub(rows.len());
    (rows, others)
}

/// How many nodes lead to this one, itself not counted.
fn sources(state: &State, to: &str) -> usize {
    let graph = &state.learning.graph;
    let everyone = graph.structure() == Structure::Implied
        && (graph.prior() == Prior::Uninformed || to == ToolName::END);
    let start = usize::from(graph.has_edge(ToolName::START, to));
    if everyone {
        return graph.len() - usize::from(graph.contains(to)) + start;
    }
    let stored = graph.before(to);
    let tools = stored
        .iter()
        .filter(|edge| edge.from.as_str() != to && edge.from.as_str() != ToolName::START);
    tools.count() + start
}
