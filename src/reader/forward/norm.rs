//! Normalisation by the root mean square.

use crate::kernel::{KernelWork, Lanes, dot};

/// Writes `x / sqrt(mean(x²) + ε) ⊙ weights` for each row `x` to `out`.
pub struct Normalization<'a> {
    /// Rows as long as `weights`.
    pub rows: &'a [f32],
    pub weights: &'a [f32],
    pub epsilon: f32,
    pub out: &'a mut Vec<f32>,
}

impl KernelWork for Normalization<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let width = self.weights.len();
        self.out.clear();
        self.out.resize(self.rows.len(), 0.0);
        let rows = self.rows.chunks_exact(width).zip(self.out.chunks_exact_mut(width));
        for (row, out) in rows {
            let square = dot::<L>(row, row) / width as f32;
            let scale = 1.0 / (square + self.epsilon).sqrt();
            for ((out, x), weight) in out.iter_mut().zip(row).zip(self.weights) {
                *out = x * scale * weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;

    #[test]
    fn a_row_is_divided_by_its_root_mean_square() {
        let (rows, weights, mut out) = ([3.0, 4.0, 0.0, 0.0], [1.0, 0.5], Vec::new());
        let work = Normalization { rows: &rows, weights: &weights, epsilon: 1e-9, out: &mut out };
        Kernel::fastest().run(work);
        let right = [3.0 / 12.5f32.sqrt(), 2.0 / 12.5f32.sqrt(), 0.0, 0.0];
        assert!(out.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-6), "{out:?}");
    }
}
