//! The numbers that a user may change while an agent runs. Each is declared once, in [`KNOBS`]; the
//! configuration, the screen, the help and the journal all read this table.

mod choice;
mod spec;
mod table;
mod trial_values;

use crate::strategy::Strategy;
use crate::words;
use std::{collections::BTreeMap, fmt};

use crate::finite::Finite;
use serde::{Deserialize, Serialize};

pub use self::{
    choice::{
        Blacklist, CallJudge, Estimation, Judge, KnobChoice, ProbeSchema, Reflect, Retrieve,
        Schemas, Scorer, Speed,
    },
    spec::{KnobKind, KnobReader, KnobSpec, Takes},
    table::{KNOBS, Knob},
};

impl Knob {
    pub fn all() -> impl Iterator<Item = Knob> {
        KNOBS.iter().map(|spec| spec.knob)
    }

    /// The declaration of this knob.
    pub fn spec(self) -> &'static KnobSpec {
        &KNOBS[self as usize]
    }

    /// Why an agent of this strategy never reads this knob; `None`: it does.
    pub fn why_unread(self, strategy: Strategy, knobs: &Knobs) -> Option<&'static str> {
        let reader = self.spec().reader;
        (!(reader.reads)(strategy, knobs.choice::<Retrieve>())).then_some(reader.why_unread)
    }

    pub fn by_name(name: &str) -> Option<Knob> {
        KNOBS.iter().find(|spec| spec.name == name).map(|spec| spec.knob)
    }

    /// The knob of this name; the error suggests the nearest names.
    pub fn named(name: &str) -> Result<Knob, String> {
        Self::by_name(name).ok_or_else(|| {
            if name == "pace" {
                return "the knob pace was replaced by speed: off, or from 1/4 to 16".to_owned();
            }
            let near = words::expected(name, KNOBS.iter().map(|spec| spec.name));
            format!("there is no knob {name}; {near}")
        })
    }
}

impl fmt::Display for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.spec().name)
    }
}

/// The value of every knob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Knobs(BTreeMap<Knob, Finite>);

impl Default for Knobs {
    fn default() -> Self {
        Self(KNOBS.iter().map(|spec| (spec.knob, spec.default.into())).collect())
    }
}

impl Knobs {
    /// A knob missing from an older journal has its default.
    pub fn get(&self, knob: Knob) -> f64 {
        self.0.get(&knob).map_or(knob.spec().default, |value| **value)
    }

    /// The value of a whole-number knob.
    pub fn count(&self, knob: Knob) -> usize {
        self.get(knob) as usize
    }

    /// The value of a knob that is a choice.
    pub fn choice<C: KnobChoice>(&self) -> C {
        // A damaged journal may contain any number.
        C::ALL[self.count(C::KNOB).min(C::ALL.len() - 1)]
    }

    pub fn is_on(&self, knob: Knob) -> bool {
        self.get(knob) != 0.0
    }

    pub fn set(&mut self, knob: Knob, value: f64) {
        self.0.insert(knob, value.into());
    }
}
