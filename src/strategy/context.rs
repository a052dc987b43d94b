//! The interface of a strategy: call models and tools, read the state, and record decisions.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::{
    Boundary, EffectId, Event, EvidenceId, InTask, ModelError, Reply, Request, Role, TaskId,
    ToolCall, ToolError, ToolErrorKind, ToolName,
    program::{Interpreter, LineStop, StopRequest},
};

/// The kind of a text by which tools are searched. Texts of a kind are alike, and their common part carries no
/// information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// A task, or a question.
    Task,
    /// A thought or a need of an agent.
    Need,
    /// A question and the answer so far, which begins at this byte.
    Here { answer_at: usize },
    /// The description of a tool. No reader reads it: words find similar tools.
    Tool,
}

/// A model call of a strategy. A role alone is a decision of the agent: every earlier result is judged
/// before it.
#[derive(Clone, Debug)]
pub struct AskSpec {
    pub role: Role,
    /// The piece of evidence that the call is for. It waits for no verdict and runs in parallel with others.
    pub evidence: Option<EvidenceId>,
    /// The text for a judge that reads along and can end the model's text where a call starts:
    /// [`Finish::Judged`](crate::domain::Finish).
    pub along: Option<Before>,
}

/// The text that a judge reads before the text that a model writes.
#[derive(Clone, Debug)]
pub struct Before {
    pub question: String,
    /// The answer so far, with the results of its calls.
    pub so_far: String,
}

impl From<Role> for AskSpec {
    fn from(role: Role) -> Self {
        Self { role, evidence: None, along: None }
    }
}

/// The source of some tool calls.
#[derive(Clone, Copy, Debug)]
pub enum CallSpec<'a> {
    /// The agent decided on them in this step, and continues after the verdicts on their results.
    Step(u32),
    /// A plan of this step needs this piece of evidence.
    Evidence(u32, EvidenceId),
    /// The program with this number makes them, each in the line at its place.
    Program(u32, &'a [u32]),
}

/// A strategy's interface to one task. The engine's implementation runs every effect through all
/// stations.
pub trait Context {
    /// Reads the state.
    fn state<T>(&self, look: impl FnOnce(&InTask<'_>) -> T) -> T;

    /// Records a decision of the strategy: an event of this task.
    fn say<E: Into<Event>>(&self, event: impl FnOnce(TaskId) -> E);

    /// Tools that match a text, best first, at most `k`; only tools that may currently be offered. A reader, if there
    /// is one, ranks the tools for a text once per task.
    fn retrieve(&self, text: &str, sought: Sought, k: usize)
    -> impl Future<Output = Vec<ToolName>>;

    /// Calls the model bound to a role. If an enforced budget does not pay for it, nothing is sent or
    /// the call is ended in time, and the error is
    /// [`ModelErrorKind::OverBudget`](crate::domain::error::ModelErrorKind).
    fn ask(
        &self,
        spec: impl Into<AskSpec>,
        request: Request,
    ) -> impl Future<Output = Result<Arc<Reply>, ModelError>>;

    /// Calls tools, in parallel up to the `concurrency` knob, and has their results judged. The
    /// results are in the order of the calls, regardless of the order in which they end.
    fn call(&self, spec: CallSpec<'_>, calls: &[ToolCall])
    -> impl Future<Output = Vec<CallResult>>;

    /// Reports in the agent's own words each need that no offered tool meets. Returns whether the budget plan was
    /// replanned and now allows more. `kept`: the offered tools that it wants to keep, if it names them; the others
    /// make room until it calls one. Always false without a plan; it cannot repeat forever.
    fn widen(&self, needs: &[&str], kept: Option<&[ToolName]>) -> impl Future<Output = bool>;

    /// Reaches a boundary of the strategy's own, at which it may be held.
    fn checkpoint(&self, boundary: Boundary) -> impl Future<Output = ()>;

    /// The session's side of the program with this number.
    fn program(&self, number: u32) -> impl ProgramHost;
}

/// The session's side of one program of a task.
pub trait ProgramHost {
    /// An interpreter to run it.
    fn interpreter(&self) -> Box<dyn Interpreter>;

    /// Where the program has to stop now, in addition to its calls, and the expressions to evaluate there.
    fn wanted(&self) -> StopRequest;

    /// Reports that the program has stopped before a statement. Returns whether it must be held there.
    fn reach(&self, at: &Arc<LineStop>) -> bool;

    /// The time of day, in milliseconds since 1970, UTC; recorded, so that the program repeats.
    fn clock(&self) -> i64;
}

/// The end of a call, as the agent sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    Result(String),
    /// More of an earlier result; no tool ran.
    More(String),
    /// The tool ran, and failed.
    Failed(ToolError),
    /// The tool was not run.
    Refused(String),
}

impl Observation {
    /// The text that the agent reads. A failure is marked, because its text alone may look like a
    /// result.
    pub fn text(&self) -> String {
        match self {
            Observation::Result(text) | Observation::More(text) => text.clone(),
            Observation::Failed(error) => format!("Error: {error}"),
            Observation::Refused(why) => format!("Not called: {why}"),
        }
    }

    /// Whether the call failed because of its arguments, which is the agent's fault and not the tool's.
    pub fn is_of_arguments(&self) -> bool {
        matches!(self, Observation::Failed(error) if error.kind == ToolErrorKind::Arguments)
    }

    /// Whether the tool ran at all.
    pub fn ran(&self) -> bool {
        matches!(self, Observation::Result(_) | Observation::Failed(_))
    }
}

/// A call that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    pub id: EffectId,
    pub tool: ToolName,
    pub arguments: Value,
    pub observation: Observation,
    /// Whether a fault influenced it. The agent does not see this.
    pub injected: bool,
}

/// The calls of a reply with the arguments that the agent sees, which a person may have edited.
pub fn as_shown(calls: Vec<ToolCall>, called: &[CallResult]) -> Vec<ToolCall> {
    let shown = calls.into_iter().zip(called);
    shown.map(|(call, ran)| ToolCall { arguments: ran.arguments.clone(), ..call }).collect()
}
