//! Half precision (IEEE 754 binary16), as in model files.

/// The exact value of a finite number in half precision.
#[inline(always)]
pub fn to_f32(half: u16) -> f32 {
    let half = u32::from(half);
    // The exponent's bias is 15 instead of 127. The product is right for subnormal numbers too.
    let small = f32::from_bits((half & 0x8000) << 16 | (half & 0x7fff) << 13);
    small * f32::from_bits((127 + 112) << 23)
}

pub fn is_finite(half: u16) -> bool {
    half & 0x7c00 != 0x7c00
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers() {
        let known = [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65_504.0), (0x0001, 5.960_464_5e-8)];
        for (half, number) in known {
            assert_eq!(to_f32(half), number);
        }
        assert_eq!(to_f32(0x8000).to_bits(), (-0.0f32).to_bits());
        assert!(!is_finite(0x7c00) && !is_finite(0xfe00) && is_finite(0x7bff));
    }

    #[test]
    fn finite_numbers_are_in_order() {
        let numbers: Vec<f32> = (0..0x7c00).map(to_f32).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b));
    }
}
