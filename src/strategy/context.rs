//! The interface of a strategy: call models and tools, read the state, and record decisions.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::{
    Boundary, EffectId, Event, EvidenceId, ModelError, Reply, Request, Role, State, TaskId,
    ToolCall, ToolError, ToolErrorKind, ToolName,
    program::{Interpreter, LineStop, Wanted},
};

/// What menus are made of.
pub trait Look {
    /// Reads the state.
    fn state<T>(&self, look: impl FnOnce(&State) -> T) -> T;

    /// Tools that match a text, best first, at most `k`; only tools that may currently be offered.
    fn retrieve(&self, text: &str, k: usize) -> Vec<ToolName>;
}

/// What a text is by which tools are looked for. Texts of a kind are alike, and what they share says
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// A task, or a question.
    Task,
    /// What an agent thinks or needs.
    Need,
    /// A question and the answer so far, which begins at this byte.
    Here { answer_at: usize },
}

/// A strategy's interface to one task. The engine's implementation runs every effect through all
/// stations.
pub trait Context: Look {
    /// Records a decision of the strategy: an event of this task.
    fn say<E: Into<Event>>(&self, event: impl FnOnce(TaskId) -> E);

    /// Has a text read before tools are looked for by it, so that they are ranked by more than its
    /// words; at once where nobody reads, or if it was read in this task.
    fn read(&self, text: &str, sought: Sought) -> impl Future<Output = ()>;

    /// Has the actor write on as [`Context::ask`] does, while a judge reads along. It can end the text
    /// where a call starts: [`Finish::Judged`](crate::domain::Finish). It reads the question and the answer
    /// so far before that text.
    fn write(
        &self,
        request: Request,
        question: &str,
        so_far: &str,
    ) -> impl Future<Output = Result<Arc<Reply>, ModelError>>;

    /// Reports in the agent's own words each need that no offered tool meets. Returns whether
    /// the budget plan was replanned and now allows more. `kept`: the offered tools that it wants to
    /// keep, if it says so; the others make room until it calls one. Never true without a plan; it cannot
    /// repeat forever.
    fn widen(&self, needs: &[&str], kept: Option<&[ToolName]>) -> impl Future<Output = bool>;

    /// Calls the model bound to this role for a decision of the agent; every earlier result is
    /// judged first. If an enforced budget does not pay for it, nothing is sent or the call is
    /// ended in time, and the error is
    /// [`ModelErrorKind::OverBudget`](crate::domain::error::ModelErrorKind).
    fn ask(
        &self,
        role: Role,
        request: Request,
    ) -> impl Future<Output = Result<Arc<Reply>, ModelError>>;

    /// Calls tools, in parallel up to the `concurrency` knob, and has their results judged. The
    /// results are in the order of the calls, regardless of the order in which they end.
    fn call(&self, step: u32, calls: &[ToolCall]) -> impl Future<Output = Vec<CallResult>>;

    /// Calls a tool for a piece of evidence. Several may run in parallel, and none waits for a
    /// verdict.
    fn find(
        &self,
        step: u32,
        evidence: EvidenceId,
        call: &ToolCall,
    ) -> impl Future<Output = CallResult>;

    /// Calls a model for a piece of evidence, in parallel with other calls.
    fn find_out(
        &self,
        evidence: EvidenceId,
        role: Role,
        request: Request,
    ) -> impl Future<Output = Result<Arc<Reply>, ModelError>>;

    /// Makes calls of a program, each with the line that it comes from: several at once, in the order of the calls.
    /// None waits for a verdict.
    fn run(&self, program: u32, calls: &[(ToolCall, u32)])
    -> impl Future<Output = Vec<CallResult>>;

    /// An interpreter for the next program.
    fn interpreter(&self) -> Box<dyn Interpreter>;

    /// Where a program has to stop now, beside its calls, and what is asked of it there.
    fn wanted(&self, program: u32) -> Wanted;

    /// A program has stopped before a statement. Returns whether it is to be held there.
    fn reach(&self, program: u32, at: &Arc<LineStop>) -> bool;

    /// The time of day for a program, in milliseconds since 1970, UTC; recorded, so that the program repeats.
    fn clock(&self) -> i64;

    /// Reaches a boundary of its own, at which it may be held.
    fn checkpoint(&self, boundary: Boundary) -> impl Future<Output = ()>;
}

/// The end of a call, as the agent sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    Result(String),
    /// No tool ran: this is more of an earlier result.
    More(String),
    /// It ran, and failed.
    Failed(ToolError),
    /// It was not run.
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

    /// Whether it failed by its arguments, which is the agent's fault and not the tool's.
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
    /// A fault influenced it. The agent does not see this.
    pub injected: bool,
}

/// The calls of a reply with the arguments that the agent sees, which a person may have edited.
pub fn as_shown(calls: Vec<ToolCall>, called: &[CallResult]) -> Vec<ToolCall> {
    let shown = calls.into_iter().zip(called);
    shown.map(|(call, ran)| ToolCall { arguments: ran.arguments.clone(), ..call }).collect()
}
