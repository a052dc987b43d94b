//! Products of matrices, which take nearly all the time of training.
//!
//! The loops are plain and safe. They copy both factors into narrow panels, and the innermost loop
//! keeps a block of sums in registers, so that the compiler makes vector instructions of it. With
//! the instructions that every x86-64 processor has, this computes 41 GFLOP/s on one core of a
//! server (64×576 by 576×576); the `matrixmultiply` crate, with AVX-512, computes 145. Training on
//! 999 questions needs about 115 GFLOP, three seconds, so a dependency and `unsafe` calls are not
//! worth it.

use super::{
    matrix::Matrix,
    real::{Real, dot},
};

/// Rows of a block of sums.
const HIGH: usize = 4;

/// Columns of a block of sums.
const WIDE: usize = 8;

/// Terms of a sum that are added before the next part of the factors is copied.
const DEEP: usize = 256;

/// Up to this many rows the inner products are computed one by one: copying the second factor would cost more than the
/// product.
const FEW: usize = 8;

/// A factor whose element (i, k) is at `i · outer + k · inner`; k is the index that is summed over.
#[derive(Clone, Copy)]
struct Factor<'a, R> {
    data: &'a [R],
    count: usize,
    outer: usize,
    inner: usize,
}

/// A·Bᵀ: [n, k] by [m, k] gives [n, m].
pub fn by_rows<R: Real>(a: &Matrix<R>, b: &Matrix<R>) -> Matrix<R> {
    if a.rows() <= FEW {
        let mut out = Matrix::zeros(a.rows(), b.rows());
        for (line, a) in out.lines_mut().zip(a.lines()) {
            line.iter_mut().zip(b.lines()).for_each(|(x, b)| *x = dot(a, b));
        }
        return out;
    }
    multiply(a.cols().min(b.cols()), rows(a), rows(b))
}

/// A·B: [n, k] by [k, m] gives [n, m].
pub fn plain<R: Real>(a: &Matrix<R>, b: &Matrix<R>) -> Matrix<R> {
    multiply(a.cols().min(b.rows()), rows(a), columns(b))
}

/// Aᵀ·B: [k, n] by [k, m] gives [n, m].
pub fn by_columns<R: Real>(a: &Matrix<R>, b: &Matrix<R>) -> Matrix<R> {
    multiply(a.rows().min(b.rows()), columns(a), columns(b))
}

fn rows<R: Real>(m: &Matrix<R>) -> Factor<'_, R> {
    Factor { data: m.data(), count: m.rows(), outer: m.cols(), inner: 1 }
}

fn columns<R: Real>(m: &Matrix<R>) -> Factor<'_, R> {
    Factor { data: m.data(), count: m.cols(), outer: 1, inner: m.cols() }
}

fn multiply<R: Real>(terms: usize, a: Factor<'_, R>, b: Factor<'_, R>) -> Matrix<R> {
    let mut out = Matrix::zeros(a.count, b.count);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for start in (0..terms).step_by(DEEP) {
        let deep = DEEP.min(terms - start);
        pack::<R, HIGH>(a, start, deep, &mut left);
        pack::<R, WIDE>(b, start, deep, &mut right);
        for (q, right) in right.chunks_exact(deep).enumerate() {
            for (p, left) in left.chunks_exact(deep).enumerate() {
                add(&mut out, (p * HIGH, q * WIDE), &block(left, right));
            }
        }
    }
    out
}

/// Copies a part of the factor in panels of `N` rows: `deep` entries each, zeros beyond the last.
fn pack<R: Real, const N: usize>(
    from: Factor<'_, R>,
    start: usize,
    deep: usize,
    panels: &mut Vec<[R; N]>,
) {
    panels.clear();
    panels.resize(from.count.div_ceil(N) * deep, [R::default(); N]);
    for (p, panel) in panels.chunks_exact_mut(deep).enumerate() {
        let first = p * N;
        for lane in 0..N.min(from.count - first) {
            let place = (first + lane) * from.outer + start * from.inner;
            let line = from.data[place..].iter().step_by(from.inner);
            panel.iter_mut().zip(line).for_each(|(entry, x)| entry[lane] = *x);
        }
    }
}

/// The sums of one block.
fn block<R: Real>(left: &[[R; HIGH]], right: &[[R; WIDE]]) -> [[R; WIDE]; HIGH] {
    let mut sums = [[R::default(); WIDE]; HIGH];
    for (a, b) in left.iter().zip(right) {
        for i in 0..HIGH {
            for j in 0..WIDE {
                sums[i][j] += a[i] * b[j];
            }
        }
    }
    sums
}

/// Adds a block to the product, without the parts beyond its edges.
fn add<R: Real>(out: &mut Matrix<R>, (top, left): (usize, usize), sums: &[[R; WIDE]; HIGH]) {
    for (row, sums) in (top..out.rows()).zip(sums) {
        out.row_mut(row)[left..].iter_mut().zip(sums).for_each(|(x, sum)| *x += *sum);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(n: usize, m: usize, k: usize, term: impl Fn(usize, usize, usize) -> f64) -> Vec<f64> {
        let at = |i: usize| (0..k).map(|t| term(i / m, i % m, t)).sum();
        (0..n * m).map(at).collect()
    }

    fn numbers(rows: usize, cols: usize, salt: usize) -> Matrix<f64> {
        let number = |i: usize| ((i * 37 + salt * 11) % 19) as f64 - 9.0;
        Matrix::new(rows, cols, (0..rows * cols).map(number).collect()).unwrap()
    }

    proptest! {
        // Whole numbers are exact in any order of sums.
        #[test]
        fn products_are_those_of_the_definition(
            n in 1_usize..21, m in 1_usize..21, k in prop_oneof![1_usize..9, 250_usize..270],
        ) {
            let (a, b) = (numbers(n, k, 1), numbers(m, k, 2));
            let right = naive(n, m, k, |i, j, t| a.row(i)[t] * b.row(j)[t]);
            prop_assert_eq!(by_rows(&a, &b).data().to_vec(), right);
            let (a, b) = (numbers(n, k, 3), numbers(k, m, 4));
            let right = naive(n, m, k, |i, j, t| a.row(i)[t] * b.row(t)[j]);
            prop_assert_eq!(plain(&a, &b).data().to_vec(), right);
            let (a, b) = (numbers(k, n, 5), numbers(k, m, 6));
            let right = naive(n, m, k, |i, j, t| a.row(t)[i] * b.row(t)[j]);
            prop_assert_eq!(by_columns(&a, &b).data().to_vec(), right);
        }
    }

    #[test]
    fn an_empty_product_is_empty_or_zero() {
        let (none, some) = (Matrix::<f32>::zeros(0, 3), Matrix::zeros(9, 3));
        assert_eq!(by_rows(&none, &some), Matrix::zeros(0, 9));
        assert_eq!(by_columns(&none, &none), Matrix::zeros(3, 3));
        assert_eq!(by_rows(&some, &none), Matrix::zeros(9, 0));
    }
}
