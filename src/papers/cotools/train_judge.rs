//! The training of a judge, one batch at a time.

use super::{
    adamw::AdamW,
    batches::Batches,
    clip::{clip, scale},
    judge::Judge,
    matrix::{BadShape, Matrix},
    mlp::Mlp,
    real::Real,
    recipe::JudgeRecipe,
    trained::Trained,
};
use crate::domain::Chance;

/// Texts with the state and the label of each token.
#[derive(Clone, Debug)]
pub struct JudgeData<R> {
    width: usize,
    texts: Vec<(Matrix<R>, Vec<bool>)>,
}

/// A training that advances by one batch with each [`Iterator::next`].
#[derive(Clone, Debug)]
pub struct JudgeTraining<'a, R> {
    data: &'a JudgeData<R>,
    recipe: JudgeRecipe,
    heads: Judge<R>,
    batches: Batches,
    optimiser: AdamW<R>,
    /// A sum of gradients, and the number of batches in it.
    pending: Option<(Mlp<R>, usize)>,
}

impl<R: Real> JudgeData<R> {
    /// For each text the states, [tokens, width], and as many labels.
    ///
    /// # Errors
    /// The widths differ, or a text does not have a label for each token.
    pub fn new(texts: Vec<(Matrix<R>, Vec<bool>)>) -> Result<Self, BadShape> {
        let width = texts.first().map_or(0, |(states, _)| states.cols());
        for (states, labels) in &texts {
            BadShape::check("width of a token's state", states.cols(), width)?;
            BadShape::check("labels of the tokens", labels.len(), states.rows())?;
        }
        Ok(Self { width, texts })
    }
}

impl<'a, R: Real> JudgeTraining<'a, R> {
    /// Starts with an untrained judge.
    pub fn new(data: &'a JudgeData<R>, recipe: JudgeRecipe, chance: Chance) -> Self {
        let JudgeRecipe { hidden, optimiser } = recipe;
        let heads = Judge::start(data.width, hidden, chance);
        let count = heads.mlp().weights().iter().map(|part| part.len()).sum();
        let chance = chance.with(b"order");
        let batches = Batches::new(data.texts.len(), optimiser.batch, optimiser.epochs, chance);
        let optimiser = AdamW::new(count, optimiser.lr, optimiser.decay);
        Self { data, recipe, heads, batches, optimiser, pending: None }
    }

    pub fn heads(&self) -> &Judge<R> {
        &self.heads
    }

    pub fn into_heads(self) -> Judge<R> {
        self.heads
    }

    /// The mean loss over texts, and its gradient. Each text counts alike, whatever its length.
    fn loss(&self, texts: &[usize]) -> Option<(f64, Mlp<R>)> {
        let mut total: Option<(f64, Mlp<R>)> = None;
        for (states, labels) in texts.iter().filter_map(|text| self.data.texts.get(*text)) {
            // The shapes were checked with the data.
            let found = self.heads.loss(states, labels).ok()?;
            total = Some(match total {
                Some((loss, mut gradient)) => {
                    gradient.add(&found.gradient);
                    (loss + found.loss, gradient)
                }
                None => (found.loss, found.gradient),
            });
        }
        let (loss, mut gradient) = total?;
        let count = texts.len() as f64;
        scale(gradient.weights_mut(), 1.0 / count);
        Some((loss / count, gradient))
    }

    /// Changes the judge by one step, and returns the norm of the gradient before clipping.
    fn step(&mut self, mut gradient: Mlp<R>, factor: f64) -> f64 {
        scale(gradient.weights_mut(), factor);
        let norm = clip(gradient.weights_mut(), self.recipe.optimiser.clip);
        self.optimiser.step(self.heads.mlp_mut().weights_mut(), gradient.weights());
        norm
    }
}

impl<R: Real> Iterator for JudgeTraining<'_, R> {
    /// With the norm of the gradient.
    type Item = Trained<f64>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        if self.recipe.optimiser.falling {
            self.optimiser.slow_down(self.batches.left());
        }
        let (loss, gradient) = self.loss(&batch.examples)?;
        let (gradient, count) = match self.pending.take() {
            Some((mut sum, count)) => {
                sum.add(&gradient);
                (sum, count + 1)
            }
            None => (gradient, 1),
        };
        let optimiser = self.recipe.optimiser;
        let schedule = optimiser.schedule;
        let norms = if schedule.steps_after(batch.batch, batch.batches, optimiser.accumulate) {
            Some(self.step(gradient, schedule.factor(count)))
        } else {
            self.pending = Some((gradient, count));
            None
        };
        Some(Trained {
            epoch: batch.epoch,
            batch: batch.batch,
            batches: batch.batches,
            loss,
            norms,
        })
    }
}
