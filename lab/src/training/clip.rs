//! Clipping of gradients by their norm.

use crate::papers::cotools::{Real, length};

/// Shrinks a gradient so that its Euclidean norm is at most `most`, and returns the norm that it
/// had. The 1e-6 is PyTorch's.
pub fn clip<R: Real, const N: usize>(gradient: [&mut [R]; N], most: f64) -> f64 {
    let norm = gradient.iter().map(|part| length(part).powi(2)).sum::<f64>().sqrt();
    let factor = most / (norm + 1e-6);
    if factor < 1.0 {
        scale_gradient(gradient, factor);
    }
    norm
}

/// Multiplies all numbers of a gradient.
pub fn scale_gradient<R: Real, const N: usize>(gradient: [&mut [R]; N], factor: f64) {
    let factor = R::of(factor);
    gradient.into_iter().flatten().for_each(|x| *x *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_gradient_is_shortened_and_a_short_one_is_not() {
        let (mut a, mut b) = ([3.0_f64, 0.0], [4.0]);
        assert_eq!(clip([&mut a, &mut b], 10.0), 5.0);
        assert_eq!((a, b), ([3.0, 0.0], [4.0]));
        assert_eq!(clip([&mut a, &mut b], 1.0), 5.0);
        assert!((a[0] - 0.6).abs() < 1e-6 && (b[0] - 0.8).abs() < 1e-6, "{a:?} {b:?}");
    }
}
