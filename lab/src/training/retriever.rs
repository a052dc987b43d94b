//! The training of a retriever, one batch at a time.

use super::adamw::AdamW;
use super::batch_result::Trained;
use super::batches::Batches;
use super::clip::{clip, scale_gradient};
use super::contrastive::{RetrieverGradient, contrastive_loss, tools_of_batch};
use super::recipe::RetrieverRecipe;
use crate::domain::Chance;
use crate::papers::cotools::{BadShape, Matrix, Real, Retriever};

/// Prepared states and the tool of each query. Means are already subtracted.
#[derive(Clone, Debug)]
pub struct RetrieverData<R> {
    queries: Matrix<R>,
    tools: Matrix<R>,
    gold: Vec<usize>,
}

/// Norms of the gradients of the query encoder, the tool encoder and `w`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetrieverNorms {
    pub query: f64,
    pub tool: f64,
    pub w: f64,
}

/// A training that advances by one batch with each [`Iterator::next`]. The caller shows progress,
/// measures on dev, keeps the best heads, and stops when it wants.
#[derive(Clone, Debug)]
pub struct RetrieverTraining<'a, R> {
    data: &'a RetrieverData<R>,
    recipe: RetrieverRecipe,
    heads: Retriever<R>,
    batches: Batches,
    /// The optimisers of the query encoder, the tool encoder and `w`.
    optimisers: [AdamW<R>; 3],
    pending: Option<(RetrieverGradient<R>, usize)>,
}

impl<R: Real> RetrieverData<R> {
    /// `queries` is [n, width], `tools` [m, width], and `gold` names a row of `tools` per query.
    ///
    /// # Errors
    /// The widths differ, a query has no tool, or a tool is not a row.
    pub fn new(queries: Matrix<R>, tools: Matrix<R>, gold: Vec<usize>) -> Result<Self, BadShape> {
        BadShape::check("width of a tool's state", tools.cols(), queries.cols())?;
        BadShape::check("tools of the queries", gold.len(), queries.rows())?;
        BadShape::check_rows("tool of a query", &gold, tools.rows())?;
        Ok(Self { queries, tools, gold })
    }

    /// Queries.
    pub fn len(&self) -> usize {
        self.gold.len()
    }

    pub fn is_empty(&self) -> bool {
        self.gold.is_empty()
    }
}

impl<'a, R: Real> RetrieverTraining<'a, R> {
    /// Starts with untrained heads.
    pub fn new(data: &'a RetrieverData<R>, recipe: RetrieverRecipe, chance: Chance) -> Self {
        let heads = Retriever::start(data.queries.cols(), recipe.hidden, chance);
        Self::of_heads(data, recipe, heads, chance)
    }

    /// Continues with these heads.
    fn of_heads(
        data: &'a RetrieverData<R>,
        recipe: RetrieverRecipe,
        heads: Retriever<R>,
        chance: Chance,
    ) -> Self {
        let RetrieverRecipe { optimiser, lr_w, decay_w, .. } = recipe;
        let count = heads.query().weights().iter().map(|part| part.len()).sum();
        let adamw = AdamW::new(count, optimiser.lr, optimiser.decay);
        let optimisers = [adamw.clone(), adamw, AdamW::new(heads.width(), lr_w, decay_w)];
        let chance = chance.with(b"order");
        let batches = Batches::new(data.len(), optimiser.batch, optimiser.epochs, chance);
        Self { data, recipe, heads, batches, optimisers, pending: None }
    }

    pub fn heads(&self) -> &Retriever<R> {
        &self.heads
    }

    pub fn into_heads(self) -> Retriever<R> {
        self.heads
    }

    /// Changes the heads by one step along the gradients so far.
    fn step(&mut self, mut gradient: RetrieverGradient<R>, factor: f64) -> RetrieverNorms {
        let most = self.recipe.optimiser.clip;
        if factor != 1.0 {
            scale_gradient(gradient.query.weights_mut(), factor);
            scale_gradient(gradient.tool.weights_mut(), factor);
            scale_gradient([&mut gradient.w], factor);
        }
        let norms = RetrieverNorms {
            query: clip(gradient.query.weights_mut(), most),
            tool: clip(gradient.tool.weights_mut(), most),
            w: clip([&mut gradient.w], most),
        };
        let (query, tool, w) = self.heads.parts_mut();
        let [for_query, for_tool, for_w] = &mut self.optimisers;
        for_query.step(query.weights_mut(), gradient.query.weights());
        for_tool.step(tool.weights_mut(), gradient.tool.weights());
        for_w.step([w], [&gradient.w]);
        norms
    }
}

impl<R: Real> Iterator for RetrieverTraining<'_, R> {
    type Item = Trained<RetrieverNorms>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        if self.recipe.optimiser.falling {
            let left = self.batches.left();
            self.optimisers.iter_mut().for_each(|optimiser| optimiser.slow_down(left));
        }
        let RetrieverRecipe { temperature, optimiser, .. } = self.recipe;
        let gold: Vec<usize> = batch.examples.iter().map(|i| self.data.gold[*i]).collect();
        let (tools, labels) = tools_of_batch(&gold);
        let queries = self.data.queries.taken(&batch.examples);
        let tools = self.data.tools.taken(&tools);
        // The shapes were checked with the data.
        let found = contrastive_loss(&self.heads, &queries, &tools, &labels, temperature).ok()?;
        let (gradient, count) = match self.pending.take() {
            Some((mut sum, count)) => {
                sum.add(&found.gradient);
                (sum, count + 1)
            }
            None => (found.gradient, 1),
        };
        let schedule = optimiser.schedule;
        let norms = if schedule.steps_after(batch.batch, batch.batches, optimiser.accumulate) {
            Some(self.step(gradient, schedule.factor(count)))
        } else {
            self.pending = Some((gradient, count));
            None
        };
        let (epoch, loss) = (batch.epoch, found.loss);
        Some(Trained { epoch, batch: batch.batch, batches: batch.batches, loss, norms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::cotools::{ModelSize, Recipe, Use, rank_of, scale, scores};
    use crate::training::{Figures, Schedule, recipe};

    const MODEL: ModelSize = ModelSize { layers: 2, width: 8, feed_forward: Some(12) };

    fn random(rows: usize, name: &str) -> Matrix<f32> {
        let chance = Chance::new(9).with(name.as_bytes());
        let number = |n: usize| chance.with(&n.to_le_bytes()).unit() as f32 - 0.5;
        Matrix::new(rows, 8, (0..rows * 8).map(number).collect()).unwrap()
    }

    /// Four queries for each of six tools; a query is the tool's state backwards, with some noise.
    fn data() -> RetrieverData<f32> {
        let (mut tools, mut queries) = (random(6, "tools"), random(24, "queries"));
        for i in 0..24 {
            let tool: Vec<f32> = tools.row(i % 6).iter().rev().copied().collect();
            queries.row_mut(i).iter_mut().zip(tool).for_each(|(x, y)| *x = *x * 0.2 + y);
        }
        scale(&mut tools);
        scale(&mut queries);
        RetrieverData::new(queries, tools, (0..24).map(|i| i % 6).collect()).unwrap()
    }

    fn settings() -> RetrieverRecipe {
        let mut recipe = recipe::retriever(Recipe::Ours, Use::Here, MODEL);
        recipe.optimiser.batch = 5;
        (recipe.optimiser.lr, recipe.optimiser.epochs) = (0.01, 30);
        recipe
    }

    fn top_1(heads: &Retriever<f32>, data: &RetrieverData<f32>) -> f64 {
        let queries = heads.query_vectors(&data.queries).unwrap();
        let found = scores(&queries, &heads.tool_vectors(&data.tools).unwrap()).unwrap();
        let rank = |(line, gold): (&[f32], &usize)| {
            rank_of(&line.iter().map(|x| f64::from(*x)).collect::<Vec<_>>(), *gold)
        };
        Figures::of_ranks(found.lines().zip(&data.gold).filter_map(rank)).top_1
    }

    #[test]
    fn training_finds_the_tools_and_repeats() {
        let data = data();
        let mut training = RetrieverTraining::new(&data, settings(), Chance::new(1));
        assert!(top_1(training.heads(), &data) < 0.5);
        let trace: Vec<_> = training.by_ref().collect();
        assert_eq!(trace.len(), 5 * settings().optimiser.epochs);
        assert_eq!(trace.iter().filter(|batch| batch.ends_epoch()).count(), 30);
        assert!(trace[149].loss < trace[0].loss / 2.0, "{trace:?}");
        assert!(top_1(training.heads(), &data) > 0.9);
        let mut again = RetrieverTraining::new(&data, settings(), Chance::new(1));
        assert_eq!(again.by_ref().collect::<Vec<_>>(), trace);
        assert_eq!(again.into_heads(), training.into_heads());
    }

    #[test]
    fn the_published_schedule_sums_gradients_and_ours_takes_their_mean() {
        let data = data();
        let norms = |schedule: Schedule| -> Vec<Option<f64>> {
            let mut recipe = settings();
            recipe.lr_w = 0.0;
            let optimiser = &mut recipe.optimiser;
            (optimiser.batch, optimiser.lr, optimiser.accumulate) = (8, 0.0, 2);
            (optimiser.schedule, optimiser.epochs) = (schedule, 2);
            let training = RetrieverTraining::new(&data, recipe, Chance::new(1));
            training.map(|batch| batch.norms.map(|norms| norms.query)).collect()
        };
        // Three batches an epoch; nothing is learned, so that gradients can be compared.
        let (published, ours) = (norms(Schedule::Published), norms(Schedule::EveryK));
        let steps = |norms: &[Option<f64>]| norms.iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!(steps(&published), [true, false, true, true, false, true]);
        assert_eq!(steps(&ours), [false, true, true, false, true, true]);
        // The published code's third step sees batches 2 and 3 together, undivided.
        assert!(published[2].unwrap() > 1.2 * ours[1].unwrap(), "{published:?} {ours:?}");
    }

    #[test]
    fn a_query_whose_tool_is_not_there_is_refused() {
        let error = RetrieverData::new(random(1, "q"), random(2, "t"), vec![2]).unwrap_err();
        assert_eq!(error.to_string(), "tool of a query: there is no row 2, only 2");
    }
}
