//! The training of a judge, one batch at a time.

use super::adamw::AdamW;
use super::batch_result::Trained;
use super::batches::Batches;
use super::clip::{clip, scale_gradient};
use super::judge_loss::judge_loss;
use super::recipe::JudgeRecipe;
use crate::domain::Chance;
use crate::papers::cotools::{BadShape, Judge, Matrix, Mlp, Real};

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
    /// `texts` has for each text the states, [tokens, width], and as many labels.
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

    /// The mean loss over texts, and its gradient. Each text counts the same, regardless of its length.
    fn loss(&self, texts: &[usize]) -> Option<(f64, Mlp<R>)> {
        let mut total: Option<(f64, Mlp<R>)> = None;
        for (states, labels) in texts.iter().filter_map(|text| self.data.texts.get(*text)) {
            // The shapes were checked with the data.
            let found = judge_loss(&self.heads, states, labels).ok()?;
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
        scale_gradient(gradient.weights_mut(), 1.0 / count);
        Some((loss / count, gradient))
    }

    /// Changes the judge by one step, and returns the norm of the gradient before clipping.
    fn step(&mut self, mut gradient: Mlp<R>, factor: f64) -> f64 {
        scale_gradient(gradient.weights_mut(), factor);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::cotools::{ModelSize, Recipe};
    use crate::training::{Positives, recipe};

    /// Texts whose token starts a call if the first number of its state is large.
    fn data() -> JudgeData<f64> {
        let text = |text: usize| {
            let chance = Chance::new(3).with(&text.to_le_bytes());
            let number = |n: usize| 2.0 * chance.with(&n.to_le_bytes()).unit() - 1.0;
            let states = Matrix::new(9, 4, (0..36).map(number).collect()).unwrap();
            let labels = states.lines().map(|line| line[0] > 0.6).collect();
            (states, labels)
        };
        JudgeData::new((0..30).map(text).collect()).unwrap()
    }

    #[test]
    fn training_finds_the_calls_and_repeats() {
        let data = data();
        let model = ModelSize { layers: 2, width: 4, feed_forward: None };
        let mut recipe = recipe::judge(Recipe::Ours, model);
        (recipe.hidden, recipe.optimiser.lr) = (8, 0.05);
        let mut training = JudgeTraining::new(&data, recipe, Chance::new(1));
        let trace: Vec<_> = training.by_ref().collect();
        assert_eq!(trace.len(), 8 * 12);
        let judge = training.into_heads();
        let pairs = data.texts.iter().flat_map(|(states, labels)| {
            let logits = judge.logits(states).unwrap();
            logits.into_iter().map(|x| x > 0.0).zip(labels.clone()).collect::<Vec<_>>()
        });
        let found = Positives::of(pairs);
        assert!(found.f1() > 0.9, "{found:?}");
        let mut again = JudgeTraining::new(&data, recipe, Chance::new(1));
        assert_eq!(again.by_ref().collect::<Vec<_>>(), trace);
        assert_eq!(again.into_heads(), judge);
    }

    #[test]
    fn texts_of_different_widths_are_refused() {
        let text = |width| (Matrix::<f32>::zeros(1, width), vec![true]);
        assert!(JudgeData::new(vec![text(3), text(4)]).is_err());
        assert!(JudgeData::new(vec![(Matrix::<f32>::zeros(2, 3), vec![true])]).is_err());
        let none = JudgeData::<f32>::new(Vec::new()).unwrap();
        let model = ModelSize { layers: 2, width: 4, feed_forward: None };
        assert_eq!(
            JudgeTraining::new(&none, recipe::judge(Recipe::Paper, model), Chance::new(1)).count(),
            0
        );
    }
}
