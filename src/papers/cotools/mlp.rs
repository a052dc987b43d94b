//! The gated perceptron of every head.

use super::{
    matrix::{BadShape, Matrix},
    product::by_rows,
    real::{Real, sigmoid},
};
use crate::domain::Chance;

/// A gated perceptron without bias (CoTools, eq. 3, 6 and 8):
///
/// ```text
/// mlp(h) = Wdown · ( silu(Wgate·h) ⊙ (Wup·h) )        silu(x) = x · σ(x)
/// ```
///
/// Its gradient has the same shape, and is a value of this type too.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp<R> {
    /// [hidden, width].
    gate: Matrix<R>,
    /// [hidden, width].
    up: Matrix<R>,
    /// [out, hidden].
    down: Matrix<R>,
}

/// The values inside one forward pass, which the gradient needs. One row per input.
pub struct Pass<R> {
    /// Wgate·h.
    pub gate: Matrix<R>,
    /// Wup·h.
    pub up: Matrix<R>,
    /// silu(Wgate·h) ⊙ (Wup·h).
    pub product: Matrix<R>,
    pub out: Matrix<R>,
}

impl<R: Real> Mlp<R> {
    /// # Errors
    /// The shapes are not those of the fields' descriptions.
    pub fn new(gate: Matrix<R>, up: Matrix<R>, down: Matrix<R>) -> Result<Self, BadShape> {
        BadShape::check("rows of up", up.rows(), gate.rows())?;
        BadShape::check("columns of up", up.cols(), gate.cols())?;
        BadShape::check("columns of down", down.cols(), gate.rows())?;
        Ok(Self { gate, up, down })
    }

    /// Start values: uniform in ±1/√(number of inputs), as PyTorch draws those of its `Linear`.
    pub fn start(width: usize, hidden: usize, out: usize, chance: Chance) -> Self {
        let matrix = |name: &str, rows: usize, cols: usize| {
            let chance = chance.with(name.as_bytes());
            let bound = 1.0 / (cols.max(1) as f64).sqrt();
            let mut matrix = Matrix::zeros(rows, cols);
            for (x, n) in matrix.data_mut().iter_mut().zip(0_u64..) {
                *x = R::of((2.0 * chance.with(&n.to_le_bytes()).unit() - 1.0) * bound);
            }
            matrix
        };
        Self {
            gate: matrix("gate", hidden, width),
            up: matrix("up", hidden, width),
            down: matrix("down", out, hidden),
        }
    }

    pub fn of_gradient(gate: Matrix<R>, up: Matrix<R>, down: Matrix<R>) -> Self {
        Self { gate, up, down }
    }

    /// Numbers in a state.
    pub fn width(&self) -> usize {
        self.gate.cols()
    }

    /// D of the paper.
    pub fn hidden(&self) -> usize {
        self.gate.rows()
    }

    /// Numbers in an output.
    pub fn out(&self) -> usize {
        self.down.rows()
    }

    /// Wgate, [hidden, width].
    pub fn gate(&self) -> &Matrix<R> {
        &self.gate
    }

    /// Wup, [hidden, width].
    pub fn up(&self) -> &Matrix<R> {
        &self.up
    }

    /// Wdown, [out, hidden].
    pub fn down(&self) -> &Matrix<R> {
        &self.down
    }

    /// The weights: gate, up, down.
    pub fn weights(&self) -> [&[R]; 3] {
        [self.gate.data(), self.up.data(), self.down.data()]
    }

    pub fn weights_mut(&mut self) -> [&mut [R]; 3] {
        [self.gate.data_mut(), self.up.data_mut(), self.down.data_mut()]
    }

    /// Adds a gradient of the same shape.
    pub fn add(&mut self, other: &Self) {
        for (part, other) in self.weights_mut().into_iter().zip(other.weights()) {
            part.iter_mut().zip(other).for_each(|(x, y)| *x += *y);
        }
    }

    /// [n, width] to [n, out], with all values on the way.
    pub fn pass(&self, states: &Matrix<R>) -> Pass<R> {
        let (gate, up) = (by_rows(states, &self.gate), by_rows(states, &self.up));
        let mut product = gate.clone();
        for (x, up) in product.data_mut().iter_mut().zip(up.data()) {
            *x = *x * sigmoid(*x) * *up;
        }
        let out = by_rows(&product, &self.down);
        Pass { gate, up, product, out }
    }
}
