//! When the optimiser steps, if it steps only every `k` batches.

use serde::{Deserialize, Serialize};

/// A rule for accumulated gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The published code: a step after batch i if i is a multiple of k. The first step sees one
    /// batch, the rest of an epoch joins the first step of the next, the rest of the last epoch is
    /// lost, and gradients are summed, not averaged.
    Published,
    /// A step after every k batches and at the end of the epoch, with the mean gradient.
    EveryK,
}

impl Schedule {
    /// Whether a step follows this batch, of 0 to `batches` − 1 in the epoch.
    pub fn steps_after(self, batch: usize, batches: usize, k: usize) -> bool {
        let k = k.max(1);
        match self {
            Self::Published => batch.is_multiple_of(k),
            Self::EveryK => (batch + 1).is_multiple_of(k) || batch + 1 == batches,
        }
    }

    /// The factor of a sum of gradients over `batches` batches.
    pub fn factor(self, batches: usize) -> f64 {
        match self {
            Self::Published => 1.0,
            Self::EveryK => 1.0 / batches.max(1) as f64,
        }
    }
}
