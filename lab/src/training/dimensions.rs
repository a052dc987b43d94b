//! Selection of the important dimensions of states (CoTools, section 4.3.4): those with a large weight `w` after
//! training.

use super::batches::shuffled;
use crate::domain::Chance;
use crate::papers::cotools::{BadShape, Matrix, Real, ranking, scores, z_scores};

/// The z-score of each weight: (w − mean) / standard deviation of the population.
pub fn weight_z_scores<R: Real>(w: &[R]) -> Vec<f64> {
    z_scores(&w.iter().map(|w| w.to_f64()).collect::<Vec<_>>())
}

/// The dimensions whose weight is above the mean, in order.
///
/// The paper's threshold is 1. But the overall size of `w` has no effect on scores, and AdamW's
/// decay changes it, so a fixed threshold says little.
pub fn above_mean<R: Real>(w: &[R]) -> Vec<usize> {
    let mean = w.iter().map(|w| w.to_f64()).sum::<f64>() / w.len().max(1) as f64;
    (0..w.len()).filter(|i| w[*i].to_f64() > mean).collect()
}

/// The `count` dimensions with the largest weights, in order; ties go to the first.
pub fn heaviest<R: Real>(w: &[R], count: usize) -> Vec<usize> {
    let weights: Vec<f64> = w.iter().map(|w| w.to_f64()).collect();
    let mut kept = ranking(&weights);
    kept.truncate(count);
    kept.sort_unstable();
    kept
}

/// Random dimensions of `width`, `count` of them, in order: the control, which the paper lacks.
pub fn random(width: usize, count: usize, chance: Chance) -> Vec<usize> {
    let mut kept = shuffled(0..width, chance.with(b"dimensions"));
    kept.truncate(count);
    kept.sort_unstable();
    kept
}

/// Scores of queries and tools, [n, m], from these dimensions of their vectors alone. As in the
/// published code, the vectors are not normalised again.
///
/// # Errors
/// The widths differ, or a dimension is not below the width.
pub fn scores_on<R: Real>(
    queries: &Matrix<R>,
    tools: &Matrix<R>,
    kept: &[usize],
) -> Result<Matrix<R>, BadShape> {
    BadShape::check("width of a tool's vector", tools.cols(), queries.cols())?;
    BadShape::check_rows("kept dimension", kept, queries.cols())?;
    let cut = |vectors: &Matrix<R>| {
        let data = vectors.lines().flat_map(|line| kept.iter().map(|i| line[*i])).collect();
        Matrix::new(vectors.rows(), kept.len(), data)
    };
    scores(&cut(queries)?, &cut(tools)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_is_as_large_and_repeats() {
        let kept = random(20, 8, Chance::new(1));
        assert_eq!(kept, random(20, 8, Chance::new(1)));
        assert_ne!(kept, random(20, 8, Chance::new(2)));
        assert!(kept.is_sorted() && kept.len() == 8 && kept.iter().all(|i| *i < 20));
        assert_eq!(random(3, 9, Chance::new(1)), [0, 1, 2]);
    }

    #[test]
    fn the_heaviest_above_the_mean_are_those_above_the_mean() {
        let w = [0.5_f32, 1.5, 0.9, 1.2, 0.9];
        assert_eq!(above_mean(&w), [1, 3]);
        assert_eq!(heaviest(&w, 2), [1, 3]);
        assert_eq!(heaviest(&w, 3), [1, 2, 3]);
    }

    #[test]
    fn a_dimension_that_is_not_there_is_refused() {
        let vectors = Matrix::<f32>::zeros(2, 3);
        assert!(scores_on(&vectors, &vectors, &[0, 3]).is_err());
        assert_eq!(scores_on(&vectors, &vectors, &[]).unwrap(), Matrix::zeros(2, 2));
    }
}
