//! AdamW (Loshchilov and Hutter 2019), as PyTorch computes it.

use crate::papers::cotools::Real;

/// The settings that never change.
const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The optimiser of one group of weights.
///
/// ```text
/// θ ← θ·(1 − lr·decay)
/// m ← β₁·m + (1 − β₁)·g      v ← β₂·v + (1 − β₂)·g²
/// θ ← θ − lr · m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε)
/// ```
///
/// The decay also shrinks a weight that has no gradient.
#[derive(Clone, Debug)]
pub struct AdamW<R> {
    lr: f64,
    decay: f64,
    /// The share of `lr` that is used now.
    share: f64,
    steps: i32,
    /// m and v of each weight.
    moments: Vec<(R, R)>,
}

impl<R: Real> AdamW<R> {
    /// An optimiser for this many weights. `lr` is the learning rate, above 0; `decay` is 0 or more.
    pub fn new(weights: usize, lr: f64, decay: f64) -> Self {
        Self { lr, decay, share: 1.0, steps: 0, moments: vec![Default::default(); weights] }
    }

    /// Uses only this share of the learning rate from now on, 0 to 1.
    pub fn slow_down(&mut self, share: f64) {
        self.share = share;
    }

    /// Changes the weights by one step along their gradient. The lists come in the same order each
    /// time.
    pub fn step<const N: usize>(&mut self, weights: [&mut [R]; N], gradient: [&[R]; N]) {
        self.steps = self.steps.saturating_add(1);
        let lr = self.lr * self.share;
        let shrink = R::of(1.0 - lr * self.decay);
        let (keep_1, keep_2) = (R::of(BETA_1), R::of(BETA_2));
        let (new_1, new_2) = (R::of(1.0 - BETA_1), R::of(1.0 - BETA_2));
        let rate = R::of(lr / (1.0 - BETA_1.powi(self.steps)));
        let root = R::of((1.0 - BETA_2.powi(self.steps)).sqrt());
        let epsilon = R::of(EPSILON);
        let weights = weights.into_iter().flatten();
        let gradient = gradient.into_iter().flatten();
        for ((x, g), (m, v)) in weights.zip(gradient).zip(&mut self.moments) {
            *m = keep_1 * *m + new_1 * *g;
            *v = keep_2 * *v + new_2 * *g * *g;
            *x = *x * shrink - rate * *m / (v.sqrt() / root + epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_without_gradient_only_decays() {
        let mut adamw = AdamW::<f64>::new(1, 0.1, 0.01);
        let mut w = [1.0];
        for _ in 0..990 {
            adamw.step([&mut w], [&[0.0]]);
        }
        // The paper's 990 steps on KAMEL at its learning rate of 0.1.
        assert!((w[0] - 0.371).abs() < 1e-3, "{w:?}");
    }

    #[test]
    fn the_first_step_is_the_learning_rate_whatever_the_gradient() {
        let mut adamw = AdamW::<f64>::new(3, 0.01, 0.0);
        let (mut a, mut b) = ([1.0, 1.0], [1.0]);
        adamw.step([&mut a, &mut b], [&[1e-3, -50.0], &[7.0]]);
        for (x, right) in a.iter().chain(&b).zip([0.99, 1.01, 0.99]) {
            assert!((x - right).abs() < 1e-6, "{x}");
        }
    }
}
