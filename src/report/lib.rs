//! A session as one JSON object for scripts and comparisons, computed from the state.

use toolyard_domain as domain;
use toolyard_net as net;
use toolyard_papers as papers;
use toolyard_ui as ui;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::domain::{
    Acting, Event, FaultId, FaultState, FollowedEdge, KnobSpec, Knobs, ListedEdge, ModelName,
    Outcome, Rates, Role, SessionEvent, State, TaskId, ToolName,
};

use crate::domain::event::Drift;
use crate::domain::knob::{KNOBS, KnobKind};
use crate::domain::state::{ProbingSums, ProblemKind, TranscriptLine, What};
use crate::papers::agent_verdict;
use crate::papers::reaction::FaultVerdict;
use crate::papers::resilience::{Resilience, sentence};
use crate::papers::toolnet::Weights;

pub mod budget;
pub mod grader_verdicts;
pub mod html;
pub mod live_report;
pub mod marks;
pub mod quality;
pub mod task;

use self::live_report::{Folding, Sums};
pub use budget::Measures;
pub use grader_verdicts::Graded;
use marks::MarkCounts;
pub use quality::Quality;
pub use task::TaskReport;

/// Larger uninformed graphs are not listed: thousands of tools have millions of unused edges.
const EDGES: usize = 20_000;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report<T = Vec<TaskReport>> {
    pub seed: u64,
    pub strategy: Acting,
    pub workspace: String,
    /// The model of each role.
    pub models: BTreeMap<Role, ModelName>,
    /// Whether any role was played by the built-in simulated model, which is not a language model.
    pub simulated: bool,
    /// Choices by their names, switches as `true` and `false`.
    #[serde(serialize_with = "named")]
    pub knobs: Knobs,
    pub rates: Rates,
    pub totals: Totals,
    /// Measures of how tasks kept to their budget.
    pub measures: Measures,
    /// Quality of the answers: exact match, token F1, and a grader's verdicts.
    pub quality: Quality,
    /// The marks of all tasks, which the tasks list.
    #[serde(skip)]
    pub marks: MarkCounts,
    /// The number of problems of each kind, told to the agent or not.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub problems: BTreeMap<ProblemKind, u64>,
    /// Results of a watched agent's tools that differ from those of the record over which it ran, the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drifts: Vec<Arc<Drift>>,
    pub tasks: T,
    pub scores: BTreeMap<ToolName, f64>,
    /// For each tool, its score after each task that scored it (and after each edit).
    pub score_history: BTreeMap<ToolName, Vec<(TaskId, f64)>>,
    /// The edges of the tool graph; for a watched agent, what came after what, with its share as the prior.
    pub edges: Vec<ListedEdge>,
    pub faults: Vec<FaultReport>,
    /// The agent's reaction to the newest fault of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resilience: Option<ResilienceReport>,
    /// The number of tools that the last probing reached, and its cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probing: Option<ProbingSums>,
    /// Notices of the session, such as one about an endpoint that ignores tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// Writes knobs as people set them.
fn named<S: Serializer>(knobs: &Knobs, serializer: S) -> Result<S::Ok, S::Error> {
    let value = |spec: &KnobSpec| -> Value {
        let value = knobs.get(spec.knob);
        match spec.kind {
            KnobKind::Real | KnobKind::Whole => value.into(),
            KnobKind::Switch => (value != 0.0).into(),
            KnobKind::Choice(_) => spec.show(value).into(),
        }
    };
    serializer.collect_map(KNOBS.iter().map(|spec| (spec.name, value(spec))))
}

/// Sums over the tasks that have ended; `dollars` over all model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    pub tasks: usize,
    pub answered: usize,
    /// Right tasks, among those that can be scored.
    pub correct: usize,
    pub with_gold: usize,
    pub steps: usize,
    pub calls: usize,
    pub tokens_in: u64,
    /// Tokens of `tokens_in` that endpoints had in their cache.
    pub tokens_cached: u64,
    pub tokens_out: u64,
    pub cost: f64,
    pub dollars: Option<f64>,
    /// Whether any of `dollars` is by list prices.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
}

/// The agent's reaction to the failure of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResilienceReport {
    pub fault: String,
    /// The verdict in one line.
    pub verdict: String,
    pub taken: Resilience,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultReport {
    pub fault: String,
    pub armed: bool,
    pub fired: u32,
    /// The agent's reaction to the calls that the fault hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<FaultVerdict>,
    /// The same in words, or why it hit no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
}

impl FaultReport {
    fn all(state: &State) -> Vec<Self> {
        // A watched agent may have left its last tasks.
        let laps = match state.watched {
            Some(_) => state.laps_with_current(),
            None => state.laps_in_order(),
        };
        let report = |(id, fault): (&FaultId, &FaultState)| {
            let mut taken = FaultVerdict::of(*id, &laps, None);
            if state.watched.is_some() {
                // The other tasks of a watched agent are of any kind.
                taken.iter_mut().for_each(|taken| taken.more = None);
            }
            let verdict = agent_verdict::verdict(state, (*id, fault), &laps, None);
            Self {
                fault: fault.spec.to_string(),
                armed: fault.armed,
                fired: fault.fired,
                verdict: verdict.or_else(|| fault.idle(state)),
                taken,
            }
        };
        state.faults.iter().map(report).collect()
    }
}

impl Report {
    pub fn of(state: &State) -> Self {
        let tasks: Vec<_> = state.tasks.iter().map(|task| TaskReport::of(state, task)).collect();
        let history = state.learning.history.iter().map(|(tool, points)| {
            (tool.clone(), points.iter().map(|point| (point.task, *point.score)).collect())
        });
        let mut sums = Folding::default();
        tasks.iter().for_each(|task| sums.add(task));
        let notices = state.transcript.iter().filter_map(notice).collect();
        Self::with(state, sums.sums(state), tasks, history.collect(), notices)
    }
}

impl<T> Report<T> {
    /// Builds a report of the last state. The arguments are the parts that this state may no longer have.
    fn with(
        state: &State,
        sums: Sums,
        tasks: T,
        score_history: BTreeMap<ToolName, Vec<(TaskId, f64)>>,
        notices: Vec<String>,
    ) -> Self {
        let Sums { totals, measures, quality, marks } = sums;
        let scores = &state.learning.scores;
        let roles = state.models.roles.iter();
        Self {
            seed: state.seed,
            strategy: state.acting(),
            workspace: state.workspace.clone(),
            models: roles.map(|(role, bound)| (*role, bound.model.clone())).collect(),
            simulated: state.models.any_simulated(),
            knobs: state.knobs.clone(),
            rates: state.rates,
            totals,
            measures,
            quality,
            marks,
            problems: state.problems.counts().clone(),
            drifts: state.watched.as_ref().map_or_else(Vec::new, |it| it.drifts.clone()),
            tasks,
            scores: scores.iter().map(|(tool, score)| (tool.clone(), score)).collect(),
            score_history,
            edges: match state.watched {
                Some(_) => state.followed.edges().map(counted).collect(),
                None => Weights::of(&state.learning, &state.knobs).listing(EDGES).into_edges(),
            },
            faults: FaultReport::all(state),
            resilience: Resilience::of_session(state).map(|(fault, taken)| ResilienceReport {
                fault: fault.spec.to_string(),
                verdict: sentence(&taken, None),
                taken,
            }),
            probing: state.probing_sums(),
            notices,
        }
    }
}

/// An edge of a watched agent, which obeys no weights.
fn counted(edge: FollowedEdge<'_>) -> ListedEdge {
    let (from, to) = (edge.after.clone(), edge.came.clone());
    let count = u64::from(edge.times);
    ListedEdge { from, to, prior: edge.share.into(), weight: None, count }
}

fn notice(line: &TranscriptLine) -> Option<String> {
    let What::Told { event } = &line.what else { return None };
    match &**event {
        Event::Session(SessionEvent::Noticed { text }) => Some(text.clone()),
        _ => None,
    }
}

/// The sums behind [`Totals`].
#[derive(Clone, Copy, Debug, Default)]
struct TotalSums {
    totals: Totals,
    dollars: f64,
    grading: f64,
    is_unpriced: bool,
}

impl TotalSums {
    /// Adds a task. If it has not ended, or probes tools, only its price counts.
    fn add(&mut self, task: &TaskReport) {
        self.dollars += task.dollars.unwrap_or(0.0);
        self.is_unpriced |= task.dollars.is_none();
        self.totals.listed |= task.listed;
        if let Some(grading) = &task.grading {
            self.grading += grading.dollars;
            self.is_unpriced |= grading.unpriced > 0;
        }
        if !task.counts() {
            return;
        }
        let totals = &mut self.totals;
        totals.tasks += 1;
        totals.answered += usize::from(task.outcome == Some(Outcome::Answered));
        totals.correct += usize::from(task.correct == Some(true));
        totals.with_gold += usize::from(task.can_be_scored());
        totals.steps += task.steps;
        totals.calls += task.calls;
        totals.tokens_in = totals.tokens_in.saturating_add(task.tokens_in);
        totals.tokens_cached = totals.tokens_cached.saturating_add(task.tokens_cached);
        totals.tokens_out = totals.tokens_out.saturating_add(task.tokens_out);
        totals.cost += task.cost;
    }

    fn totals(&self) -> Totals {
        let dollars = (!self.is_unpriced).then_some(self.dollars + self.grading);
        Totals { dollars, ..self.totals }
    }
}
