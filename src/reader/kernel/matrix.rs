//! A matrix of weights, packed as in the file.

use super::lanes::{LANES, Lanes};
use super::product::{ROWS, TOKENS, tile};
use super::{Kernel, KernelWork, Packing, half};
use crate::error::ModelFileFault;

/// Weights in a block.
const BLOCK: usize = 32;

/// Rows that are unpacked at once: they and the tokens of a tile stay in the first-level cache.
const PANEL: usize = 8;

/// `rows × columns` weights; a row computes one output from all inputs.
pub struct Matrix {
    rows: usize,
    columns: usize,
    weights: Weights,
}

/// Weights, row by row.
enum Weights {
    Full(Vec<f32>),
    Half(Vec<u16>),
    /// A weight is `code × scale`.
    Bytes {
        codes: Vec<[i8; BLOCK]>,
        scales: Vec<u16>,
    },
    /// A weight is `code × scale + offset`; the low half of byte `i` is weight `i`, the high half weight `i + 16`.
    /// Without offsets, each is `−8 × scale`.
    Nibbles {
        codes: Vec<[u8; BLOCK / 2]>,
        scales: Vec<u16>,
        offsets: Vec<u16>,
    },
}

impl Matrix {
    /// An empty matrix with memory for its weights. [`Matrix::push`] fills it.
    pub fn with_capacity(packing: Packing, rows: usize, columns: usize) -> Self {
        let numbers = rows.saturating_mul(columns);
        let blocks = numbers / BLOCK;
        let weights = match packing {
            Packing::F32 => Weights::Full(Vec::with_capacity(numbers)),
            Packing::F16 => Weights::Half(Vec::with_capacity(numbers)),
            Packing::Q8_0 => Weights::Bytes {
                codes: Vec::with_capacity(blocks),
                scales: Vec::with_capacity(blocks),
            },
            Packing::Q4_0 | Packing::Q4_1 => Weights::Nibbles {
                codes: Vec::with_capacity(blocks),
                scales: Vec::with_capacity(blocks),
                offsets: Vec::with_capacity(if packing == Packing::Q4_1 { blocks } else { 0 }),
            },
        };
        Self { rows, columns, weights }
    }

    /// Appends whole blocks as they are in the file.
    ///
    /// # Errors
    /// A weight or a scale is not a finite number.
    pub fn push(&mut self, packing: Packing, bytes: &[u8]) -> Result<(), ModelFileFault> {
        let (_, size) = packing.block();
        let mut finite = true;
        for block in bytes.chunks_exact(size) {
            finite &= self.weights.push(packing == Packing::Q4_1, block);
        }
        if finite {
            return Ok(());
        }
        let found = "has a weight that is not a finite number";
        Err(ModelFileFault::bad(found, "finite weights; download the file again"))
    }

    /// The weights of one row, unpacked into `out` (`columns` numbers).
    pub fn unpack_row(&self, row: usize, out: &mut [f32]) {
        self.unpack_row_with::<[f32; LANES]>(row, out);
    }

    #[inline(always)]
    fn unpack_row_with<L: Lanes>(&self, row: usize, out: &mut [f32]) {
        let numbers = row * self.columns..(row + 1) * self.columns;
        let blocks = numbers.start / BLOCK..numbers.end / BLOCK;
        match &self.weights {
            Weights::Full(all) => out.copy_from_slice(&all[numbers]),
            Weights::Half(all) => {
                let halves = out.iter_mut().zip(&all[numbers]);
                halves.for_each(|(out, half)| *out = half::to_f32(*half));
            }
            Weights::Bytes { codes, scales } => {
                let packed = codes[blocks.clone()].iter().zip(&scales[blocks]);
                for ((codes, scale), out) in packed.zip(out.as_chunks_mut().0) {
                    unpack_bytes::<L>(codes, half::to_f32(*scale), out);
                }
            }
            Weights::Nibbles { codes, scales, offsets } => {
                let packed = codes[blocks.clone()].iter().zip(&scales[blocks.clone()]);
                for ((block, (codes, scale)), out) in blocks.zip(packed).zip(out.as_chunks_mut().0)
                {
                    let scale = half::to_f32(*scale);
                    let offset = match offsets.get(block) {
                        Some(offset) => half::to_f32(*offset),
                        None => -8.0 * scale,
                    };
                    unpack_nibbles::<L>(codes, scale, offset, out);
                }
            }
        }
    }

    /// The products with rows of `columns` numbers, one for each token. `out` becomes `tokens × rows` numbers.
    pub fn times(&self, kernel: Kernel, input: &[f32], out: &mut Vec<f32>) {
        out.clear();
        out.resize(input.len() / self.columns * self.rows, 0.0);
        kernel.run(Product { matrix: self, input, out });
    }
}

impl Weights {
    /// Appends a block; returns whether its numbers are finite.
    fn push(&mut self, has_offset: bool, block: &[u8]) -> bool {
        let number = |at: usize| match block.get(at..at + 2) {
            Some(&[low, high]) => u16::from_le_bytes([low, high]),
            _ => 0,
        };
        match self {
            Self::Full(numbers) => {
                let number = block.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
                numbers.push(number);
                number.is_finite()
            }
            Self::Half(numbers) => {
                numbers.push(number(0));
                half::is_finite(number(0))
            }
            Self::Bytes { codes, scales } => {
                scales.push(number(0));
                codes.extend(block.last_chunk().map(|codes| codes.map(u8::cast_signed)));
                half::is_finite(number(0))
            }
            Self::Nibbles { codes, scales, offsets } => {
                scales.push(number(0));
                offsets.extend(has_offset.then_some(number(2)));
                codes.extend(block.last_chunk());
                half::is_finite(number(0)) && (!has_offset || half::is_finite(number(2)))
            }
        }
    }
}

#[inline(always)]
fn unpack_bytes<L: Lanes>(codes: &[i8; BLOCK], scale: f32, out: &mut [f32; BLOCK]) {
    for (codes, out) in codes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        *out = L::zero().add_product(L::signed(codes), L::splat(scale)).to_array();
    }
}

#[inline(always)]
fn unpack_nibbles<L: Lanes>(
    codes: &[u8; BLOCK / 2],
    scale: f32,
    offset: f32,
    out: &mut [f32; BLOCK],
) {
    let (low, high) = out.split_at_mut(BLOCK / 2);
    let halves = low.as_chunks_mut().0.iter_mut().zip(high.as_chunks_mut().0);
    for (codes, (low, high)) in codes.as_chunks().0.iter().zip(halves) {
        *low = L::splat(offset).add_product(L::low(codes), L::splat(scale)).to_array();
        *high = L::splat(offset).add_product(L::high(codes), L::splat(scale)).to_array();
    }
}

/// A product with all tokens.
struct Product<'a> {
    matrix: &'a Matrix,
    input: &'a [f32],
    out: &'a mut [f32],
}

impl KernelWork for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { matrix, input, out } = self;
        let (rows, columns) = (matrix.rows, matrix.columns);
        let mut panel = vec![0.0; PANEL * columns];
        for first in (0..rows).step_by(PANEL) {
            let count = PANEL.min(rows - first);
            for (row, out) in (first..first + count).zip(panel.chunks_exact_mut(columns)) {
                matrix.unpack_row_with::<L>(row, out);
            }
            let panel = &panel[..count * columns];
            let (inputs, outs) = (input.chunks(TOKENS * columns), out.chunks_mut(TOKENS * rows));
            for (input, out) in inputs.zip(outs) {
                match input.len() == TOKENS * columns {
                    true => multiply::<TOKENS, L>(panel, input, columns, first, out),
                    false => {
                        let tokens = input.chunks_exact(columns).zip(out.chunks_exact_mut(rows));
                        for (input, out) in tokens {
                            multiply::<1, L>(panel, input, columns, first, out);
                        }
                    }
                }
            }
        }
    }
}

/// Multiplies the rows of a panel with `T` tokens. `first` is the number of the panel's first row.
#[inline(always)]
fn multiply<const T: usize, L: Lanes>(
    panel: &[f32],
    input: &[f32],
    columns: usize,
    first: usize,
    out: &mut [f32],
) {
    let rows = out.len() / T;
    let tokens: [&[f32]; T] = std::array::from_fn(|token| &input[token * columns..][..columns]);
    let mut at = first;
    for pair in panel.chunks(ROWS * columns) {
        if pair.len() == ROWS * columns {
            let (a, b) = pair.split_at(columns);
            for (token, products) in tile::<T, ROWS, L>(tokens, [a, b]).into_iter().enumerate() {
                out[token * rows + at..][..ROWS].copy_from_slice(&products);
            }
        } else {
            for (token, [product]) in tile::<T, 1, L>(tokens, [pair]).into_iter().enumerate() {
                out[token * rows + at] = product;
            }
        }
        at += ROWS;
    }
}
