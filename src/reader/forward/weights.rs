//! The weights of a model, read from its file. A tensor that this arithmetic does not use is an error: states would be
//! wrong without it.

use std::io::{Read, Seek};

use super::norm::Normalization;
use crate::error::ModelFileFault;
use crate::gguf::{GgufSource, Tensor, Tensors};
use crate::kernel::{Kernel, Matrix};
use crate::shape::Shape;

/// The approximate number of bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// All weights.
pub struct Weights {
    /// `vocabulary × width`: the first state of each token.
    pub embedding: Matrix,
    pub layers: Vec<LayerWeights>,
    /// The final normalisation.
    pub norm: Vec<f32>,
}

/// The weights of a layer.
pub struct LayerWeights {
    pub attention_norm: Vec<f32>,
    pub query: Matrix,
    pub key: Matrix,
    pub value: Matrix,
    pub attention_output: Matrix,
    pub feed_forward_norm: Vec<f32>,
    pub gate: Matrix,
    pub up: Matrix,
    pub down: Matrix,
}

impl Weights {
    /// Reads all weights of a model of this shape and number of tokens.
    pub fn read<R: Read + Seek>(
        source: &mut GgufSource<R>,
        tensors: Tensors,
        shape: &Shape,
        vocabulary: usize,
    ) -> Result<Self, ModelFileFault> {
        let mut loader = Loader { source, tensors };
        let embedding = loader.matrix("token_embd.weight", vocabulary, shape.width)?;
        let layers = (0..shape.layers).map(|n| LayerWeights::read(&mut loader, shape, n));
        let layers = layers.collect::<Result<Vec<_>, _>>()?;
        let norm = loader.vector("output_norm.weight", shape.width)?;
        // It scores next tokens, which states do not need.
        loader.tensors.remove("output.weight");
        match loader.tensors.keys().next() {
            None => Ok(Self { embedding, layers, norm }),
            Some(name) => {
                let found = format!("tensor `{name}` belongs to no layer of this model");
                let layers = shape.layers;
                Err(ModelFileFault::bad(
                    found,
                    format!("the tensors of a plain llama model of {layers} layers"),
                ))
            }
        }
    }

    /// States after the final normalisation.
    pub fn finish(&self, kernel: Kernel, states: &[f32], epsilon: f32) -> Vec<f32> {
        let mut out = Vec::new();
        kernel.run(Normalization { rows: states, weights: &self.norm, epsilon, out: &mut out });
        out
    }
}

impl LayerWeights {
    fn read<R: Read + Seek>(
        loader: &mut Loader<'_, R>,
        shape: &Shape,
        n: usize,
    ) -> Result<Self, ModelFileFault> {
        let (width, wide) = (shape.width, shape.feed_forward);
        let (queries, keys) = (shape.heads * shape.head, shape.kv_heads * shape.head);
        let name = |part: &str| format!("blk.{n}.{part}.weight");
        Ok(Self {
            attention_norm: loader.vector(&name("attn_norm"), width)?,
            query: loader.matrix(&name("attn_q"), queries, width)?,
            key: loader.matrix(&name("attn_k"), keys, width)?,
            value: loader.matrix(&name("attn_v"), keys, width)?,
            attention_output: loader.matrix(&name("attn_output"), width, queries)?,
            feed_forward_norm: loader.vector(&name("ffn_norm"), width)?,
            gate: loader.matrix(&name("ffn_gate"), wide, width)?,
            up: loader.matrix(&name("ffn_up"), wide, width)?,
            down: loader.matrix(&name("ffn_down"), width, wide)?,
        })
    }
}

/// Takes tensors out of a file, each once.
struct Loader<'a, R> {
    source: &'a mut GgufSource<R>,
    tensors: Tensors,
}

impl<R: Read + Seek> Loader<'_, R> {
    fn matrix(
        &mut self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Matrix, ModelFileFault> {
        let tensor = self.take(name, rows, columns)?;
        // The table of tensors was compared with the size of the file, so the file is that large.
        let mut matrix = Matrix::with_capacity(tensor.packing, rows, columns);
        let (_, block) = tensor.packing.block();
        let mut piece = vec![0; PIECE / block * block];
        self.source.go_to(tensor.at)?;
        let mut left = tensor.bytes;
        while left > 0 {
            let length = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.source.fill(&mut piece[..length], name)?;
            matrix.push(tensor.packing, &piece[..length]).map_err(|fault| fault.of(name))?;
            left -= length as u64;
        }
        Ok(matrix)
    }

    fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, ModelFileFault> {
        let matrix = self.matrix(name, 1, length)?;
        let mut numbers = vec![0.0; length];
        matrix.unpack_row(0, &mut numbers);
        Ok(numbers)
    }

    fn take(&mut self, name: &str, rows: usize, columns: usize) -> Result<Tensor, ModelFileFault> {
        let expected = format!("{rows} rows of {columns} numbers, by the file's metadata");
        let Some(tensor) = self.tensors.remove(name) else {
            return Err(ModelFileFault::bad(format!("no tensor `{name}`"), expected));
        };
        if (tensor.rows, tensor.columns) == (rows, columns) {
            return Ok(tensor);
        }
        let found =
            format!("tensor `{name}` has {} rows of {} numbers", tensor.rows, tensor.columns);
        Err(ModelFileFault::bad(found, expected))
    }
}
