//! Model calls, tool calls and embeddings by their numbers, and those in flight.

use crate::event::Lane;
use crate::id::{EffectId, RunId, TaskId};
use crate::state::{
    EffectIndex, EffectState, EmbeddingState, ModelCallState, State, ToolCallState, index,
};

impl State {
    /// The calls that a person made while this task was at work, or after it.
    pub fn calls_by_hand(&self, task: TaskId) -> impl Iterator<Item = EffectId> {
        let is_of_task =
            move |call: &EffectId| self.tool_call(*call).is_some_and(|call| call.task == task);
        self.by_hand.iter().copied().filter(is_of_task)
    }

    /// The run of a lane. A call that a person made belongs to that of the task that was shown.
    pub fn run_of_lane(&self, lane: Lane) -> RunId {
        match lane {
            Lane::Run(run) => run,
            Lane::Effect(id) => {
                self.effect(id).map_or(RunId::FIRST, |effect| self.run_of(effect.task))
            }
        }
    }

    /// Whether a watched agent makes this effect.
    pub fn is_of_guest(&self, id: EffectId) -> bool {
        let run = self.effect(id).map(|effect| self.run_of(effect.task));
        let is_by_hand = self.tool_call(id).is_some_and(ToolCallState::is_by_hand);
        !is_by_hand
            && run.and_then(|run| self.runs.get(&run)).is_some_and(|run| run.guest.is_some())
    }

    /// The common part of the effect with this number.
    pub fn effect(&self, id: EffectId) -> Option<&EffectState> {
        match self.place(id)? {
            EffectIndex::ModelCall(at) => self.model_calls.get(at).map(|call| &call.effect),
            EffectIndex::ToolCall(at) => self.tool_calls.get(at).map(|call| &call.effect),
            EffectIndex::Embedding(at) => {
                self.embeddings.get(at).map(|embedding| &embedding.effect)
            }
        }
    }

    pub fn model_call(&self, id: EffectId) -> Option<&ModelCallState> {
        match self.place(id)? {
            EffectIndex::ModelCall(at) => self.model_calls.get(at),
            EffectIndex::ToolCall(_) | EffectIndex::Embedding(_) => None,
        }
    }

    pub fn tool_call(&self, id: EffectId) -> Option<&ToolCallState> {
        match self.place(id)? {
            EffectIndex::ToolCall(at) => self.tool_calls.get(at),
            EffectIndex::ModelCall(_) | EffectIndex::Embedding(_) => None,
        }
    }

    pub fn embedding(&self, id: EffectId) -> Option<&EmbeddingState> {
        match self.place(id)? {
            EffectIndex::Embedding(at) => self.embeddings.get(at),
            EffectIndex::ModelCall(_) | EffectIndex::ToolCall(_) => None,
        }
    }

    /// Where the state of an effect is stored.
    pub(in crate::state) fn place(&self, id: EffectId) -> Option<EffectIndex> {
        self.effects.get(index(id.0)?).copied()
    }

    /// The effects that currently wait, are held or run, in the order of their numbers.
    pub fn effects_in_flight(&self) -> impl DoubleEndedIterator<Item = &EffectState> {
        self.in_flight.iter().filter_map(|id| self.effect(*id))
    }

    /// The tool calls among them.
    pub fn tool_calls_in_flight(&self) -> impl DoubleEndedIterator<Item = &ToolCallState> {
        self.in_flight.iter().filter_map(|id| self.tool_call(*id))
    }

    /// The model calls among them.
    pub fn model_calls_in_flight(&self) -> impl DoubleEndedIterator<Item = &ModelCallState> {
        self.in_flight.iter().filter_map(|id| self.model_call(*id))
    }
}
