//! Weights fixed by the user.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::ToolName;

/// Fixed weights by edge. A pin replaces one weight and does not change the rest of its row, so a
/// row with pins need not sum to 1. A pin on a missing edge has no effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Pin>", into = "Vec<Pin>")]
pub struct Pins(BTreeMap<ToolName, BTreeMap<ToolName, f64>>);

/// Pin, as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pin {
    from: ToolName,
    to: ToolName,
    weight: f64,
}

/// A weight that cannot be pinned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{from} to {to}: {weight} is not a weight; expected a number from 0 to 1")]
pub struct PinError {
    pub from: ToolName,
    pub to: ToolName,
    pub weight: f64,
}

impl Pins {
    pub fn new() -> Self {
        Self::default()
    }

    /// The weight that this edge is pinned to.
    pub fn get(&self, from: &str, to: &str) -> Option<f64> {
        self.0.get(from)?.get(to).copied()
    }

    /// Pins a weight and returns the previous pin.
    ///
    /// # Errors
    /// Where the weight is not from 0 to 1; nothing changes in that case.
    pub fn set(
        &mut self,
        from: ToolName,
        to: ToolName,
        weight: f64,
    ) -> Result<Option<f64>, PinError> {
        if !(0.0..=1.0).contains(&weight) {
            return Err(PinError { from, to, weight });
        }
        Ok(self.0.entry(from).or_default().insert(to, weight))
    }

    /// Removes a pin and returns its weight.
    pub fn remove(&mut self, from: &str, to: &str) -> Option<f64> {
        let row = self.0.get_mut(from)?;
        let weight = row.remove(to);
        if row.is_empty() {
            self.0.remove(from);
        }
        weight
    }

    /// The pins of one row, by name.
    pub fn row(&self, from: &str) -> impl Iterator<Item = (&ToolName, f64)> {
        self.0.get(from).into_iter().flatten().map(|(to, &weight)| (to, weight))
    }

    /// All pins as (from, to, weight), by name.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolName, &ToolName, f64)> {
        self.0
            .iter()
            .flat_map(|(from, row)| row.iter().map(move |(to, &weight)| (from, to, weight)))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<Vec<Pin>> for Pins {
    type Error = PinError;

    fn try_from(list: Vec<Pin>) -> Result<Self, PinError> {
        let mut pins = Self::new();
        for Pin { from, to, weight } in list {
            pins.set(from, to, weight)?;
        }
        Ok(pins)
    }
}

impl From<Pins> for Vec<Pin> {
    fn from(pins: Pins) -> Self {
        pins.iter()
            .map(|(from, to, weight)| Pin { from: from.clone(), to: to.clone(), weight })
            .collect()
    }
}
