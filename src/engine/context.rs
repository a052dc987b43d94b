//! All that a strategy can do: ask a model, call tools, read the state, and say what it decided.
//!
//! Both doors pass the same stations in the same order, whatever the strategy:
//!
//! ```text
//! refusals (free of charge) → gate → injected fault → the model or the tool → ledger, event → gate
//! ```
//!
//! The event of a result comes before the gate behind it: a person who is held there must see the
//! result, and the screen knows only what events say.

use std::sync::Arc;

use futures::{StreamExt, stream::FuturesOrdered};

use super::{
    asking, calling,
    core::{Core, Shared},
};
use crate::{
    domain::{
        chat::{Reply, Request, Role, ToolCall},
        error::ModelError,
        event::{Boundary, Classed, Event, Lane, MenuItem, NodeEnd, Verdict},
        id::{EffectId, TaskId, ToolName},
        plan::{EvidenceId, Plan},
        state::State,
        tokens,
    },
    strategy::{self, Called, Found},
};

/// What a strategy acts through, for one task.
pub(super) struct Context {
    pub shared: Shared,
    pub task: TaskId,
}

impl strategy::Context for Context {
    fn state<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.shared.read(|core| look(&core.state))
    }

    fn retrieve(&self, text: &str, k: usize) -> Vec<ToolName> {
        self.shared.read(|core| retrieve(core, text, k))
    }

    async fn ask(&self, role: Role, request: Request) -> Result<Arc<Reply>, ModelError> {
        self.shared.write(|core| core.lanes.ask());
        let answer = asking::ask(&self.shared, self.task, role, request).await;
        self.shared.write(|core| {
            core.lanes.asked();
            core.settle();
        });
        answer
    }

    async fn call(&self, step: u32, calls: &[ToolCall]) -> Vec<Called> {
        // All are requested before the first runs, so that their numbers follow their order.
        let ids = self.shared.write(|core| {
            let request = |call| calling::request(core, self.task, step, None, call);
            let ids: Vec<_> = calls.iter().map(request).collect();
            core.lanes.branch(&ids);
            ids
        });
        let running: FuturesOrdered<_> =
            ids.into_iter().zip(calls).map(|(id, call)| self.run(id, call)).collect();
        running.collect().await
    }

    async fn seek(&self, step: u32, evidence: EvidenceId, call: &ToolCall) -> Called {
        let id = self.shared.write(|core| {
            let id = calling::request(core, self.task, step, Some(evidence), call);
            core.lanes.branch(&[id]);
            id
        });
        self.run(id, call).await
    }

    fn blueprint_drawn(&self, plan: Arc<Plan>) {
        self.shared.emit(Event::PlanWritten { task: self.task, plan });
    }

    fn blueprint_refused(&self, why: String) {
        self.shared.emit(Event::PlanRefused { task: self.task, why });
    }

    fn evidence_asked(&self, evidence: EvidenceId) {
        self.shared.emit(Event::EvidenceAsked { task: self.task, evidence });
    }

    fn evidence_found(&self, evidence: EvidenceId, found: Found<'_>) {
        let Found { text, by_model, nulled } = found;
        let saved = nulled.as_ref().map_or(0, |_| tokens::count(text));
        let text = by_model.then(|| text.to_owned());
        self.shared.emit(Event::EvidenceFound { task: self.task, evidence, text, nulled, saved });
    }

    fn class_kept(&self, tool: &ToolName) -> Option<Classed> {
        self.shared.read(|core| core.class_kept(tool))
    }

    fn classified(&self, tools: Vec<(ToolName, Classed)>) {
        self.shared.write(|core| core.classified(tools));
    }

    fn step_started(&self, step: u32, from: &ToolName, menu: Vec<MenuItem>) {
        self.shared.emit(Event::StepStarted { task: self.task, step, from: from.clone(), menu });
    }

    fn try_started(&self, number: u32, reflections: &[String]) {
        let reflections = reflections.to_vec();
        self.shared.emit(Event::TryStarted { task: self.task, number, reflections });
    }

    fn edge_explored(&self, from: &ToolName, to: &ToolName) {
        self.shared.emit(Event::EdgeExplored { from: from.clone(), to: to.clone() });
    }

    fn judged(&self, call: EffectId, helpful: bool, why: String) {
        self.shared.write(|core| core.judged(call, helpful, why));
    }

    fn widen(&self, said: &str) -> bool {
        self.shared.write(|core| core.widen(said, "the agent lacked a tool"))
    }

    fn closing(&self, why: String) {
        self.shared.emit(Event::SummaryStarted { task: self.task, why });
    }

    fn node_opened(&self, node: u32, parent: u32) {
        self.shared.emit(Event::NodeOpened { task: self.task, node, parent });
    }

    fn node_entered(&self, node: u32) {
        self.shared.emit(Event::NodeEntered { task: self.task, node });
    }

    fn nodes_ranked(&self, votes: Vec<(u32, u32)>) {
        self.shared.emit(Event::NodesRanked { task: self.task, votes });
    }

    fn node_closed(&self, node: u32, how: NodeEnd) {
        self.shared.emit(Event::NodeClosed { task: self.task, node, how });
    }

    async fn evaluated(&self, verdicts: Vec<Verdict>, learned: bool) {
        self.shared.emit(Event::Evaluated { task: self.task, verdicts, learned });
        self.shared.pass(Lane::Agent, Boundary::AfterEvaluation).await;
    }

    fn evaluation_refused(&self, why: String) {
        self.shared.emit(Event::EvaluationRefused { task: self.task, why });
    }
}

impl Context {
    /// Takes a requested call to its end.
    async fn run(&self, id: EffectId, call: &ToolCall) -> Called {
        let observation = calling::call(&self.shared, id, call).await;
        self.shared.write(|core| core.join(id));
        let injected = self
            .shared
            .read(|core| core.state.call(id).is_some_and(|call| call.injected.is_some()));
        let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
        Called { id, tool, arguments, observation, injected }
    }
}

fn retrieve(core: &Core, text: &str, k: usize) -> Vec<ToolName> {
    // A tool that is switched off stays in the index, so more are asked for than are wanted.
    let off = core.state.tools.values().filter(|tool| !tool.is_offered()).count();
    let hits = core.index.search(text, k.saturating_add(off));
    let offered =
        |tool: &ToolName| core.state.tools.get(tool).is_some_and(|tool| tool.is_offered());
    hits.into_iter().map(|(tool, _)| tool).filter(offered).take(k).collect()
}
