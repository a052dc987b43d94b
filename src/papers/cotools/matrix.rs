//! A matrix, row after row.

use thiserror::Error;

use super::real::Real;

/// A matrix of `rows` × `cols` numbers. States are one row per text or token.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix<R> {
    rows: usize,
    cols: usize,
    data: Vec<R>,
}

/// Numbers that do not have the shape that a head needs.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadShape {
    /// A wrong length or width.
    #[error("{what}: {found}, expected {expected}")]
    Unequal { what: &'static str, found: usize, expected: usize },
    /// An index that should name a row, from 0.
    #[error("{what}: there is no row {row}, only {rows}")]
    NoSuchRow { what: &'static str, row: usize, rows: usize },
}

impl BadShape {
    /// `Ok` if both numbers are equal.
    pub fn check(what: &'static str, found: usize, expected: usize) -> Result<(), Self> {
        if found == expected { Ok(()) } else { Err(Self::Unequal { what, found, expected }) }
    }

    /// `Ok` if each of `named` is below `rows`.
    pub fn check_rows(what: &'static str, named: &[usize], rows: usize) -> Result<(), Self> {
        match named.iter().find(|row| **row >= rows) {
            Some(&row) => Err(Self::NoSuchRow { what, row, rows }),
            None => Ok(()),
        }
    }
}

impl<R: Real> Matrix<R> {
    /// # Errors
    /// The data does not hold `rows` × `cols` numbers.
    pub fn new(rows: usize, cols: usize, data: Vec<R>) -> Result<Self, BadShape> {
        BadShape::check("numbers of a matrix", data.len(), rows.saturating_mul(cols))?;
        Ok(Self { rows, cols, data })
    }

    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![R::default(); rows * cols] }
    }

    /// # Errors
    /// A row does not have the length of the first.
    pub fn of_rows<T: AsRef<[R]>>(rows: &[T]) -> Result<Self, BadShape> {
        let cols = rows.first().map_or(0, |row| row.as_ref().len());
        let mut data = Vec::with_capacity(rows.len() * cols);
        for row in rows {
            BadShape::check("numbers in a row", row.as_ref().len(), cols)?;
            data.extend_from_slice(row.as_ref());
        }
        Ok(Self { rows: rows.len(), cols, data })
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    pub fn data(&self) -> &[R] {
        &self.data
    }

    pub fn data_mut(&mut self) -> &mut [R] {
        &mut self.data
    }

    pub fn row(&self, row: usize) -> &[R] {
        &self.data[row * self.cols..][..self.cols]
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [R] {
        &mut self.data[row * self.cols..][..self.cols]
    }

    /// The rows in order. None if there are no columns.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &[R]> {
        self.data.chunks_exact(self.cols.max(1))
    }

    pub fn lines_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [R]> {
        self.data.chunks_exact_mut(self.cols.max(1))
    }

    /// A matrix of these rows, in this order; a row may occur more than once.
    #[must_use]
    pub fn taken(&self, rows: &[usize]) -> Self {
        let data = rows.iter().flat_map(|row| self.row(*row)).copied().collect();
        Self { rows: rows.len(), cols: self.cols, data }
    }

    /// The mean of the rows; zeros if there are none.
    pub fn mean(&self) -> Vec<R> {
        let mut sums = vec![0.0_f64; self.cols];
        for line in self.lines() {
            sums.iter_mut().zip(line).for_each(|(sum, x)| *sum += x.to_f64());
        }
        let count = self.rows.max(1) as f64;
        sums.into_iter().map(|sum| R::of(sum / count)).collect()
    }
}
