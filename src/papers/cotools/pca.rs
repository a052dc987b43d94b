//! Two axes for a map of vectors: principal component analysis.

use super::{
    eigen::eigenvectors,
    matrix::{BadShape, Matrix},
    product::{by_columns, by_rows, plain},
    real::{Real, dot, length},
};
use crate::domain::Chance;

/// The two directions of largest variance.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    mean: Vec<f64>,
    axes: [Vec<f64>; 2],
    explained: [f64; 2],
}

/// Directions that are followed at once. The third and later ones speed up the first two.
const FOLLOWED: usize = 8;

/// Rounds at most. Only nearly equal variances need as many, and then any two directions between
/// them make an equally good map.
const ROUNDS: usize = 200;

/// The greatest change of a number of an axis in the last round.
const SETTLED: f64 = 1e-10;

impl Map {
    /// From vectors, [n, width]. An axis without variance is zeros.
    ///
    /// The axes are found by orthogonal iteration: multiply some directions by the covariance, make
    /// them orthogonal, turn them to the best axes of the space that they span, and repeat. The
    /// covariance itself is never computed.
    pub fn of<R: Real>(vectors: &Matrix<R>) -> Self {
        let mean: Vec<f64> = vectors.mean().into_iter().map(R::to_f64).collect();
        let centred = centred(vectors, &mean);
        let mut axes = start(vectors.cols());
        for _ in 0..ROUNDS {
            let next = advance(&centred, &axes);
            let settled = (0..next.rows().min(2)).all(|i| same_axis(next.row(i), axes.row(i)));
            axes = next;
            if settled {
                break;
            }
        }
        let total: f64 = centred.data().iter().map(|x| x * x).sum();
        let found = [0, 1].map(|i| axis(&centred, &axes, i, total));
        let explained = [found[0].1, found[1].1];
        Self { mean, axes: found.map(|(axis, _)| axis), explained }
    }

    /// Two directions of length 1. The entry of largest magnitude is positive, so that the map does
    /// not flip.
    pub fn axes(&self) -> &[Vec<f64>; 2] {
        &self.axes
    }

    /// The share of the variance along each axis, 0 to 1.
    pub fn explained(&self) -> [f64; 2] {
        self.explained
    }

    /// The place of a vector on the map: of those that made it, or of another.
    ///
    /// # Errors
    /// It has another width.
    pub fn place<R: Real>(&self, vector: &[R]) -> Result<[f64; 2], BadShape> {
        BadShape::check("width of a vector", vector.len(), self.mean.len())?;
        let along = |axis: &Vec<f64>| -> f64 {
            let centred = vector.iter().zip(&self.mean).map(|(x, mean)| x.to_f64() - mean);
            centred.zip(axis).map(|(x, axis)| x * axis).sum()
        };
        Ok([along(&self.axes[0]), along(&self.axes[1])])
    }
}

fn centred<R: Real>(vectors: &Matrix<R>, mean: &[f64]) -> Matrix<f64> {
    let mut centred = Matrix::zeros(vectors.rows(), vectors.cols());
    for (line, vector) in centred.lines_mut().zip(vectors.lines()) {
        let numbers = vector.iter().zip(mean).map(|(x, mean)| x.to_f64() - mean);
        line.iter_mut().zip(numbers).for_each(|(x, number)| *x = number);
    }
    centred
}

/// Directions that no data is orthogonal to, as rows.
fn start(width: usize) -> Matrix<f64> {
    let chance = Chance::new(0).with(b"pca");
    let mut rows = Matrix::zeros(FOLLOWED.min(width), width);
    for (x, n) in rows.data_mut().iter_mut().zip(0_u64..) {
        *x = chance.with(&n.to_le_bytes()).unit() - 0.5;
    }
    orthogonal(rows)
}

/// One round. Directions without variance become zeros.
fn advance(centred: &Matrix<f64>, axes: &Matrix<f64>) -> Matrix<f64> {
    let axes = orthogonal(by_columns(&by_rows(centred, axes), centred));
    let along = by_rows(centred, &axes);
    plain(&eigenvectors(by_columns(&along, &along)), &axes)
}

/// Whether two directions are the same, whatever their signs.
fn same_axis(one: &[f64], other: &[f64]) -> bool {
    let sign = dot(one, other).signum();
    one.iter().zip(other).all(|(x, y)| (x - sign * y).abs() <= SETTLED)
}

/// Rows of length 1 at right angles to each other, which span the same space (Gram and Schmidt).
fn orthogonal(mut rows: Matrix<f64>) -> Matrix<f64> {
    for i in 0..rows.rows() {
        let mut row = rows.row(i).to_vec();
        let before = length(&row);
        // Once more, because rounding errors leave a part along the others.
        for j in (0..i).chain(0..i) {
            let part = dot(&row, rows.row(j));
            row.iter_mut().zip(rows.row(j)).for_each(|(x, other)| *x -= part * other);
        }
        let after = length(&row);
        let factor = if after > 1e-10 * before { 1.0 / after } else { 0.0 };
        rows.row_mut(i).iter_mut().zip(row).for_each(|(x, y)| *x = y * factor);
    }
    rows
}

/// An axis with its sign fixed, and its share of the variance.
fn axis(centred: &Matrix<f64>, axes: &Matrix<f64>, i: usize, total: f64) -> (Vec<f64>, f64) {
    let none = || (vec![0.0; axes.cols()], 0.0);
    if i >= axes.rows() || total <= 0.0 {
        return none();
    }
    let mut axis = axes.row(i).to_vec();
    let variance: f64 = centred.lines().map(|line| dot(line, &axis).powi(2)).sum();
    // Rounding errors are not a variance.
    if variance <= 1e-20 * total {
        return none();
    }
    let largest = axis.iter().fold(0.0_f64, |most, x| if x.abs() > most.abs() { *x } else { most });
    axis.iter_mut().for_each(|x| *x *= largest.signum());
    (axis, variance / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_axis_and_a_point_none() {
        let line = Matrix::of_rows(&[[0.0_f32, 0.0], [-3.0, 4.0], [-6.0, 8.0]]).unwrap();
        let map = Map::of(&line);
        assert!((map.axes()[0][0] + 0.6).abs() < 1e-9 && (map.axes()[0][1] - 0.8).abs() < 1e-9);
        assert_eq!(map.axes()[1], [0.0, 0.0]);
        assert!((map.explained()[0] - 1.0).abs() < 1e-12);
        assert!((map.place(&[-9.0_f32, 12.0]).unwrap()[0] - 10.0).abs() < 1e-9);
        assert!(map.place(&[1.0_f32]).is_err());

        let point = Map::of(&Matrix::of_rows(&[[1.0_f32, 2.0], [1.0, 2.0]]).unwrap());
        assert_eq!((point.explained(), point.place(&[1.0_f32, 2.0])), ([0.0; 2], Ok([0.0; 2])));
        assert_eq!(Map::of(&Matrix::<f32>::zeros(0, 3)).explained(), [0.0; 2]);
        assert_eq!(Map::of(&Matrix::<f32>::zeros(3, 0)).explained(), [0.0; 2]);
        assert_eq!(Map::of(&Matrix::of_rows(&[[1.0_f32], [2.0]]).unwrap()).explained(), [1.0, 0.0]);
    }

    #[test]
    fn the_axes_are_those_of_the_largest_variance() {
        // Independent numbers whose deviation falls from dimension to dimension.
        let chance = Chance::new(3);
        let mut vectors = Matrix::<f64>::zeros(400, 30);
        for (n, x) in vectors.data_mut().iter_mut().enumerate() {
            let draw = chance.with(&(n as u64).to_le_bytes()).unit() - 0.5;
            *x = draw * 0.8_f64.powi((n % 30) as i32);
        }
        let map = Map::of(&vectors);
        let [first, second] = map.axes();
        assert!(first[0] > 0.9 && second[1] > 0.9, "{first:?} {second:?}");
        assert!(dot(first, second).abs() < 1e-9);
        // The covariance only stretches an axis.
        let centred = centred(&vectors, &map.mean);
        for axis in map.axes() {
            let row = Matrix::of_rows(&[axis]).unwrap();
            let stretched = by_columns(&by_rows(&centred, &row), &centred);
            let along = dot(stretched.data(), axis);
            for (x, y) in axis.iter().zip(stretched.data()) {
                assert!((x * along - y).abs() < 1e-6 * along, "{x} {y}");
            }
        }
    }
}
