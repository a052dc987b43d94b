//! Scores of the next token.

/// The score (logit) of each token of the vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenScores {
    pub scores: Vec<f32>,
}

impl TokenScores {
    /// The most probable tokens, the first first, with the natural logarithms of their probabilities. Of equal ones
    /// the lower number comes first.
    pub fn top(&self, count: usize) -> Vec<(u32, f32)> {
        let total = self.log_total();
        let mut tokens: Vec<(u32, f32)> = (0..).zip(self.scores.iter().copied()).collect();
        let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if count < tokens.len() {
            tokens.select_nth_unstable_by(count, order);
            tokens.truncate(count);
        }
        tokens.sort_by(order);
        tokens.into_iter().map(|(token, score)| (token, score - total)).collect()
    }

    /// The natural logarithm of a token's probability; `None` where there is no such token.
    pub fn log_probability(&self, token: u32) -> Option<f32> {
        Some(self.scores.get(usize::try_from(token).ok()?)? - self.log_total())
    }

    /// The logarithm of the sum of `exp(score)`.
    fn log_total(&self) -> f32 {
        let most = self.scores.iter().fold(f32::NEG_INFINITY, |most, score| most.max(*score));
        let sum: f64 = self.scores.iter().map(|score| f64::from(score - most).exp()).sum();
        most + sum.ln() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_add_up_to_1_and_ties_go_to_the_lower_number() {
        let next = TokenScores { scores: vec![1.0, 3.0, 3.0, -100.0] };
        let top = next.top(2);
        assert_eq!([top[0].0, top[1].0], [1, 2]);
        let sum: f32 = (0..4).map(|token| next.log_probability(token).unwrap().exp()).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        assert_eq!(next.top(9).len(), 4);
        assert_eq!(next.log_probability(4), None);
    }
}
