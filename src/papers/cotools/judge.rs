//! The judge, which decides whether a tool call starts after this token.

use super::{
    matrix::{BadShape, Matrix},
    mlp::Mlp,
    real::{Real, sigmoid},
};
use crate::domain::Chance;

/// p = σ(mlp(h)) for the state h of the last token (CoTools, eq. 3 and 4). The answer is a call if
/// p is above a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Judge<R> {
    mlp: Mlp<R>,
}

impl<R: Real> Judge<R> {
    /// # Errors
    /// The output is not one number.
    pub fn new(mlp: Mlp<R>) -> Result<Self, BadShape> {
        BadShape::check("outputs of the judge", mlp.out(), 1)?;
        Ok(Self { mlp })
    }

    /// An untrained judge for states of `width` numbers.
    pub fn start(width: usize, hidden: usize, chance: Chance) -> Self {
        Self { mlp: Mlp::start(width, hidden, 1, chance.with(b"judge")) }
    }

    pub fn mlp(&self) -> &Mlp<R> {
        &self.mlp
    }

    pub fn mlp_mut(&mut self) -> &mut Mlp<R> {
        &mut self.mlp
    }

    /// The logit of each state; a call is more likely than not above 0.
    ///
    /// # Errors
    /// The states have another width.
    pub fn logits(&self, states: &Matrix<R>) -> Result<Vec<R>, BadShape> {
        BadShape::check("width of a state", states.cols(), self.mlp.width())?;
        Ok(self.mlp.pass(states).out.data().to_vec())
    }

    /// The probability of a call after each state, 0 to 1.
    ///
    /// # Errors
    /// The states have another width.
    pub fn probabilities(&self, states: &Matrix<R>) -> Result<Vec<R>, BadShape> {
        Ok(self.logits(states)?.into_iter().map(sigmoid).collect())
    }
}

/// A rule without training, as a baseline for the judge: whether a text so far ends in `=`, `= ` or `= $`.
pub fn hand_rule(text: &str) -> bool {
    ["=", "= ", "= $"].iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(rows: usize, seed: u64) -> Matrix<f64> {
        let chance = Chance::new(seed).with(b"states");
        let number = |n: usize| 2.0 * chance.with(&n.to_le_bytes()).unit() - 1.0;
        Matrix::new(rows, 4, (0..rows * 4).map(number).collect()).unwrap()
    }

    #[test]
    fn other_shapes_are_refused() {
        assert!(Judge::<f32>::new(Mlp::start(4, 3, 2, Chance::new(1))).is_err());
        let judge = Judge::start(3, 2, Chance::new(1));
        let error = judge.logits(&states(2, 1)).unwrap_err();
        assert_eq!(error.to_string(), "width of a state: 4, expected 3");
    }

    #[test]
    fn the_hand_rule_looks_at_the_end() {
        assert!(["3=", "3 = ", "3 = $"].into_iter().all(hand_rule));
        assert!(!["", "3 = 4", "3 =  ", "= €"].into_iter().any(hand_rule));
    }
}
