//! The packing of weights in a file.

/// The types of tensors that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    F32,
    F16,
    /// Blocks of 32: a scale and 32 bytes; a weight is `byte × scale`.
    Q8_0,
    /// Blocks of 32: a scale and 32 codes of 4 bits; a weight is `(code − 8) × scale`.
    Q4_0,
    /// Blocks of 32: a scale, an offset and 32 codes of 4 bits; a weight is `code × scale + offset`.
    Q4_1,
}

impl Packing {
    const ALL: [Self; 5] = [Self::F32, Self::F16, Self::Q8_0, Self::Q4_0, Self::Q4_1];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|packing| packing.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Q8_0 => "Q8_0",
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
        }
    }

    /// The numbers of a block and its size in bytes.
    pub fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 => (1, 2),
            Self::Q8_0 => (32, 34),
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
        }
    }
}
