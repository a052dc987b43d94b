//! The arithmetic of a forward pass: products of packed weights with rows of numbers.
//!
//! Weights stay packed as in the file. A product unpacks some rows, uses them for all tokens, and then the next rows.
//! If the processor has AVX2 and FMA, detected at run time, the same code is compiled for them.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod half;
mod lanes;
mod matrix;
mod packing;
mod product;

use self::lanes::LANES;
pub use self::lanes::Lanes;
pub use self::matrix::Matrix;
pub use self::packing::Packing;
pub use self::product::dot;

/// The instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Instructions that every processor of this kind has.
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
}

/// Work that is compiled for each kernel. Functions that it calls must be inlined.
pub trait KernelWork {
    type Output;

    /// Does the work with vectors of this kind.
    fn run<L: Lanes>(self) -> Self::Output;
}

impl Kernel {
    /// The fastest kernel of this processor.
    pub fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = avx2::Avx2::detect() {
            return Self::Avx2(avx2);
        }
        Self::Plain
    }

    pub fn run<W: KernelWork>(self, work: W) -> W::Output {
        match self {
            Self::Plain => work.run::<[f32; LANES]>(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.run(work),
        }
    }
}
