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

/// The loss on the tokens of a text, and its gradient.
#[derive(Clone, Debug)]
pub struct JudgeLoss<R> {
    /// Binary cross-entropy, the mean over all tokens, in nats.
    pub loss: f64,
    /// The gradient with respect to the weights.
    pub gradient: Mlp<R>,
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

    pub(super) fn mlp_mut(&mut self) -> &mut Mlp<R> {
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

    /// The loss on one text: a state and a label for each token.
    ///
    /// # Errors
    /// The states have another width, or there are not as many labels as states.
    pub fn loss(&self, states: &Matrix<R>, labels: &[bool]) -> Result<JudgeLoss<R>, BadShape> {
        BadShape::check("width of a state", states.cols(), self.mlp.width())?;
        BadShape::check("labels of the tokens", labels.len(), states.rows())?;
        let pass = self.mlp.pass(states);
        let count = labels.len().max(1) as f64;
        let mut by_logit = Matrix::zeros(labels.len(), 1);
        let mut loss = 0.0;
        let logits = pass.out.data().iter().zip(labels);
        for (by, (logit, label)) in by_logit.data_mut().iter_mut().zip(logits) {
            let label = f64::from(u8::from(*label));
            let x = logit.to_f64();
            // −y·ln σ(x) − (1 − y)·ln(1 − σ(x)), without overflow.
            loss += x.max(0.0) - x * label + (-x.abs()).exp().ln_1p();
            *by = R::of((sigmoid(x) - label) / count);
        }
        let gradient = self.mlp.gradient(states, &pass, &by_logit);
        Ok(JudgeLoss { loss: loss / count, gradient })
    }
}

/// A rule without training, as a baseline for the judge: whether a text so far ends in `=`, `= ` or `= $`.
pub fn hand_rule(text: &str) -> bool {
    ["=", "= ", "= $"].iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        assert!(Judge::start(4, 2, Chance::new(1)).loss(&states(2, 1), &[true]).is_err());
    }

    #[test]
    fn the_hand_rule_looks_at_the_end() {
        assert!(["3=", "3 = ", "3 = $"].into_iter().all(hand_rule));
        assert!(!["", "3 = 4", "3 =  ", "= €"].into_iter().any(hand_rule));
    }

    #[test]
    fn a_huge_logit_has_a_finite_loss() {
        let huge = |rows| Matrix::new(rows, 1, vec![1e3; rows]).unwrap();
        let judge = Judge::new(Mlp::new(huge(1), huge(1), huge(1)).unwrap()).unwrap();
        let found = judge.loss(&huge(2), &[true, false]).unwrap();
        assert!(found.loss.is_finite() && found.loss > 1e9, "{}", found.loss);
    }

    proptest! {
        #[test]
        fn the_gradient_is_the_slope_of_the_loss(
            seed in any::<u32>(), labels in prop::collection::vec(any::<bool>(), 1..5),
        ) {
            let seed = u64::from(seed);
            let states = states(labels.len(), seed);
            let mut judge = Judge::start(4, 3, Chance::new(seed));
            let found = judge.loss(&states, &labels).unwrap();
            let slopes: Vec<f64> = found.gradient.weights().into_iter().flatten().copied().collect();
            let step = 1e-5;
            for (i, slope) in slopes.into_iter().enumerate() {
                let mut moved = |by: f64| {
                    let weight = |judge: &mut Judge<f64>, by: f64| {
                        *judge.mlp.weights_mut().into_iter().flatten().nth(i).unwrap() += by;
                    };
                    weight(&mut judge, by);
                    let loss = judge.loss(&states, &labels).unwrap().loss;
                    weight(&mut judge, -by);
                    loss
                };
                let measured = (moved(step) - moved(-step)) / (2.0 * step);
                prop_assert!((measured - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{i}: {slope}, not {measured}");
            }
        }
    }
}
