//! The gate of the feed-forward network.

use crate::kernel::{KernelWork, Lanes};

/// Replaces `gate` by `silu(gate) ⊙ up`, with `silu(x) = x / (1 + e⁻ˣ)`.
pub struct SwiGlu<'a> {
    pub gate: &'a mut [f32],
    pub up: &'a [f32],
}

impl KernelWork for SwiGlu<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (gate, up) in self.gate.iter_mut().zip(self.up) {
            *gate = *gate / (1.0 + (-*gate).exp()) * up;
        }
    }
}
