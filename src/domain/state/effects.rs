//! The common part of all effects: cause, times, and holds.

use serde::{Deserialize, Serialize};

use crate::event::{EffectRef, Lane, Origin};
use crate::id::{EffectId, FaultId, TaskId};
use crate::spec::EffectClass;

/// The part of an effect that does not depend on its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectState {
    pub id: EffectId,
    /// The event that requested it.
    pub n: u64,
    /// The effect that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EffectId>,
    pub task: TaskId,
    pub lane: Lane,
    pub origin: Origin,
    pub class: EffectClass,
    /// The line of a program that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// Number of edits by a person, without those that were undone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub edits: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Where the state of an effect is stored: its index among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectIndex {
    ModelCall(usize),
    ToolCall(usize),
    Embedding(usize),
}

impl EffectState {
    pub(super) fn new(effect: EffectRef, n: u64, task: TaskId, requested: u64) -> Self {
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
            edits: 0,
        }
    }

    /// The reference that its events use.
    pub fn reference(&self) -> EffectRef {
        let Self { id, parent, lane, origin, class, line, .. } = *self;
        let lane = (lane != Lane::Effect(id)).then_some(lane);
        EffectRef { id, parent, lane, origin, class, line }
    }

    /// Returns the duration from the start to the end or to `now`, without the time it was held, in microseconds; 0
    /// before the start.
    pub fn elapsed(&self, now: u64) -> u64 {
        let took = |started: u64| self.ended.unwrap_or(now).saturating_sub(started);
        self.started.map_or(0, took).saturating_sub(self.held)
    }

    pub fn is_over(&self) -> bool {
        self.ended.is_some()
    }
}
