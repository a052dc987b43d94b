//! A call in short, as it stands beside that of another session.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::domain::state::{EffectState, ModelCallPhase};
use crate::domain::words::clipped;
use crate::domain::{EffectId, ModelCallState, State, TaskId, ToolCallState};

/// Characters of a text that are kept.
const MOST: usize = 1000;

/// A call that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinCall {
    pub id: EffectId,
    /// The event that requested it.
    pub n: u64,
    /// When it was requested, in microseconds since its session was opened.
    pub at: u64,
    pub task: TaskId,
    /// The tool, or the role of a model call.
    pub name: String,
    pub is_of_model: bool,
    /// The arguments, or the last message that the model saw; its beginning.
    pub input: String,
    /// The beginning of what the agent got.
    pub outcome: String,
    /// Stands for its name, its input and its outcome in full.
    pub content: u64,
    /// Stands for its name and its input in full.
    pub question: u64,
}

impl TwinCall {
    /// The call, if it has ended and its details are there.
    pub fn of(state: &State, id: EffectId) -> Option<Self> {
        let of_tool = || state.tool_call(id).and_then(Self::of_tool);
        state.model_call(id).and_then(|call| Self::of_model(state, call)).or_else(of_tool)
    }

    /// The calls that have ended and whose details are there, in the order of their requests.
    pub fn all(state: &State) -> Vec<Self> {
        let of_models = state.model_calls.iter().filter_map(|call| Self::of_model(state, call));
        let mut all: Vec<Self> =
            of_models.chain(state.tool_calls.iter().filter_map(Self::of_tool)).collect();
        all.sort_by_key(|call| call.n);
        all
    }

    fn of_tool(call: &ToolCallState) -> Option<Self> {
        let outcome = call.observation()?.to_owned();
        let input = call.shown_arguments().to_string();
        Some(Self::new(call, (call.tool.as_str(), false), &input, &outcome))
    }

    fn of_model(state: &State, call: &ModelCallState) -> Option<Self> {
        let outcome = match &call.phase {
            ModelCallPhase::Requested | ModelCallPhase::Running => return None,
            ModelCallPhase::Failed { error } => error.text.clone(),
            ModelCallPhase::Done { reply } => {
                let asks =
                    reply.calls.iter().map(|call| format!("{}({})", call.tool, call.arguments));
                let said = Some(reply.said().to_owned()).filter(|said| !said.is_empty());
                said.into_iter().chain(asks).collect::<Vec<_>>().join(" ")
            }
        };
        // The roles are those of toolyard's own agents.
        let name = if state.watched.is_some() { "model" } else { call.role.name() };
        let input = call.request.messages.last().map_or("", |message| message.text());
        Some(Self::new(call, (name, true), input, &outcome))
    }

    fn new(
        of: &EffectState,
        (name, is_of_model): (&str, bool),
        input: &str,
        outcome: &str,
    ) -> Self {
        let mut hasher = DefaultHasher::new();
        (name, input).hash(&mut hasher);
        let question = hasher.finish();
        outcome.hash(&mut hasher);
        Self {
            id: of.id,
            n: of.n,
            at: of.requested,
            task: of.task,
            name: name.to_owned(),
            is_of_model,
            input: clipped(input, MOST),
            outcome: clipped(outcome, MOST),
            content: hasher.finish(),
            question,
        }
    }
}
