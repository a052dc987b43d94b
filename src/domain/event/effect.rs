//! The fields that every event of an effect has: a model call, a tool call or an embedding.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{EffectId, RunId};
use crate::spec::EffectClass;

/// An effect, as its events name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectRef {
    pub id: EffectId,
    /// The effect that caused it: the tool call that a model judges, the model call that broke off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EffectId>,
    /// The lane that it runs in; usually its own, which a journal need not repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<Lane>,
    /// The origin of its outcome.
    #[serde(default, skip_serializing_if = "Origin::is_live")]
    pub origin: Origin,
    /// Class of the effect: what it does to the world.
    pub class: EffectClass,
    /// The line of a program that it belongs to, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl EffectRef {
    /// An effect in a lane of its own, done live.
    pub fn new(id: EffectId, class: EffectClass) -> Self {
        Self { id, parent: None, lane: None, origin: Origin::Live, class, line: None }
    }

    /// The lane that it runs in.
    pub fn lane(&self) -> Lane {
        self.lane.unwrap_or(Lane::Effect(self.id))
    }

    /// The same, caused by another effect.
    #[must_use]
    pub fn caused_by(self, parent: Option<EffectId>) -> Self {
        Self { parent, ..self }
    }

    /// The same, with an outcome from elsewhere.
    #[must_use]
    pub fn from(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

/// The origin of an effect's outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The model or the tool itself.
    #[default]
    Live,
    /// A journal: an earlier session got it from the model or the tool.
    Recorded,
    /// A person answered instead.
    Person,
    /// A fault that was armed.
    Injected,
    /// An identical effect of this session.
    Reused,
    /// The endpoint that ran it, such as a tool of the model's provider.
    Provider,
}

impl Origin {
    pub fn is_live(&self) -> bool {
        *self == Origin::Live
    }
}

/// A unit that can be held, resumed and cancelled alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "LaneInJson", into = "LaneInJson")]
pub enum Lane {
    /// A run between its effects.
    Run(RunId),
    /// An effect in flight.
    Effect(EffectId),
}

impl Lane {
    /// The lane of the run that every session has.
    pub const FIRST: Lane = Lane::Run(RunId::FIRST);
}

/// A lane in a journal. The first run is written as `agent`, as in versions that had only one run.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LaneInJson {
    Agent,
    Run(RunId),
    Effect(EffectId),
}

impl From<LaneInJson> for Lane {
    fn from(lane: LaneInJson) -> Self {
        match lane {
            LaneInJson::Agent => Lane::FIRST,
            LaneInJson::Run(run) => Lane::Run(run),
            LaneInJson::Effect(effect) => Lane::Effect(effect),
        }
    }
}

impl From<Lane> for LaneInJson {
    fn from(lane: Lane) -> Self {
        match lane {
            Lane::Run(run) if run.is_first() => LaneInJson::Agent,
            Lane::Run(run) => LaneInJson::Run(run),
            Lane::Effect(effect) => LaneInJson::Effect(effect),
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lane::Run(run) if run.is_first() => f.pad("the agent"),
            Lane::Run(run) => write!(f, "run {run}"),
            Lane::Effect(effect) => write!(f, "call {effect}"),
        }
    }
}
