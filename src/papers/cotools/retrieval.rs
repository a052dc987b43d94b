//! Retrieval over a pool of tools that changes.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{
    centre::centre,
    head_file::{HeadFile, Heads},
    matrix::{BadShape, Matrix},
    misfit::Misfit,
    mix::{Mixed, mix},
    rank::ranking,
    real::dot,
    recipe::{ModelSize, Pooling, Preparation, Recipe, RecipeLayer, Use},
    retriever::SHORTEST,
    texts::QueryTemplate,
};
use crate::domain::{Lexical, Retrieve};

/// Tools with their states, and the method that ranks them for a query: trained heads, or the cosine of states.
///
/// A tool without a state yet is part of the pool: words rank it. Adding, encoding or removing a tool costs only that
/// tool, until a tenth of the states has changed: then the mean of the catalogue, which is subtracted from each, is
/// recomputed with the next query.
#[derive(Clone, Debug)]
pub struct Retrieval {
    heads: Option<Arc<HeadFile>>,
    at: (RecipeLayer, Pooling),
    preparation: Preparation,
    template: QueryTemplate,
    width: usize,
    tools: IndexMap<String, PoolSlot>,
    catalogue: Catalogue,
}

/// A tool of the pool.
#[derive(Clone, Debug, Default)]
struct PoolSlot {
    state: Option<Vec<f32>>,
    /// V_T, or the prepared state of length 1; `None` until a query needs it.
    vector: Option<Vec<f32>>,
}

/// The mean of the states of all tools.
#[derive(Clone, Debug, Default)]
struct Catalogue {
    mean: Option<Vec<f32>>,
    /// States in it.
    states: usize,
    /// States that were added or removed since then.
    changed: usize,
}

impl Retrieval {
    /// An empty pool, ranked by the cosine of states: the retriever without heads.
    pub fn untrained(of: Use, model: ModelSize) -> Self {
        Self {
            heads: None,
            at: Recipe::Ours.states(of, model),
            preparation: Recipe::Ours.preparation(of),
            template: QueryTemplate::Knowledge,
            width: model.width,
            tools: IndexMap::new(),
            catalogue: Catalogue::default(),
        }
    }

    /// An empty pool, ranked by these heads.
    ///
    /// # Errors
    /// The heads are those of a judge.
    pub fn trained(heads: Arc<HeadFile>) -> Result<Self, Misfit> {
        let about = &heads.about;
        if about.of == Use::Judge {
            return Err(Misfit::Use { heads: about.of, wanted: Use::Question });
        }
        Ok(Self {
            at: (about.layer, about.pooling),
            preparation: about.preparation,
            template: about.template.unwrap_or(QueryTemplate::Knowledge),
            width: about.width,
            tools: IndexMap::new(),
            catalogue: Catalogue::default(),
            heads: Some(heads),
        })
    }

    /// The states that queries and tools need.
    pub fn at(&self) -> (RecipeLayer, Pooling) {
        self.at
    }

    /// The text for the reader, for a question and an answer so far.
    pub fn query_text(&self, question: &str, answer: &str) -> String {
        self.template.text(question, answer)
    }

    pub fn heads(&self) -> Option<&HeadFile> {
        self.heads.as_deref()
    }

    /// Whether queries are centred, so that [`super::FEWEST`] of them must be seen first.
    pub fn needs_mean(&self) -> bool {
        self.preparation == Preparation::Centred
    }

    /// Adds a tool, or replaces the one with that name. Without a state it is ranked by words.
    ///
    /// # Errors
    /// The state has another width; nothing changes then.
    pub fn insert(&mut self, tool: &str, state: Option<Vec<f32>>) -> Result<(), BadShape> {
        if let Some(state) = &state {
            BadShape::check("width of a tool's state", state.len(), self.width)?;
        }
        let is_known = state.is_some();
        let before = self.tools.insert(tool.to_owned(), PoolSlot { state, vector: None });
        if is_known || before.is_some_and(|slot| slot.state.is_some()) {
            self.catalogue.changed += 1;
        }
        Ok(())
    }

    /// Removes a tool; `false` if it is not in the pool.
    pub fn remove(&mut self, tool: &str) -> bool {
        let gone = self.tools.shift_remove(tool);
        if gone.as_ref().is_some_and(|slot| slot.state.is_some()) {
            self.catalogue.changed += 1;
        }
        gone.is_some()
    }

    /// The tools in the order of their arrival, which is that of all scores.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Whether the state of this tool is known.
    pub fn has_state(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|slot| slot.state.is_some())
    }

    /// The score of each tool for the state of a query; `None` for a tool without a state. `mean` is the mean of the
    /// domain's queries: see [`super::RunningMean::mean`]. The result is `None` if the mean is needed and not known
    /// yet, or if no tool has a state: then words alone rank.
    ///
    /// # Errors
    /// The query or the mean has another width.
    pub fn scores(
        &mut self,
        query: &[f32],
        mean: Option<&[f32]>,
    ) -> Result<Option<Vec<Option<f64>>>, BadShape> {
        BadShape::check("width of a query's state", query.len(), self.width)?;
        if self.needs_mean() && mean.is_none() {
            return Ok(None);
        }
        self.prepare()?;
        if self.tools.values().all(|slot| slot.vector.is_none()) {
            return Ok(None);
        }
        let query = self.query_vector(query, mean)?;
        let score = |slot: &PoolSlot| Some(f64::from(dot(slot.vector.as_deref()?, &query)));
        Ok(Some(self.tools.values().map(score).collect()))
    }

    /// V_Q of the state of a query, or the prepared state of length 1.
    ///
    /// # Errors
    /// The query or the mean has another width.
    fn query_vector(&self, query: &[f32], mean: Option<&[f32]>) -> Result<Vec<f32>, BadShape> {
        let query = self.prepared(Matrix::new(1, query.len(), query.to_vec())?, mean)?;
        let vectors = match self.retriever() {
            Some(retriever) => retriever.query_vectors(&query)?,
            None => unit(query),
        };
        Ok(vectors.row(0).to_vec())
    }

    /// Computes the tool data for the next query, which may take a second for thousands of tools. [`Retrieval::scores`]
    /// does this too.
    ///
    /// # Errors
    /// None, in practice: widths were checked.
    pub fn prepare(&mut self) -> Result<(), BadShape> {
        let Catalogue { states, changed, mean } = &self.catalogue;
        if mean.is_none() || changed * 10 > *states {
            let known: Vec<_> =
                self.tools.values().filter_map(|slot| slot.state.as_ref()).collect();
            let (states, mean) = (known.len(), Matrix::of_rows(&known)?.mean());
            let mean = (states > 0).then_some(mean);
            self.catalogue = Catalogue { mean, states, changed: 0 };
            self.tools.values_mut().for_each(|slot| slot.vector = None);
        }
        let missing = |slot: &PoolSlot| slot.vector.is_none() && slot.state.is_some();
        let places: Vec<usize> =
            (0..self.tools.len()).filter(|place| missing(&self.tools[*place])).collect();
        if places.is_empty() {
            return Ok(());
        }
        let states: Vec<_> = places.iter().filter_map(|i| self.tools[*i].state.as_ref()).collect();
        let states = self.prepared(Matrix::of_rows(&states)?, self.catalogue.mean.as_deref())?;
        let vectors = match self.retriever() {
            Some(retriever) => retriever.tool_vectors(&states)?,
            None => unit(states),
        };
        for (place, vector) in places.into_iter().zip(vectors.lines()) {
            self.tools[place].vector = Some(vector.to_vec());
        }
        Ok(())
    }

    fn retriever(&self) -> Option<&super::Retriever<f32>> {
        match &self.heads.as_ref()?.heads {
            Heads::Retriever { retriever, .. } => Some(retriever),
            Heads::Judge(_) => None,
        }
    }

    fn prepared(
        &self,
        mut states: Matrix<f32>,
        mean: Option<&[f32]>,
    ) -> Result<Matrix<f32>, BadShape> {
        self.preparation.apply(&mut states, mean)?;
        Ok(states)
    }
}

impl Preparation {
    /// Prepares states. Only [`Preparation::Centred`] uses a mean.
    ///
    /// # Errors
    /// The mean has another width.
    pub fn apply(self, states: &mut Matrix<f32>, mean: Option<&[f32]>) -> Result<(), BadShape> {
        match (self, mean) {
            (Self::Centred, Some(mean)) => centre(states, mean),
            (Self::Centred, None) | (Self::Scaled, _) => {
                super::scale(states);
                Ok(())
            }
            (Self::Raw, _) => Ok(()),
        }
    }
}

/// The rows, scaled to length 1.
fn unit(mut states: Matrix<f32>) -> Matrix<f32> {
    for line in states.lines_mut() {
        let length = super::real::length(line).max(SHORTEST) as f32;
        line.iter_mut().for_each(|x| *x /= length);
    }
    states
}

/// BM25 scores of these tools, in their order; 0 for a tool that shares no word with the text.
pub fn word_scores<'a>(
    lexical: &Lexical,
    tools: impl ExactSizeIterator<Item = &'a str>,
    text: &str,
) -> Vec<f64> {
    let found: std::collections::HashMap<&str, f32> =
        lexical.search(text).map(|(tool, score)| (tool.as_str(), score)).collect();
    tools.map(|tool| found.get(tool).copied().map_or(0.0, f64::from)).collect()
}

/// The places of all tools of a pool, best first, with the parts of their scores. `states` comes from
/// [`Retrieval::scores`], `words` from [`word_scores`].
pub fn ranked(
    retrieve: Retrieve,
    states: Option<&[Option<f64>]>,
    words: &[f64],
    weight: f64,
) -> Vec<(usize, Mixed)> {
    let none = vec![None; words.len()];
    let mixed = mix(retrieve, states.unwrap_or(&none), words, weight);
    let scores: Vec<f64> = mixed.iter().map(|mixed| mixed.score).collect();
    ranking(&scores).into_iter().map(|place| (place, mixed[place])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: ModelSize = ModelSize { layers: 3, width: 2, feed_forward: None };

    fn pool(tools: &[(&str, [f32; 2])]) -> Retrieval {
        let mut pool = Retrieval::untrained(Use::Question, SIZE);
        for (tool, state) in tools {
            pool.insert(tool, Some(state.to_vec())).unwrap();
        }
        pool
    }

    #[test]
    fn states_rank_once_the_domain_has_a_mean() {
        let mut pool = pool(&[("a", [11.0, 10.0]), ("b", [10.0, 11.0]), ("c", [9.0, 9.0])]);
        assert_eq!(pool.scores(&[6.0, 5.0], None), Ok(None));
        let scores = pool.scores(&[6.0, 5.0], Some(&[5.0, 5.0])).unwrap().unwrap();
        assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
        assert!(pool.scores(&[6.0], Some(&[5.0, 5.0])).is_err());
        assert!(pool.insert("d", Some(vec![1.0])).is_err());
    }

    #[test]
    fn a_tool_without_a_state_is_part_of_the_pool() {
        let mut pool = pool(&[("a", [1.0, 0.0]), ("b", [0.0, 1.0])]);
        pool.insert("new", None).unwrap();
        let scores = pool.scores(&[1.0, 0.0], Some(&[0.0, 0.0])).unwrap().unwrap();
        assert_eq!(scores.len(), 3);
        assert!(scores[2].is_none() && !pool.has_state("new"));
        pool.insert("new", Some(vec![3.0, 3.0])).unwrap();
        let scores = pool.scores(&[1.0, 0.0], Some(&[0.0, 0.0])).unwrap().unwrap();
        assert!(scores[2].is_some());
        assert!(pool.remove("a") && !pool.remove("a"));
        assert_eq!(pool.tools().collect::<Vec<_>>(), ["b", "new"]);
    }

    #[test]
    fn an_empty_pool_has_no_scores() {
        assert_eq!(pool(&[]).scores(&[1.0, 0.0], Some(&[0.0, 0.0])), Ok(None));
    }

    #[test]
    fn few_changes_leave_the_vectors_of_others() {
        let tools: Vec<(String, [f32; 2])> =
            (0..20_u8).map(|n| (n.to_string(), [f32::from(n), f32::from(n % 3)])).collect();
        let tools: Vec<_> = tools.iter().map(|(name, state)| (name.as_str(), *state)).collect();
        let mut pool = pool(&tools);
        pool.prepare().unwrap();
        let first = |pool: &Retrieval| pool.tools.values().next().unwrap().vector.clone().unwrap();
        let before = first(&pool);
        pool.insert("20", Some(vec![900.0, -5.0])).unwrap();
        pool.prepare().unwrap();
        assert_eq!(first(&pool), before);
        pool.insert("21", Some(vec![900.0, -5.0])).unwrap();
        pool.insert("22", Some(vec![900.0, -5.0])).unwrap();
        pool.prepare().unwrap();
        assert_ne!(first(&pool), before, "the mean has moved");
    }

    #[test]
    fn without_states_words_rank() {
        let order = |states| {
            let ranked = ranked(Retrieve::Both, states, &[0.0, 2.0, 1.0], 0.25);
            ranked.into_iter().map(|(place, _)| place).collect::<Vec<_>>()
        };
        assert_eq!(order(None), [1, 2, 0]);
        assert_eq!(order(Some(&[Some(9.0), Some(0.0), Some(2.0)])), [0, 2, 1]);
    }
}
