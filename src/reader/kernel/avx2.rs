//! Work with AVX2 and FMA. The only unsafe code of the reader is here.
#![expect(unsafe_code, reason = "instructions that not every processor has")]

use std::arch::x86_64::*;

use super::KernelWork;
use super::lanes::{LANES, Lanes};

/// A proof that the processor has AVX2 and FMA: only [`Avx2::detect`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Self> {
        let has_both = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        has_both.then_some(Self(()))
    }

    pub fn run<W: KernelWork>(self, work: W) -> W::Output {
        // SAFETY: `self` proves that the processor has the instructions of `run`.
        unsafe { run(work) }
    }
}

/// Compiles the work for these instructions.
#[target_feature(enable = "avx2,fma")]
fn run<W: KernelWork>(work: W) -> W::Output {
    work.run::<Register>()
}

/// A register. Only [`run`] uses this type, so the processor has these instructions wherever its functions run.
#[derive(Clone, Copy)]
struct Register(__m256);

impl Lanes for Register {
    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: the processor has AVX2, see `Register`.
        Self(unsafe { _mm256_setzero_ps() })
    }

    #[inline(always)]
    fn load(numbers: &[f32; LANES]) -> Self {
        // SAFETY: the processor has AVX2; the array has 32 bytes, and the load needs no alignment.
        Self(unsafe { _mm256_loadu_ps(numbers.as_ptr()) })
    }

    #[inline(always)]
    fn splat(number: f32) -> Self {
        // SAFETY: the processor has AVX2, see `Register`.
        Self(unsafe { _mm256_set1_ps(number) })
    }

    #[inline(always)]
    fn low(codes: &[u8; LANES]) -> Self {
        // SAFETY: the processor has AVX2, see `Register`.
        Self(unsafe { _mm256_cvtepi32_ps(_mm256_and_si256(widen(codes), _mm256_set1_epi32(15))) })
    }

    #[inline(always)]
    fn high(codes: &[u8; LANES]) -> Self {
        // SAFETY: the processor has AVX2, see `Register`.
        Self(unsafe { _mm256_cvtepi32_ps(_mm256_srli_epi32::<4>(widen(codes))) })
    }

    #[inline(always)]
    fn signed(codes: &[i8; LANES]) -> Self {
        let eight = i64::from_le_bytes(codes.map(i8::cast_unsigned));
        // SAFETY: the processor has AVX2, see `Register`.
        Self(unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_cvtsi64_si128(eight))) })
    }

    #[inline(always)]
    fn add_product(self, a: Self, b: Self) -> Self {
        // SAFETY: the processor has FMA, see `Register`.
        Self(unsafe { _mm256_fmadd_ps(a.0, b.0, self.0) })
    }

    #[inline(always)]
    fn to_array(self) -> [f32; LANES] {
        let mut numbers = [0.0; LANES];
        // SAFETY: the processor has AVX2; the array has 32 bytes, and the store needs no alignment.
        unsafe { _mm256_storeu_ps(numbers.as_mut_ptr(), self.0) };
        numbers
    }
}

/// Eight bytes as 32-bit numbers.
#[target_feature(enable = "avx2,fma")]
fn widen(codes: &[u8; LANES]) -> __m256i {
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(*codes)))
}
