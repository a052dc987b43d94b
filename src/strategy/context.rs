//! All that a strategy can do: ask a model, call tools, read the state, and say what it decided.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::{
    Boundary, EffectId, Event, EvidenceId, ModelError, Reply, Request, Role, State, TaskId,
    ToolCall, ToolError, ToolName,
};

/// What a strategy acts through, for one task. The engine's has all the stations behind it.
pub trait Context {
    /// Reads the fold.
    fn state<T>(&self, look: impl FnOnce(&State) -> T) -> T;

    /// Tools that match a text, best first, at most `k`; only tools that may be offered now.
    fn retrieve(&self, text: &str, k: usize) -> Vec<ToolName>;

    /// Says what the strategy decided: an event of this task.
    fn say<E: Into<Event>>(&self, event: impl FnOnce(TaskId) -> E);

    /// Says that nothing that is offered does what is needed, in the agent's own words. Whether the budget
    /// plan was made again and has more now; never without a plan, and never without end.
    fn widen(&self, said: &str) -> bool;

    /// Calls the model that is bound to this role, for a decision of the agent: every result so far is judged
    /// by then. Where a budget is enforced and does not pay for it, nothing is sent or it is ended in time,
    /// and the error is [`ModelErrorKind::OverBudget`](crate::domain::error::ModelErrorKind).
    fn ask(
        &self,
        role: Role,
        request: Request,
    ) -> impl Future<Output = Result<Arc<Reply>, ModelError>>;

    /// Calls tools, all at once as far as the `concurrency` knob allows, and has their results judged. What
    /// comes back is in the order of the calls, whatever order they ended in.
    fn call(&self, step: u32, calls: &[ToolCall]) -> impl Future<Output = Vec<CallResult>>;

    /// Calls a tool for a piece of evidence. Several may be under way at once, and none waits for a
    /// verdict.
    fn find(
        &self,
        step: u32,
        evidence: EvidenceId,
        call: &ToolCall,
    ) -> impl Future<Output = CallResult>;

    /// Calls a model for a piece of evidence, beside other calls.
    fn find_out(
        &self,
        evidence: EvidenceId,
        role: Role,
        request: Request,
    ) -> impl Future<Output = Result<Arc<Reply>, ModelError>>;

    /// Comes to a boundary of its own, where it may be held.
    fn checkpoint(&self, boundary: Boundary) -> impl Future<Output = ()>;
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
pub struct CallResult {
    pub id: EffectId,
    pub tool: ToolName,
    pub arguments: Value,
    pub observation: Observation,
    /// A fault had its hand in it. The agent is not told.
    pub injected: bool,
}
