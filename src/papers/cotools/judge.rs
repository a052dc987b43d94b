//! The judge: does a tool call start after this token?

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
    /// With respect to the weights.
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
