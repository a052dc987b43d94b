//! The weights of the edges, derived from prior and scores on every access.

use std::collections::HashMap;

use serde::Serialize;

use super::evidence::Evidence;
use crate::domain::graph::{GraphRow, Successor};
use crate::domain::{Knob, Knobs, Learning, Pins, Scores, ToolGraph, ToolName};

/// A view of the graph in which edges have weights (ToolNet, eq. 6):
///
/// ```text
/// w[i][j] = beta · w0[i][j] + (1 - beta) · f(s_j) / Σ_k f(s_k)      k over the successors of i
/// ```
///
/// A row whose prior sums to 1 has weights that sum to 1, except for pins.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    pub graph: &'a ToolGraph,
    pub scores: &'a Scores,
    /// Speed of learning, 0 to [`Weights::MAX_ALPHA`].
    pub alpha: f64,
    /// Trust in the prior, 0 to 1.
    pub beta: f64,
    pub pins: &'a Pins,
}

/// A weighted candidate in a row of the graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightedEdge {
    pub to: ToolName,
    /// ToolNet, eq. 5; 0 to 1.
    pub prior: f64,
    /// ToolNet, eq. 6, or the pin; 0 to 1.
    pub weight: f64,
    /// Whether the user has set the weight.
    pub pinned: bool,
    /// The number of times that trajectories have the transition.
    pub count: u64,
}

impl<'a> Weights<'a> {
    /// The weights of all edges for these knobs.
    pub fn of(learning: &'a Learning, knobs: &Knobs) -> Self {
        Self {
            graph: &learning.graph,
            scores: &learning.scores,
            pins: &learning.pins,
            alpha: knobs.get(Knob::Alpha),
            beta: knobs.get(Knob::Beta),
        }
    }

    /// The largest alpha. One step of the evaluator then changes a weight by three orders of magnitude.
    pub const MAX_ALPHA: f64 = 1000.0;

    /// All possible successors of `from`, the heaviest first; equal weights in the order of the
    /// tools, `end` last. Empty for `end` and for an unknown name.
    ///
    /// Builds the whole row, even an implied one: use [`Weights::top`] for a menu.
    pub fn row(&self, from: &str) -> Vec<WeightedEdge> {
        self.top(from, usize::MAX)
    }

    /// The first `k` of [`Weights::row`], exactly. An implied row is not built for that: the cost
    /// depends on the number of scores, of pins in the row and on `k`, not on the number of tools.
    pub fn top(&self, from: &str, k: usize) -> Vec<WeightedEdge> {
        let mut row = self.ranked(from, k);
        row.sort_unstable_by(|(rank_a, a), (rank_b, b)| {
            b.weight.total_cmp(&a.weight).then(rank_a.cmp(rank_b))
        });
        row.truncate(k);
        row.into_iter().map(|(_, step)| step).collect()
    }

    /// The row in the order of the tools, `end` last.
    pub(super) fn in_order(&self, from: &str) -> Vec<WeightedEdge> {
        let mut row = self.ranked(from, usize::MAX);
        row.sort_unstable_by_key(|(rank, _)| *rank);
        row.into_iter().map(|(_, step)| step).collect()
    }

    /// Edges with their ranks that include the best `k` of a row.
    fn ranked(&self, from: &str, k: usize) -> Vec<(u64, WeightedEdge)> {
        let (steps, evidence) = match self.graph.row(from) {
            None => return Vec::new(),
            Some(GraphRow::Listed(steps)) => {
                let steps: Vec<_> = steps.into_iter().map(|step| self.with_score(step)).collect();
                let evidence = self.evidence_of(&steps);
                (steps, evidence)
            }
            Some(GraphRow::Even { end }) => {
                (self.best_of_even(from, end, k), self.evidence_of_even(end))
            }
        };
        let weigh = |(step, score): (Successor<'_>, f64)| {
            (step.rank, self.weigh(from, step, evidence.share(score)))
        };
        steps.into_iter().map(weigh).collect()
    }

    /// The weight of one edge; `None` if `to` is not a successor of `from`.
    pub fn weight(&self, from: &str, to: &str) -> Option<f64> {
        if !self.graph.has_edge(from, to) {
            return None;
        }
        let ((step, score), evidence) = match self.graph.row(from)? {
            GraphRow::Listed(steps) => {
                let steps: Vec<_> = steps.into_iter().map(|step| self.with_score(step)).collect();
                let step = *steps.iter().find(|(step, _)| step.name.as_str() == to)?;
                (step, self.evidence_of(&steps))
            }
            GraphRow::Even { end } => (self.even_step(to, end)?, self.evidence_of_even(end)),
        };
        Some(self.weigh(from, step, evidence.share(score)).weight)
    }

    /// The edges from `from` to these, in this order; `None` if there is no such edge. The row is
    /// summed up only once for all of them.
    pub fn some(&self, from: &str, to: &[&str]) -> Vec<Option<WeightedEdge>> {
        self.table(&[from], to).pop().unwrap_or_default()
    }

    /// [`Weights::some`] for several rows. Rows that exist by rule have the same sum, which is then
    /// computed once for all of them.
    pub fn table(&self, from: &[&str], to: &[&str]) -> Vec<Vec<Option<WeightedEdge>>> {
        // By whether `end` is in the row.
        let mut even: [Option<Evidence>; 2] = [None; 2];
        let row = |from: &&str| match self.graph.row(from) {
            None => vec![None; to.len()],
            Some(GraphRow::Listed(steps)) => self.some_listed(from, steps, to),
            Some(GraphRow::Even { end }) => {
                let known = &mut even[usize::from(end)];
                let evidence = known.get_or_insert_with(|| self.evidence_of_even(end));
                self.some_even(from, end, evidence, to)
            }
        };
        from.iter().map(row).collect()
    }

    fn some_listed(
        &self,
        from: &str,
        steps: Vec<Successor<'_>>,
        to: &[&str],
    ) -> Vec<Option<WeightedEdge>> {
        let steps: Vec<_> = steps.into_iter().map(|step| self.with_score(step)).collect();
        let evidence = self.evidence_of(&steps);
        let known: HashMap<&str, _> =
            steps.iter().map(|step| (step.0.name.as_str(), *step)).collect();
        let weigh = |to: &&str| {
            let (step, score) = *known.get(to)?;
            Some(self.weigh(from, step, evidence.share(score)))
        };
        to.iter().map(weigh).collect()
    }

    fn some_even(
        &self,
        from: &str,
        end: bool,
        evidence: &Evidence,
        to: &[&str],
    ) -> Vec<Option<WeightedEdge>> {
        let weigh = |to: &&str| {
            let (step, score) = self.even_step(to, end)?;
            in_even_row(self.graph, step.name, end)
                .then(|| self.weigh(from, step, evidence.share(score)))
        };
        to.iter().map(weigh).collect()
    }

    /// The number of successors of a node, including implied ones.
    pub fn successors_len(&self, from: &str) -> usize {
        match self.graph.row(from) {
            None => 0,
            Some(GraphRow::Listed(steps)) => steps.len(),
            Some(GraphRow::Even { end }) => self.even_len(end),
        }
    }

    fn weigh(&self, from: &str, step: Successor<'_>, share: f64) -> WeightedEdge {
        let pin = self.pins.get(from, step.name.as_str());
        WeightedEdge {
            to: step.name.clone(),
            prior: step.prior,
            weight: pin.unwrap_or(self.beta * step.prior + (1.0 - self.beta) * share),
            pinned: pin.is_some(),
            count: step.count,
        }
    }

    fn with_score<'s>(&self, step: Successor<'s>) -> (Successor<'s>, f64) {
        (step, self.scores.get(step.name.as_str()).unwrap_or(0.0))
    }

    fn evidence_of(&self, steps: &[(Successor<'_>, f64)]) -> Evidence {
        Evidence::of(self.alpha, 0, steps.iter().map(|(_, score)| *score))
    }

    fn evidence_of_even(&self, end: bool) -> Evidence {
        let scores = self.scored(end).map(|(_, score)| score);
        let plain = self.even_len(end) - scores.clone().count();
        Evidence::of(self.alpha, plain, scores)
    }

    fn even_len(&self, end: bool) -> usize {
        self.graph.len() + usize::from(end)
    }

    /// The scores of tools in an even row.
    fn scored(&self, end: bool) -> impl Iterator<Item = (&'a ToolName, f64)> + Clone {
        let (graph, scores) = (self.graph, self.scores);
        scores.iter().filter(move |(tool, _)| in_even_row(graph, tool, end))
    }

    fn even_step(&self, to: &str, end: bool) -> Option<(Successor<'a>, f64)> {
        let (name, rank) = self.graph.named(to)?;
        let prior = 1.0 / self.even_len(end) as f64;
        Some(self.with_score(Successor { name, rank, prior, count: 0 }))
    }

    /// Edges of an even row that include the best `k`: all that have a score, a pin or are `end`,
    /// and the first `k` of the rest, which all have the same weight.
    fn best_of_even(&self, from: &str, end: bool, k: usize) -> Vec<(Successor<'a>, f64)> {
        let scored = self.scored(end).map(|(tool, _)| tool.as_str());
        let pinned = self.pins.row(from).map(|(tool, _)| tool).filter(|tool| {
            self.scores.get(tool.as_str()).is_none() && in_even_row(self.graph, tool, end)
        });
        let plain = self
            .graph
            .tools()
            .map(ToolName::as_str)
            .filter(|tool| self.scores.get(tool).is_none() && self.pins.get(from, tool).is_none())
            .take(k);
        let end_is_plain = end
            && self.scores.get(ToolName::END).is_none()
            && self.pins.get(from, ToolName::END).is_none();
        scored
            .chain(pinned.map(ToolName::as_str))
            .chain(plain)
            .chain(end_is_plain.then_some(ToolName::END))
            .filter_map(|tool| self.even_step(tool, end))
            .collect()
    }
}

fn in_even_row(graph: &ToolGraph, name: &ToolName, end: bool) -> bool {
    graph.contains(name.as_str()) || end && name.as_str() == ToolName::END
}
