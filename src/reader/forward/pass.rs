//! A pass over a sequence, in pieces, from the first token that is not cached to the deepest requested layer.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    Cache, Weights, attention::Attention, norm::Normalization, rotation::Rotation, swiglu::SwiGlu,
    weights::LayerWeights,
};
use crate::error::ReaderError;
use crate::kernel::Kernel;
use crate::shape::Shape;

/// Tokens that pass the layers together. This bounds memory and the delay of a cancellation.
const PIECE: usize = 64;

/// States that a pass has reached.
pub struct PassStates<'a> {
    /// The number of layers behind these states.
    pub layer: usize,
    /// The position of the first token.
    pub at: usize,
    /// `tokens × width`.
    pub states: &'a [f32],
}

/// The parts of a model that a pass needs, and its memory.
pub struct Pass<'a> {
    shape: &'a Shape,
    weights: &'a Weights,
    kernel: Kernel,
    /// The states of the tokens of a piece.
    states: Vec<f32>,
    normed: Vec<f32>,
    a: Vec<f32>,
    b: Vec<f32>,
    scores: Vec<f32>,
}

impl<'a> Pass<'a> {
    pub fn new(shape: &'a Shape, weights: &'a Weights, kernel: Kernel) -> Self {
        Self {
            shape,
            weights,
            kernel,
            states: Vec::new(),
            normed: Vec::new(),
            a: Vec::new(),
            b: Vec::new(),
            scores: Vec::new(),
        }
    }

    /// Reads the tokens from position `start` on, through the first `depth` layers. Calls `seen` with the states
    /// after each layer. The cache has the tokens before `start`.
    ///
    /// # Errors
    /// The pass was cancelled.
    pub fn read(
        &mut self,
        cache: &mut Cache,
        tokens: &[u32],
        start: usize,
        depth: usize,
        cancelled: &AtomicBool,
        mut seen: impl FnMut(PassStates<'_>),
    ) -> Result<(), ReaderError> {
        let (shape, weights) = (self.shape, self.weights);
        cache.begin(tokens, start);
        let mut at = start;
        for piece in tokens[start..].chunks(PIECE) {
            self.embed(piece);
            let rotation = Rotation::new(at..at + piece.len(), shape.head, shape.rope_base);
            for (n, layer) in weights.layers.iter().enumerate().take(depth) {
                if cancelled.load(Ordering::Relaxed) {
                    return Err(ReaderError::Cancelled);
                }
                self.attend(layer, &mut cache.layers()[n], &rotation, at);
                self.feed_forward(layer);
                seen(PassStates { layer: n + 1, at, states: &self.states });
            }
            at += piece.len();
        }
        Ok(())
    }

    fn embed(&mut self, tokens: &[u32]) {
        let width = self.shape.width;
        self.states.resize(tokens.len() * width, 0.0);
        for (token, state) in tokens.iter().zip(self.states.chunks_exact_mut(width)) {
            self.weights.embedding.unpack_row(*token as usize, state);
        }
    }

    /// The first half of a layer. It adds the keys and values of the piece to the cache.
    fn attend(
        &mut self,
        layer: &LayerWeights,
        cache: &mut super::cache::CachedLayer,
        rotation: &Rotation,
        at: usize,
    ) {
        let (shape, kernel) = (self.shape, self.kernel);
        self.normalize(&layer.attention_norm);
        layer.query.times(kernel, &self.normed, &mut self.a);
        rotation.apply(&mut self.a, shape.heads);
        layer.key.times(kernel, &self.normed, &mut self.b);
        rotation.apply(&mut self.b, shape.kv_heads);
        cache.keys.extend_from_slice(&self.b);
        layer.value.times(kernel, &self.normed, &mut self.b);
        cache.values.extend_from_slice(&self.b);
        let (queries, scores, out) = (&self.a, &mut self.scores, &mut self.b);
        kernel.run(Attention { shape, cache, queries, at, scores, out });
        layer.attention_output.times(kernel, &self.b, &mut self.a);
        self.add();
    }

    /// The second half of a layer.
    fn feed_forward(&mut self, layer: &LayerWeights) {
        let kernel = self.kernel;
        self.normalize(&layer.feed_forward_norm);
        layer.gate.times(kernel, &self.normed, &mut self.a);
        layer.up.times(kernel, &self.normed, &mut self.b);
        kernel.run(SwiGlu { gate: &mut self.a, up: &self.b });
        layer.down.times(kernel, &self.a, &mut self.b);
        std::mem::swap(&mut self.a, &mut self.b);
        self.add();
    }

    fn normalize(&mut self, weights: &[f32]) {
        let (rows, epsilon, out) = (&self.states, self.shape.epsilon, &mut self.normed);
        self.kernel.run(Normalization { rows, weights, epsilon, out });
    }

    /// Adds `a` to the states.
    fn add(&mut self) {
        self.states.iter_mut().zip(&self.a).for_each(|(state, add)| *state += add);
    }
}
