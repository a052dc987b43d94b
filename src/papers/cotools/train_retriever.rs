//! The training of a retriever, one batch at a time.

use super::{
    adamw::AdamW,
    batches::Batches,
    clip::{clip, scale},
    contrastive::{RetrieverGradient, tools_of_batch},
    matrix::{BadShape, Matrix},
    real::Real,
    recipe::RetrieverRecipe,
    retriever::Retriever,
    trained::Trained,
};
use crate::domain::Chance;

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
    /// Of the query encoder, the tool encoder and `w`.
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

    /// Goes on with these heads.
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
            scale(gradient.query.weights_mut(), factor);
            scale(gradient.tool.weights_mut(), factor);
            scale([&mut gradient.w], factor);
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
        let found = self.heads.loss(&queries, &tools, &labels, temperature).ok()?;
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
