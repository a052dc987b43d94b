//! All that a strategy can do: ask a model, call tools, read the state, and say what it decided.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::{
    chat::{Reply, Request, Role, ToolCall},
    error::{ModelError, ToolError},
    event::{Classed, MenuItem, NodeEnd, Verdict},
    id::{EffectId, ToolName},
    null_filter::Nulled,
    plan::{EvidenceId, Plan},
    state::State,
};

/// What a strategy acts through, for one task. The engine's has all the stations behind it.
pub trait Context {
    /// Reads the fold.
    fn state<T>(&self, look: impl FnOnce(&State) -> T) -> T;

    /// Tools that suit a text, best first, at most `k`; only tools that may be offered now.
    fn retrieve(&self, text: &str, k: usize) -> Vec<ToolName>;

    /// Asks the model that is bound to this role. Where a budget is enforced and does not pay for it,
    /// nothing is sent or it is ended in time, and the error is [`ModelErrorKind::OverBudget`](crate::domain::error::ModelErrorKind).
    fn ask(
        &self,
        role: Role,
        request: Request,
    ) -> impl Future<Output = Result<Arc<Reply>, ModelError>>;

    /// Calls tools, all at once as far as the `concurrency` knob allows. What comes back is in the
    /// order of the calls, whatever order they ended in.
    fn call(&self, step: u32, calls: &[ToolCall]) -> impl Future<Output = Vec<Called>>;

    /// Calls a tool for a piece of evidence. Several may be under way at once, as far as the `concurrency`
    /// knob allows.
    fn seek(
        &self,
        step: u32,
        evidence: EvidenceId,
        call: &ToolCall,
    ) -> impl Future<Output = Called>;

    /// Says what the planner's answer was read as.
    fn blueprint_drawn(&self, plan: Arc<Plan>);

    /// Says why the planner's answer cannot be used.
    fn blueprint_refused(&self, why: String);

    /// Says that a model will be asked for a piece of evidence.
    fn evidence_asked(&self, evidence: EvidenceId);

    /// Says that a piece of evidence is there: what a model said, or nothing for what a call found; and
    /// whether it reaches the solver as null, and is kept from it.
    fn evidence_found(&self, evidence: EvidenceId, found: Found<'_>);

    /// The class that a tool like this was sorted into in an earlier session.
    fn class_kept(&self, tool: &ToolName) -> Option<Classed>;

    /// Says how tools were sorted.
    fn classified(&self, tools: Vec<(ToolName, Classed)>);

    /// Says that a decision begins, and what may be chosen.
    fn step_started(&self, step: u32, from: &ToolName, menu: Vec<MenuItem>);

    /// Says that the same task is tried again.
    fn try_started(&self, number: u32, reflections: &[String]);

    /// Says that a tool was used that was no successor; the graph has that edge from now on.
    fn edge_explored(&self, from: &ToolName, to: &ToolName);

    /// Says whether the result of a call helped. What did not help may be blacklisted for this task,
    /// and the plan made again.
    fn judged(&self, call: EffectId, helpful: bool, why: String);

    /// Says that nothing that is offered does what is needed, in the agent's own words. Whether the plan
    /// was made again and has more now; never without a plan, and never without end.
    fn widen(&self, said: &str) -> bool;

    /// Says that nothing more will be tried, and why. What was kept back of the budget for the closing
    /// summary may be spent from here on.
    fn closing(&self, why: String);

    /// Says that a search goes down: the step `node` follows the step `parent` (0: the root).
    fn node_opened(&self, node: u32, parent: u32);

    /// Says where a search goes on: at a child, or back at a node that has more.
    fn node_entered(&self, node: u32);

    /// Says how often each of these nodes was preferred to its siblings.
    fn nodes_ranked(&self, votes: Vec<(u32, u32)>);

    /// Says that nothing more comes of a node.
    fn node_closed(&self, node: u32, how: NodeEnd);

    /// Says what the evaluator found.
    fn evaluated(&self, verdicts: Vec<Verdict>, learned: bool) -> impl Future<Output = ()>;

    /// Says that the evaluator's answer could not be used.
    fn evaluation_refused(&self, why: String);
}

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<'a> {
    pub text: &'a str,
    /// A model said it.
    pub by_model: bool,
    pub nulled: Option<Nulled>,
}

/// How a call ended, as the agent is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    Result(String),
    /// It ran, and failed.
    Failed(ToolError),
    /// It was not run.
    Refused(String),
}

impl Observation {
    /// What the agent reads. A failure says so first: its text alone may look like a result.
    pub fn text(&self) -> String {
        match self {
            Observation::Result(text) => text.clone(),
            Observation::Failed(error) => format!("Error: {error}"),
            Observation::Refused(why) => format!("Not called: {why}"),
        }
    }

    /// Whether the tool was run at all.
    pub fn ran(&self) -> bool {
        !matches!(self, Observation::Refused(_))
    }
}

/// A call that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    pub id: EffectId,
    pub tool: ToolName,
    pub arguments: Value,
    pub observation: Observation,
    /// A fault had its hand in it. The agent is not told.
    pub injected: bool,
}
