//! The numbers that heads compute with: `f32` in use, `f64` where tests compare them with golden values.

use std::{
    fmt::Debug,
    ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign},
};

/// A floating-point number.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Div<Output = Self>
    + Mul<Output = Self>
    + MulAssign
    + Neg<Output = Self>
    + Sub<Output = Self>
    + SubAssign
    + Send
    + Sync
    + 'static
{
    /// The nearest number of this type.
    fn of(number: f64) -> Self;
    fn to_f64(self) -> f64;
    #[must_use]
    fn exp(self) -> Self;
    #[must_use]
    fn sqrt(self) -> Self;
}

impl Real for f32 {
    fn of(number: f64) -> Self {
        number as Self
    }

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn exp(self) -> Self {
        Self::exp(self)
    }

    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
}

impl Real for f64 {
    fn of(number: f64) -> Self {
        number
    }

    fn to_f64(self) -> f64 {
        self
    }

    fn exp(self) -> Self {
        Self::exp(self)
    }

    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
}

/// The logistic function σ(x) = 1 / (1 + e⁻ˣ), from 0 to 1.
pub fn sigmoid<R: Real>(x: R) -> R {
    let one = R::of(1.0);
    one / (one + (-x).exp())
}

/// The Euclidean length, summed in `f64`.
pub fn length<R: Real>(numbers: &[R]) -> f64 {
    numbers.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt()
}

/// The inner product of two lists of equal length.
///
/// Sixteen partial sums let the compiler use vector instructions, which keep the order of a sum.
pub fn dot<R: Real>(one: &[R], other: &[R]) -> R {
    const LANES: usize = 16;
    let (one, one_rest) = one.as_chunks::<LANES>();
    let (other, other_rest) = other.as_chunks::<LANES>();
    let mut sums = [R::default(); LANES];
    for (one, other) in one.iter().zip(other) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    let rest = one_rest.iter().zip(other_rest).map(|(a, b)| *a * *b);
    sums.into_iter().chain(rest).fold(R::default(), |sum, x| sum + x)
}
