//! The gradient of the gated perceptron, written by hand.

use crate::papers::cotools::product::{by_columns, plain};
use crate::papers::cotools::{Matrix, Mlp, Pass, Real, sigmoid};

/// The gradient of a loss with respect to the weights, summed over the rows of `states`.
///
/// `pass` is the forward pass of the same states, and `by_out` is the gradient with respect to its output.
/// With g = Wgate·h, u = Wup·h and a = silu(g) ⊙ u:
///
/// ```text
/// ∂Wdown = ∂outᵀ·a    ∂a = ∂out·Wdown    ∂u = ∂a ⊙ silu(g)    ∂Wup = ∂uᵀ·h
/// ∂g = ∂a ⊙ u ⊙ silu'(g)    silu'(g) = σ(g)·(1 + g·(1 − σ(g)))    ∂Wgate = ∂gᵀ·h
/// ```
///
/// The language model is frozen, so the gradient with respect to `states` is not needed.
pub fn gradient<R: Real>(
    mlp: &Mlp<R>,
    states: &Matrix<R>,
    pass: &Pass<R>,
    by_out: &Matrix<R>,
) -> Mlp<R> {
    let mut by_gate = plain(by_out, mlp.down());
    let mut by_up = by_gate.clone();
    let values = pass.gate.data().iter().zip(pass.up.data());
    let both = by_gate.data_mut().iter_mut().zip(by_up.data_mut());
    for ((by_gate, by_up), (gate, up)) in both.zip(values) {
        let share = sigmoid(*gate);
        let one = R::of(1.0);
        *by_up *= *gate * share;
        *by_gate *= *up * share * (one + *gate * (one - share));
    }
    Mlp::of_gradient(
        by_columns(&by_gate, states),
        by_columns(&by_up, states),
        by_columns(by_out, &pass.product),
    )
}
