//! Vectors of eight numbers.

/// Numbers in a vector.
pub const LANES: usize = 8;

/// Eight numbers that are computed together.
pub trait Lanes: Copy {
    fn zero() -> Self;

    fn load(numbers: &[f32; LANES]) -> Self;

    /// The same number in each lane.
    fn splat(number: f32) -> Self;

    /// The low four bits of each code.
    fn low(codes: &[u8; LANES]) -> Self;

    /// The high four bits of each code.
    fn high(codes: &[u8; LANES]) -> Self;

    fn signed(codes: &[i8; LANES]) -> Self;

    /// `self + a × b` in each lane.
    #[must_use]
    fn add_product(self, a: Self, b: Self) -> Self;

    fn to_array(self) -> [f32; LANES];

    /// The sum of all lanes, in pairs.
    #[inline(always)]
    fn total(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.to_array();
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

impl Lanes for [f32; LANES] {
    #[inline(always)]
    fn zero() -> Self {
        [0.0; LANES]
    }

    #[inline(always)]
    fn load(numbers: &[f32; LANES]) -> Self {
        *numbers
    }

    #[inline(always)]
    fn splat(number: f32) -> Self {
        [number; LANES]
    }

    #[inline(always)]
    fn low(codes: &[u8; LANES]) -> Self {
        codes.map(|code| f32::from(code & 15))
    }

    #[inline(always)]
    fn high(codes: &[u8; LANES]) -> Self {
        codes.map(|code| f32::from(code >> 4))
    }

    #[inline(always)]
    fn signed(codes: &[i8; LANES]) -> Self {
        codes.map(f32::from)
    }

    #[inline(always)]
    fn add_product(mut self, a: Self, b: Self) -> Self {
        for lane in 0..LANES {
            self[lane] += a[lane] * b[lane];
        }
        self
    }

    #[inline(always)]
    fn to_array(self) -> [f32; LANES] {
        self
    }
}
