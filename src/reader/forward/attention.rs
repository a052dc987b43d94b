//! Causal attention: a token looks at itself and at the tokens before it.

use super::cache::CachedLayer;
use crate::kernel::{KernelWork, Lanes, dot};
use crate::shape::Shape;

/// Adds values, weighted by the softmax of `query · key / √head`. Several query heads share a head of keys and values.
pub struct Attention<'a> {
    pub shape: &'a Shape,
    pub cache: &'a CachedLayer,
    /// Queries of the tokens from position `at` on, with one row of all heads per token.
    pub queries: &'a [f32],
    pub at: usize,
    /// Memory for the scores of a head.
    pub scores: &'a mut Vec<f32>,
    /// The result, with as many numbers as `queries`.
    pub out: &'a mut Vec<f32>,
}

impl KernelWork for Attention<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let shape = self.shape;
        let row = shape.heads * shape.head;
        let (shared, stride) = (shape.heads / shape.kv_heads, shape.kv_heads * shape.head);
        self.out.clear();
        self.out.resize(self.queries.len(), 0.0);
        let rows = self.queries.chunks_exact(row).zip(self.out.chunks_exact_mut(row));
        for (n, (queries, out)) in rows.enumerate() {
            let seen = (self.at + n + 1) * stride;
            let heads = queries.chunks_exact(shape.head).zip(out.chunks_exact_mut(shape.head));
            for (which, (query, out)) in heads.enumerate() {
                let own = which / shared * shape.head..(which / shared + 1) * shape.head;
                self.scores.clear();
                // The compiler would not use these vectors in a closure.
                for key in self.cache.keys[..seen].chunks_exact(stride) {
                    self.scores.push(dot::<L>(query, &key[own.clone()]));
                }
                softmax(self.scores, 1.0 / (shape.head as f32).sqrt());
                let values = self.cache.values[..seen].chunks_exact(stride);
                for (share, value) in self.scores.iter().zip(values) {
                    for (out, value) in out.iter_mut().zip(&value[own.clone()]) {
                        *out += share * value;
                    }
                }
            }
        }
    }
}

/// Turns scores, multiplied by `scale`, into shares that add up to 1.
#[inline(always)]
fn softmax(scores: &mut [f32], scale: f32) {
    let most = scores.iter().fold(f32::NEG_INFINITY, |most, score| most.max(*score));
    let mut total = 0.0;
    for score in scores.iter_mut() {
        *score = ((*score - most) * scale).exp();
        total += *score;
    }
    scores.iter_mut().for_each(|score| *score /= total);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_1() {
        let mut scores = [1.0, 3.0, 2.0];
        softmax(&mut scores, 0.5);
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!((scores[1] / scores[0] - 1.0f32.exp()).abs() < 1e-5);
    }
}
