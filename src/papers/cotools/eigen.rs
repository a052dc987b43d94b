//! Eigenvectors of a small symmetric matrix.

use super::matrix::Matrix;

/// Sweeps at most. Convergence is quadratic: a matrix of 8 × 8 needs about six.
const SWEEPS: usize = 50;

/// The eigenvectors as rows, the one of the largest eigenvalue first (Jacobi's method).
pub(super) fn eigenvectors(mut matrix: Matrix<f64>) -> Matrix<f64> {
    let size = matrix.rows().min(matrix.cols());
    let mut vectors = Matrix::zeros(size, size);
    (0..size).for_each(|i| vectors.row_mut(i)[i] = 1.0);
    let scale = matrix.data().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for _ in 0..SWEEPS {
        let mut rest = 0.0_f64;
        for p in 0..size {
            for q in p + 1..size {
                rest = rest.max(matrix.row(p)[q].abs());
                turn(&mut matrix, &mut vectors, p, q);
            }
        }
        if rest <= 1e-17 * scale {
            break;
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|a, b| matrix.row(*b)[*b].total_cmp(&matrix.row(*a)[*a]));
    vectors.taken(&order)
}

/// Turns the plane of two axes so that their common element becomes 0.
fn turn(matrix: &mut Matrix<f64>, vectors: &mut Matrix<f64>, p: usize, q: usize) {
    let common = matrix.row(p)[q];
    if common == 0.0 {
        return;
    }
    let theta = (matrix.row(q)[q] - matrix.row(p)[p]) / (2.0 * common);
    // The smaller of the two angles. Squaring may overflow; the angle is then 0.
    let tangent = 1.0_f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for k in 0..matrix.rows() {
        let row = matrix.row_mut(k);
        (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
    }
    for matrix in [matrix, vectors] {
        for k in 0..matrix.cols() {
            let (a, b) = (matrix.row(p)[k], matrix.row(q)[k]);
            matrix.row_mut(p)[k] = cosine * a - sine * b;
            matrix.row_mut(q)[k] = sine * a + cosine * b;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cotools::{
        product::{by_rows, plain},
        real::dot,
    };

    proptest! {
        #[test]
        fn the_vectors_are_orthogonal_and_only_stretched(
            numbers in prop::collection::vec(-3_i8..4, 25), size in 1_usize..6,
        ) {
            let some: Vec<f64> = numbers[..size * size].iter().map(|x| f64::from(*x)).collect();
            let some = Matrix::new(size, size, some).unwrap();
            let symmetric = by_rows(&some, &some);
            let vectors = eigenvectors(symmetric.clone());
            let stretched = plain(&vectors, &symmetric);
            let mut before = f64::INFINITY;
            for (i, (vector, stretched)) in vectors.lines().zip(stretched.lines()).enumerate() {
                let value = dot(vector, stretched);
                prop_assert!(value <= before + 1e-9);
                before = value;
                for (x, y) in vector.iter().zip(stretched) {
                    prop_assert!((x * value - y).abs() < 1e-9, "{x} · {value} is not {y}");
                }
                for (j, other) in vectors.lines().enumerate() {
                    let right = if i == j { 1.0 } else { 0.0 };
                    prop_assert!((dot(vector, other) - right).abs() < 1e-12);
                }
            }
        }
    }
}
