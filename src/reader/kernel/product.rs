//! Products of vectors.

use super::lanes::{LANES, Lanes};

/// Tokens and rows of weights that are multiplied together. Their 8 sums and 6 factors fit into 16 registers.
pub const TOKENS: usize = 4;
pub const ROWS: usize = 2;

/// The products of each of `T` vectors with each of `R` vectors of the same length.
#[inline(always)]
pub fn tile<const T: usize, const R: usize, L: Lanes>(
    a: [&[f32]; T],
    b: [&[f32]; R],
) -> [[f32; R]; T] {
    let whole = a.first().map_or(0, |vector| vector.len() / LANES);
    let a_lanes: [&[[f32; LANES]]; T] = a.map(|vector| &vector.as_chunks().0[..whole]);
    let b_lanes: [&[[f32; LANES]]; R] = b.map(|vector| &vector.as_chunks().0[..whole]);
    let mut sums = [[L::zero(); R]; T];
    for at in 0..whole {
        let b_now = b_lanes.map(|lanes| L::load(&lanes[at]));
        for (sums, lanes) in sums.iter_mut().zip(a_lanes) {
            let a_now = L::load(&lanes[at]);
            for (sum, b_now) in sums.iter_mut().zip(b_now) {
                *sum = sum.add_product(a_now, b_now);
            }
        }
    }
    let mut products = [[0.0; R]; T];
    for ((products, sums), a) in products.iter_mut().zip(sums).zip(a) {
        for ((product, sum), b) in products.iter_mut().zip(sums).zip(b) {
            let rest = a[whole * LANES..].iter().zip(&b[whole * LANES..]);
            *product = rest.fold(sum.total(), |sum, (a, b)| sum + a * b);
        }
    }
    products
}

/// The product of two vectors of the same length.
#[inline(always)]
pub fn dot<L: Lanes>(a: &[f32], b: &[f32]) -> f32 {
    let [[product]] = tile::<1, 1, L>([a], [b]);
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, KernelWork};

    struct Dot<'a>(&'a [f32], &'a [f32]);

    impl KernelWork for Dot<'_> {
        type Output = [f32; 2];

        #[inline(always)]
        fn run<L: Lanes>(self) -> [f32; 2] {
            [dot::<L>(self.0, self.1), tile::<2, 1, L>([self.1, self.0], [self.1])[1][0]]
        }
    }

    #[test]
    fn products_of_any_length() {
        for length in 0..40 {
            let a: Vec<f32> = (0..length).map(|n| n as f32 - 3.0).collect();
            let b: Vec<f32> = (0..length).map(|n| 0.5 * n as f32).collect();
            let right: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            for kernel in [Kernel::Plain, Kernel::fastest()] {
                assert_eq!(kernel.run(Dot(&a, &b)), [right; 2], "{length} {kernel:?}");
            }
        }
    }
}
