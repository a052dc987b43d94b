//! The choice of the next token.

use crate::domain::{Chance, Request};
use crate::reader::Next;

/// How many of the most probable tokens are looked at first.
const FIRST: usize = 64;

/// How tokens are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawing {
    /// At 0 the most probable token is taken.
    pub temperature: f64,
    /// The share of the probability that counts: the most probable tokens that have it together.
    pub top_p: f64,
}

impl Drawing {
    /// What a request says; without it, the most probable tokens.
    pub fn of(request: &Request) -> Self {
        Self {
            temperature: request.temperature.map_or(0.0, f64::from),
            top_p: request.top_p.map_or(1.0, f64::from),
        }
    }

    /// A token; `None` only where there are none.
    pub fn draw(self, next: &Next, chance: Chance) -> Option<u32> {
        let (best, most) = *next.top(1).first()?;
        if self.temperature <= 0.0 || self.top_p <= 0.0 {
            return Some(best);
        }
        // The logarithms of probabilities, so that the best one has the weight 1.
        let weight = |log: f32| (f64::from(log - most) / self.temperature).exp();
        let tokens = self.likely(next, weight);
        let weights: Vec<f64> = tokens.iter().map(|(_, weight)| *weight).collect();
        Some(chance.pick(&weights).map_or(best, |at| tokens[at].0))
    }

    /// The tokens that count, with their weights.
    fn likely(self, next: &Next, weight: impl Fn(f32) -> f64) -> Vec<(u32, f64)> {
        let weighed = |count| next.top(count).into_iter().map(|(token, log)| (token, weight(log)));
        let all = next.scores.len();
        if self.top_p >= 1.0 {
            return weighed(all).collect();
        }
        let least = self.top_p * weighed(all).map(|(_, weight)| weight).sum::<f64>();
        let mut count = FIRST;
        loop {
            let (mut sum, mut tokens) = (0.0, Vec::new());
            for (token, weight) in weighed(count) {
                tokens.push((token, weight));
                sum += weight;
                if sum >= least {
                    return tokens;
                }
            }
            if count >= all {
                return tokens;
            }
            count *= 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(drawing: Drawing, scores: &[f32]) -> Vec<u32> {
        let next = Next { scores: scores.to_vec() };
        let mut counts = vec![0; scores.len()];
        for n in 0u32..10_000 {
            let token = drawing.draw(&next, Chance::new(1).with(&n.to_le_bytes())).unwrap();
            counts[token as usize] += 1;
        }
        counts
    }

    #[test]
    fn tokens_are_drawn_in_proportion_at_a_temperature() {
        let half = 0.5f32.ln();
        let quarter = 0.25f32.ln();
        let scores = [quarter, half, quarter];
        let drawn = |temperature, top_p| counts(Drawing { temperature, top_p }, &scores);
        assert_eq!(drawn(0.0, 1.0), [0, 10_000, 0]);
        assert_eq!(drawn(1.0, 0.0), [0, 10_000, 0]);
        assert_eq!(drawn(1e-300, 1.0), [0, 10_000, 0]);
        let even = drawn(1.0, 1.0);
        assert!((4_800..5_200).contains(&even[1]) && (2_300..2_700).contains(&even[0]), "{even:?}");
        // At one half, weights are squared: 4 of 6.
        let cold = drawn(0.5, 1.0);
        assert!((6_500..6_850).contains(&cold[1]), "{cold:?}");
        // Of equal ones the first counts: 2 of 3.
        let likely = drawn(1.0, 0.7);
        assert!((6_500..6_850).contains(&likely[1]) && likely[2] == 0, "{likely:?}");
    }

    #[test]
    fn many_equal_tokens_are_looked_at_as_far_as_they_count() {
        let scores = [0.0; 1000];
        let drawn = counts(Drawing { temperature: 1.0, top_p: 0.7 }, &scores);
        assert!(drawn[..700].iter().filter(|count| **count > 0).count() > 650, "{drawn:?}");
        assert_eq!(drawn[700..], [0; 300]);
    }
}
