//! The fold of the common part of all effects: cause, times, and holds.

use crate::event::{EffectRef, Lane};
use crate::id::{EffectId, TaskId};
use crate::state::{
    EffectIndex, EffectState, EmbeddingState, Hold, ModelCallState, State, ToolCallState, is_next,
};

impl State {
    /// Requests an effect. `None` if its number is not the next one: effects are looked up by
    /// number, so gaps in a damaged journal are left out.
    pub(super) fn request(
        &mut self,
        at: u64,
        effect: EffectRef,
        task: TaskId,
        place: EffectIndex,
    ) -> Option<EffectState> {
        is_next(effect.id.0, self.effects.len()).then_some(())?;
        self.effects.push(place);
        self.in_flight.push(effect.id);
        self.at_work.note(task);
        Some(EffectState::new(effect, self.n, task, at))
    }

    pub(super) fn start(&mut self, at: u64, effect: EffectRef) {
        if let Some(state) = self.effect_mut(effect.id) {
            state.started = Some(at);
        }
    }

    pub(super) fn end(&mut self, at: u64, effect: EffectRef) {
        self.in_flight.retain(|id| *id != effect.id);
        self.control.asks.retain(|id| *id != effect.id);
        if let Some(state) = self.effect_mut(effect.id) {
            state.ended = Some(at);
            state.origin = effect.origin;
            let task = state.task;
            self.at_work.note(task);
        }
    }

    /// The time held is not part of an effect's own time.
    pub(super) fn charge_hold(&mut self, hold: Hold, until: u64) {
        let held = (hold.since, until);
        match hold.lane {
            Lane::Run(run) => {
                if let Some(task) = self.at_work.of(run).and_then(|id| self.task_mut(id)) {
                    task.held.push(held);
                }
            }
            Lane::Effect(id) => {
                let Some(effect) = self.effect_mut(id) else { return };
                effect.holds.push(held);
                if effect.started.is_some() && effect.ended.is_none() {
                    effect.held = effect.held.saturating_add(until.saturating_sub(hold.since));
                }
            }
        }
    }

    pub(super) fn effect_mut(&mut self, id: EffectId) -> Option<&mut EffectState> {
        match self.place(id)? {
            EffectIndex::ModelCall(at) => self.model_calls.get_mut(at).map(|call| &mut call.effect),
            EffectIndex::ToolCall(at) => self.tool_calls.get_mut(at).map(|call| &mut call.effect),
            EffectIndex::Embedding(at) => {
                self.embeddings.get_mut(at).map(|embed| &mut embed.effect)
            }
        }
    }

    pub(super) fn model_call_mut(&mut self, id: EffectId) -> Option<&mut ModelCallState> {
        match self.place(id)? {
            EffectIndex::ModelCall(at) => self.model_calls.get_mut(at),
            EffectIndex::ToolCall(_) | EffectIndex::Embedding(_) => None,
        }
    }

    pub(super) fn tool_call_mut(&mut self, id: EffectId) -> Option<&mut ToolCallState> {
        match self.place(id)? {
            EffectIndex::ToolCall(at) => self.tool_calls.get_mut(at),
            EffectIndex::ModelCall(_) | EffectIndex::Embedding(_) => None,
        }
    }

    pub(super) fn embedding_mut(&mut self, id: EffectId) -> Option<&mut EmbeddingState> {
        match self.place(id)? {
            EffectIndex::Embedding(at) => self.embeddings.get_mut(at),
            EffectIndex::ModelCall(_) | EffectIndex::ToolCall(_) => None,
        }
    }
}
