//! Keys and values of tokens that were read, so that a sequence with the same beginning need not be read again.

use crate::shape::Shape;

/// Keys and values of the last sequence. The layers may have read different lengths of it.
#[derive(Default)]
pub struct Cache {
    tokens: Vec<u32>,
    layers: Vec<CachedLayer>,
    /// The numbers of a token's key or value.
    size: usize,
}

/// The keys and values of a layer: `tokens × size` numbers each.
#[derive(Clone, Default)]
pub struct CachedLayer {
    pub keys: Vec<f32>,
    pub values: Vec<f32>,
}

impl Cache {
    pub fn new(shape: &Shape) -> Self {
        let size = shape.kv_heads * shape.head;
        Self { tokens: Vec::new(), layers: vec![CachedLayer::default(); shape.layers], size }
    }

    /// The number of tokens of this sequence that the first `depth` layers have read.
    pub fn known(&self, tokens: &[u32], depth: usize) -> usize {
        let same = self.tokens.iter().zip(tokens).take_while(|(a, b)| a == b).count();
        let lengths = self.layers.iter().take(depth).map(|layer| layer.keys.len() / self.size);
        lengths.min().unwrap_or(0).min(same)
    }

    /// Starts this sequence, and forgets everything after its first `kept` tokens.
    pub fn begin(&mut self, tokens: &[u32], kept: usize) {
        self.tokens.clear();
        self.tokens.extend_from_slice(tokens);
        for layer in &mut self.layers {
            layer.keys.truncate(kept * self.size);
            layer.values.truncate(kept * self.size);
        }
    }

    pub fn layers(&mut self) -> &mut [CachedLayer] {
        &mut self.layers
    }

    /// Forgets everything, and returns the memory.
    pub fn clear(&mut self) {
        self.tokens = Vec::new();
        self.layers.fill(CachedLayer::default());
    }
}
