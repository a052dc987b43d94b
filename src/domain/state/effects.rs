//! The common part of all effects: cause, times, and holds.

use serde::Serialize;

use super::{EmbeddingState, Hold, ModelCallState, State, ToolCallState, index, is_next};
use crate::domain::event::{EffectRef, Lane, Origin};
use crate::domain::id::{EffectId, FaultId, TaskId};
use crate::domain::spec::EffectClass;

/// The part of an effect that does not depend on its kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectState {
    pub id: EffectId,
    /// The event that requested it.
    pub n: u64,
    /// The effect that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<EffectId>,
    pub task: TaskId,
    pub lane: Lane,
    pub origin: Origin,
    pub class: EffectClass,
    /// The line of a program that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The fault that fired on it, if any.
    pub injected: Option<FaultId>,
    /// Microseconds since the session was opened.
    pub requested: u64,
    pub started: Option<u64>,
    pub ended: Option<u64>,
    /// Microseconds for which the user held it after its start; excluded from its own time.
    pub held: u64,
    /// The intervals in which it was held, including those before its start and after its end, in
    /// microseconds since the session was opened. A current hold is in [`super::Control::held`].
    pub holds: Vec<(u64, u64)>,
}

/// Where the state of an effect is stored: its index among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    ModelCall(usize),
    ToolCall(usize),
    Embedding(usize),
}

impl EffectState {
    fn new(effect: EffectRef, n: u64, task: TaskId, requested: u64) -> Self {
        let EffectRef { id, parent, origin, class, line, .. } = effect;
        let lane = effect.lane();
        Self {
            id,
            n,
            parent,
            task,
            lane,
            origin,
            class,
            line,
            injected: None,
            requested,
            started: None,
            ended: None,
            held: 0,
            holds: Vec::new(),
        }
    }

    /// The reference that its events use.
    pub fn reference(&self) -> EffectRef {
        let Self { id, parent, lane, origin, class, line, .. } = *self;
        let lane = (lane != Lane::Effect(id)).then_some(lane);
        EffectRef { id, parent, lane, origin, class, line }
    }

    /// Its duration since the start, or until `now`, without the time it was held, in microseconds;
    /// 0 before the start.
    pub fn elapsed(&self, now: u64) -> u64 {
        let took = |started: u64| self.ended.unwrap_or(now).saturating_sub(started);
        self.started.map_or(0, took).saturating_sub(self.held)
    }

    pub fn is_over(&self) -> bool {
        self.ended.is_some()
    }
}

impl State {
    /// The common part of the effect with this number.
    pub fn effect(&self, id: EffectId) -> Option<&EffectState> {
        match self.place(id)? {
            Place::ModelCall(at) => self.model_calls.get(at).map(|call| &call.effect),
            Place::ToolCall(at) => self.tool_calls.get(at).map(|call| &call.effect),
            Place::Embedding(at) => self.embeddings.get(at).map(|embedding| &embedding.effect),
        }
    }

    pub fn model_call(&self, id: EffectId) -> Option<&ModelCallState> {
        match self.place(id)? {
            Place::ModelCall(at) => self.model_calls.get(at),
            Place::ToolCall(_) | Place::Embedding(_) => None,
        }
    }

    pub fn tool_call(&self, id: EffectId) -> Option<&ToolCallState> {
        match self.place(id)? {
            Place::ToolCall(at) => self.tool_calls.get(at),
            Place::ModelCall(_) | Place::Embedding(_) => None,
        }
    }

    pub fn embedding(&self, id: EffectId) -> Option<&EmbeddingState> {
        match self.place(id)? {
            Place::Embedding(at) => self.embeddings.get(at),
            Place::ModelCall(_) | Place::ToolCall(_) => None,
        }
    }

    pub(super) fn place(&self, id: EffectId) -> Option<Place> {
        self.effects.get(index(id.0)?).copied()
    }

    fn effect_mut(&mut self, id: EffectId) -> Option<&mut EffectState> {
        match self.place(id)? {
            Place::ModelCall(at) => self.model_calls.get_mut(at).map(|call| &mut call.effect),
            Place::ToolCall(at) => self.tool_calls.get_mut(at).map(|call| &mut call.effect),
            Place::Embedding(at) => self.embeddings.get_mut(at).map(|embed| &mut embed.effect),
        }
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

    /// Requests an effect. `None` if its number is not the next one: effects are looked up by
    /// number, so gaps in a damaged journal are left out.
    pub(super) fn request(
        &mut self,
        at: u64,
        effect: EffectRef,
        task: TaskId,
        place: Place,
    ) -> Option<EffectState> {
        is_next(effect.id.0, self.effects.len()).then_some(())?;
        self.effects.push(place);
        self.in_flight.push(effect.id);
        Some(EffectState::new(effect, self.n, task, at))
    }

    pub(super) fn start(&mut self, at: u64, effect: EffectRef) {
        if let Some(state) = self.effect_mut(effect.id) {
            state.started = Some(at);
        }
        self.count_late_occasions(effect.id);
    }

    pub(super) fn end(&mut self, at: u64, effect: EffectRef) {
        self.in_flight.retain(|id| *id != effect.id);
        if let Some(state) = self.effect_mut(effect.id) {
            state.ended = Some(at);
            state.origin = effect.origin;
        }
    }

    /// A fault fired on an effect.
    pub(super) fn inject(&mut self, effect: EffectRef, fault: FaultId) {
        if let Some(state) = self.effect_mut(effect.id) {
            state.injected = Some(fault);
        }
        if let Some(fault) = self.faults.get_mut(&fault) {
            fault.fired += 1;
        }
    }

    /// The time held is not part of an effect's own time.
    pub(super) fn charge_hold(&mut self, hold: Hold, until: u64) {
        if let Lane::Effect(id) = hold.lane
            && let Some(effect) = self.effect_mut(id)
        {
            effect.holds.push((hold.since, until));
            if effect.started.is_some() && effect.ended.is_none() {
                effect.held = effect.held.saturating_add(until.saturating_sub(hold.since));
            }
        }
    }
}
