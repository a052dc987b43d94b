//! Rotary position embedding over pairs of neighbours, as in GGUF files of llama models.

use std::ops::Range;

/// Cosine and sine of each position and pair.
pub struct Rotation {
    /// `positions × head/2`.
    turns: Vec<(f32, f32)>,
    /// Numbers in a head; even.
    head: usize,
}

impl Rotation {
    pub fn new(positions: Range<usize>, head: usize, base: f32) -> Self {
        let speed = |pair: usize| f64::from(base).powf(-2.0 * pair as f64 / head as f64);
        let speeds: Vec<f64> = (0..head / 2).map(speed).collect();
        let turns = positions.flat_map(|at| speeds.iter().map(move |speed| at as f64 * speed));
        let turns = turns.map(|angle| (angle.cos() as f32, angle.sin() as f32)).collect();
        Self { turns, head }
    }

    /// Rotates each head of rows of `heads` heads, with one row per position.
    pub fn apply(&self, rows: &mut [f32], heads: usize) {
        let turns = self.turns.chunks_exact(self.head / 2);
        for (row, turns) in rows.chunks_exact_mut(heads * self.head).zip(turns) {
            for head in row.chunks_exact_mut(self.head) {
                for ([a, b], (cos, sin)) in head.as_chunks_mut::<2>().0.iter_mut().zip(turns) {
                    (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_0_stays_and_others_keep_their_length() {
        let rotation = Rotation::new(0..2, 4, 100.0);
        let mut rows = [1.0, 0.0, 3.0, 4.0, 1.0, 0.0, 3.0, 4.0];
        rotation.apply(&mut rows, 1);
        assert_eq!(rows[..4], [1.0, 0.0, 3.0, 4.0]);
        let right = [1.0f32.cos(), 1.0f32.sin()];
        assert!((rows[4] - right[0]).abs() < 1e-6 && (rows[5] - right[1]).abs() < 1e-6);
        assert!((rows[6].hypot(rows[7]) - 5.0).abs() < 1e-5);
    }
}
