//! The workers: every call starts as soon as the evidence that it names exists, in parallel with all others. A failing
//! call does not stop the others. The order in which calls end does not matter: evidence belongs to its plan.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, stream::FuturesUnordered};

use super::prompt::planner_prompts as prompt;
use super::{
    AskSpec, Base, CallResult, CallSpec, Context, Observation, Trajectory, TrajectoryTurn,
};
use crate::domain::excerpt::beginning;
use crate::domain::plan::{NULL, references, substitute};
use crate::domain::{
    Evidence, EvidenceId, MenuItem, NullReason, Plan, PlanEvent, Role, Task, ToolCall, ToolName,
    markers, tokens,
};
use crate::papers::plan::{ready, resolve};

/// The result for one piece of evidence.
#[derive(Default)]
struct EvidenceResult {
    /// The text for other calls: [`NULL`] if it is null.
    text: Option<String>,
    call: Option<(ToolCall, CallResult)>,
}

/// Makes all calls of a plan. Returns the trajectory, plan by plan, and the plans with all their
/// evidence as the solver reads them; and whether there is any evidence.
pub async fn work(
    ctx: &impl Context,
    base: Base,
    task: &Task,
    plan: &Plan,
    menu: &[MenuItem],
    step: u32,
) -> (Trajectory, String, bool) {
    let worker = Worker { ctx, base, task, menu, step };
    let mut came: BTreeMap<EvidenceId, EvidenceResult> = BTreeMap::new();
    let mut begun: BTreeSet<EvidenceId> = BTreeSet::new();
    let mut running = FuturesUnordered::new();
    loop {
        let done: BTreeSet<EvidenceId> = came.keys().copied().collect();
        for id in ready(plan, &done) {
            let Some(evidence) = plan.get(id).filter(|_| begun.insert(id)) else { continue };
            let needed = worker.needed(evidence, &came);
            let worker = &worker;
            running.push(async move { (id, worker.find(evidence, &needed).await) });
        }
        let Some((id, found)) = running.next().await else { break };
        came.insert(id, found);
    }
    let most = ctx.state(|state| state.result_max(Role::Solver, came.len()));
    let shown: BTreeMap<EvidenceId, _> = came
        .iter()
        .filter_map(|(id, came)| Some((*id, beginning(came.text.as_deref()?, most, None))))
        .collect();
    let worklog = plan.worklog(|id| shown.get(&id).map(|text| &**text));
    let any = came.values().any(|came| came.text.is_some());
    (trajectory(plan, came), worklog, any)
}

/// The calls, one turn per plan.
fn trajectory(plan: &Plan, mut came: BTreeMap<EvidenceId, EvidenceResult>) -> Trajectory {
    let turns = plan.steps.iter().map(|plan| {
        let calls = plan.evidence.iter().filter_map(|evidence| came.remove(&evidence.id)?.call);
        let (calls, called) = calls.unzip();
        TrajectoryTurn { thought: plan.text.clone(), calls, called, ..TrajectoryTurn::default() }
    });
    Trajectory { turns: turns.filter(|turn| !turn.calls.is_empty()).collect() }
}

struct Worker<'a, C> {
    ctx: &'a C,
    base: Base,
    task: &'a Task,
    menu: &'a [MenuItem],
    /// The step of all calls: they were decided together.
    step: u32,
}

impl<C: Context> Worker<'_, C> {
    /// The texts of the evidence that this evidence names.
    fn needed(
        &self,
        evidence: &Evidence,
        came: &BTreeMap<EvidenceId, EvidenceResult>,
    ) -> BTreeMap<EvidenceId, Option<String>> {
        let text = |id| (id, came.get(&id).and_then(|came| came.text.clone()));
        references(&evidence.input).into_iter().map(text).collect()
    }

    /// The null evidence for which a call is not made. A tool would take the word `null` for its input, and a tool that
    /// writes would store it. A model can work with the remaining evidence, but not with none.
    fn missing(
        &self,
        evidence: &Evidence,
        needed: &BTreeMap<EvidenceId, Option<String>>,
    ) -> Option<EvidenceId> {
        let is_tool = resolve(&evidence.tool, self.menu.iter().map(|item| &item.tool)).is_some();
        let mut null = needed.iter().filter(|(_, text)| text.is_none()).map(|(id, _)| *id);
        let first = null.next()?;
        let all = null.count() + 1 == needed.len();
        (is_tool || all).then_some(first)
    }

    async fn find(
        &self,
        evidence: &Evidence,
        needed: &BTreeMap<EvidenceId, Option<String>>,
    ) -> EvidenceResult {
        if let Some(missing) = self.missing(evidence, needed) {
            self.found(evidence.id, "", false, Some(NullReason::Needs(missing)));
            return EvidenceResult::default();
        }
        let text =
            |id: EvidenceId| needed.get(&id).cloned().flatten().unwrap_or_else(|| NULL.to_owned());
        match resolve(&evidence.tool, self.menu.iter().map(|item| &item.tool)) {
            Some(tool) => self.call(evidence, tool.clone(), text).await,
            // Names that are neither on the menu nor the model were refused together with the plan.
            None => {
                let most = self.ctx.state(|state| state.result_max(Role::Actor, 1));
                let text = |id| beginning(&text(id), most, None).into_owned();
                self.ask(evidence, &substitute(&evidence.input, text)).await
            }
        }
    }

    async fn call(
        &self,
        evidence: &Evidence,
        tool: ToolName,
        text: impl FnMut(EvidenceId) -> String,
    ) -> EvidenceResult {
        let schema = self.ctx.state(|state| {
            state.tools.get(&tool).map(|known| known.spec.parameters.clone()).unwrap_or_default()
        });
        let arguments = evidence.arguments(&schema, text);
        let call = ToolCall { id: evidence.id.to_string(), tool: tool.clone(), arguments };
        let spec = CallSpec::Evidence(self.step, evidence.id);
        let called = self.ctx.call(spec, std::slice::from_ref(&call)).await;
        let Some(called) = called.into_iter().next() else { return EvidenceResult::default() };
        let text = called.observation.text();
        let nulled = self.nulled(&tool, &called.observation);
        self.found(evidence.id, &text, false, nulled.clone());
        EvidenceResult { text: nulled.is_none().then_some(text), call: Some((call, called)) }
    }

    /// Whether a result is null. ReWOO, the baseline, passes everything on.
    fn nulled(&self, tool: &ToolName, observation: &Observation) -> Option<NullReason> {
        if !self.base.spec().by_class {
            return None;
        }
        let result = match observation {
            Observation::Result(text) | Observation::More(text) => Some(text.as_str()),
            Observation::Failed(_) | Observation::Refused(_) => None,
        };
        self.ctx.state(|state| state.nulled(tool, result))
    }

    /// Calls a model: the worker that ReWOO calls [`LLM`](markers::LLM).
    async fn ask(&self, evidence: &Evidence, question: &str) -> EvidenceResult {
        let request = self.ctx.state(|state| prompt::worker(state, self.task, question));
        let spec = AskSpec { evidence: Some(evidence.id), ..Role::Actor.into() };
        let reply = self.ctx.ask(spec, request).await;
        let text = reply.map(|reply| reply.text.trim().to_owned());
        let (text, nulled) = match text {
            Ok(text) if text.is_empty() => (text, Some(NullReason::Empty)),
            Ok(text) => {
                let unknown = text.trim_end_matches('.').eq_ignore_ascii_case(markers::UNKNOWN);
                (text, unknown.then(|| NullReason::Pattern(markers::UNKNOWN.to_owned())))
            }
            Err(error) => (error.to_string(), Some(NullReason::Failed)),
        };
        self.found(evidence.id, &text, true, nulled.clone());
        EvidenceResult { text: nulled.is_none().then_some(text), call: None }
    }

    /// Records that a piece of evidence is complete, with a model's text or nothing for a tool
    /// call, and whether it reaches the solver as null.
    fn found(&self, evidence: EvidenceId, text: &str, by_model: bool, nulled: Option<NullReason>) {
        let saved = nulled.as_ref().map_or(0, |_| tokens::count(text));
        let text = by_model.then(|| text.to_owned());
        let found = |task| PlanEvent::EvidenceFound { task, evidence, text, nulled, saved };
        self.ctx.say(found);
    }
}
