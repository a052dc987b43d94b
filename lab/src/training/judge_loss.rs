//! The judge's loss: binary cross-entropy over the tokens of a text.

use super::gradient::gradient;
use crate::papers::cotools::{BadShape, Judge, Matrix, Mlp, Real, sigmoid};

/// The loss on the tokens of a text, and its gradient.
#[derive(Clone, Debug)]
pub struct JudgeLoss<R> {
    /// Binary cross-entropy, the mean over all tokens, in nats.
    pub loss: f64,
    /// The gradient with respect to the weights.
    pub gradient: Mlp<R>,
}

/// The loss on one text: a state and a label for each token.
///
/// # Errors
/// The states have another width, or there are not as many labels as states.
pub fn judge_loss<R: Real>(
    judge: &Judge<R>,
    states: &Matrix<R>,
    labels: &[bool],
) -> Result<JudgeLoss<R>, BadShape> {
    let mlp = judge.mlp();
    BadShape::check("width of a state", states.cols(), mlp.width())?;
    BadShape::check("labels of the tokens", labels.len(), states.rows())?;
    let pass = mlp.pass(states);
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
    let gradient = gradient(mlp, states, &pass, &by_logit);
    Ok(JudgeLoss { loss: loss / count, gradient })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Chance;

    fn states(rows: usize, seed: u64) -> Matrix<f64> {
        let chance = Chance::new(seed).with(b"states");
        let number = |n: usize| 2.0 * chance.with(&n.to_le_bytes()).unit() - 1.0;
        Matrix::new(rows, 4, (0..rows * 4).map(number).collect()).unwrap()
    }

    #[test]
    fn a_text_has_a_label_for_each_token() {
        let judge = Judge::start(4, 2, Chance::new(1));
        assert!(judge_loss(&judge, &states(2, 1), &[true]).is_err());
    }

    #[test]
    fn a_huge_logit_has_a_finite_loss() {
        let huge = |rows| Matrix::new(rows, 1, vec![1e3; rows]).unwrap();
        let judge = Judge::new(Mlp::new(huge(1), huge(1), huge(1)).unwrap()).unwrap();
        let found = judge_loss(&judge, &huge(2), &[true, false]).unwrap();
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
            let found = judge_loss(&judge, &states, &labels).unwrap();
            let slopes: Vec<f64> = found.gradient.weights().into_iter().flatten().copied().collect();
            let step = 1e-5;
            for (i, slope) in slopes.into_iter().enumerate() {
                let mut moved = |by: f64| {
                    let weight = |judge: &mut Judge<f64>, by: f64| {
                        *judge.mlp_mut().weights_mut().into_iter().flatten().nth(i).unwrap() += by;
                    };
                    weight(&mut judge, by);
                    let loss = judge_loss(&judge, &states, &labels).unwrap().loss;
                    weight(&mut judge, -by);
                    loss
                };
                let measured = (moved(step) - moved(-step)) / (2.0 * step);
                prop_assert!((measured - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{i}: {slope}, not {measured}");
            }
        }
    }
}
