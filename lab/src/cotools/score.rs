//! Scores of all tools for each query: by words, by untrained states and by heads.

use std::sync::Arc;

use super::args::Means;
use super::lesson::Lesson;
use crate::app::shell::cotools::catalogue::Catalogue;
use crate::app::shell::trouble::Trouble;
use crate::app::encoder::Encoder;
use crate::cotools::open::{self, ProgressLine};
use crate::papers::cotools::{
    HeadFile, Heads, Matrix, Pooling, RecipeLayer, Retrieval, RunningMean, Use, word_scores,
};

/// The scores of the tools of a pool for one query; those by states are `None` if words rank alone.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    pub words: Vec<f64>,
    pub untrained: Option<Vec<f64>>,
    pub trained: Option<Vec<f64>>,
}

/// The ways to compare states.
pub struct Ways {
    pub untrained: Retrieval,
    pub trained: Option<Retrieval>,
    pub means: Means,
}

impl Ways {
    /// Ways with these heads, or without any.
    ///
    /// # Errors
    /// The heads are those of a judge.
    pub fn new(
        encoder: &Encoder,
        of: Use,
        heads: Option<Arc<HeadFile>>,
        means: Means,
    ) -> Result<Self, Trouble> {
        let untrained = Retrieval::untrained(of, encoder.size());
        let trained = heads.map(Retrieval::trained).transpose().map_err(Trouble::usage)?;
        Ok(Self { untrained, trained, means })
    }

    /// The place of the states that rank best.
    pub fn at(&self) -> (RecipeLayer, Pooling) {
        self.trained.as_ref().unwrap_or(&self.untrained).at()
    }

    /// Scores of all queries over all tools, in the order of the queries.
    ///
    /// # Errors
    /// Texts cannot be read.
    pub fn score(
        &mut self,
        encoder: &mut Encoder,
        catalogue: &Catalogue,
        lesson: &Lesson,
    ) -> Result<Vec<Scores>, Trouble> {
        let untrained = by_states(&mut self.untrained, encoder, catalogue, lesson, self.means)?;
        let trained = match &mut self.trained {
            Some(trained) => by_states(trained, encoder, catalogue, lesson, self.means)?,
            None => vec![None; lesson.len()],
        };
        let all: Vec<usize> = (0..catalogue.tools.len()).collect();
        let words = by_words(catalogue, &all, &lesson.words);
        let of = words.into_iter().zip(untrained).zip(trained);
        Ok(of.map(|((words, untrained), trained)| Scores { words, untrained, trained }).collect())
    }
}

/// BM25 scores of these tools for each text, from an index of these tools alone.
pub fn by_words(catalogue: &Catalogue, places: &[usize], texts: &[String]) -> Vec<Vec<f64>> {
    let lexical = catalogue.lexical(places);
    let names: Vec<&str> =
        places.iter().map(|place| catalogue.tools[*place].name.as_str()).collect();
    texts.iter().map(|text| word_scores(&lexical, names.iter().copied(), text)).collect()
}

fn by_states(
    retrieval: &mut Retrieval,
    encoder: &mut Encoder,
    catalogue: &Catalogue,
    lesson: &Lesson,
    means: Means,
) -> Result<Vec<Option<Vec<f64>>>, Trouble> {
    let at = retrieval.at();
    let tools = open::encode(encoder, "tools", &catalogue.texts(), at)?;
    for (name, state) in catalogue.names().zip(tools.lines()) {
        retrieval.insert(name, Some(state.to_vec())).map_err(Trouble::failed)?;
    }
    let queries = open::encode(encoder, "queries", &lesson.texts, at)?;
    let fixed = fixed_mean(retrieval, means, &queries);
    let mut running = RunningMean::default();
    let mut seen = std::collections::HashSet::new();
    let mut shown = ProgressLine::new("ranked", lesson.len());
    let mut all = Vec::with_capacity(lesson.len());
    for (n, (query, text)) in queries.lines().zip(&lesson.texts).enumerate() {
        let mean = fixed.as_deref().or_else(|| running.mean());
        let scores = retrieval.scores(query, mean).map_err(Trouble::failed)?;
        // All tools have states, so no score is missing.
        all.push(scores.map(|scores| scores.into_iter().flatten().collect()));
        if seen.insert(text) {
            running.add(query).map_err(Trouble::failed)?;
        }
        shown.show(n);
    }
    shown.clear();
    Ok(all)
}

/// The mean for all queries; `None` for the running one.
fn fixed_mean(retrieval: &Retrieval, means: Means, queries: &Matrix<f32>) -> Option<Vec<f32>> {
    match (means, retrieval.heads().map(|heads| &heads.heads)) {
        (Means::Running, _) => None,
        (Means::Heads, Some(Heads::Retriever { query_mean, .. })) => Some(query_mean.clone()),
        // Untrained states have no training mean.
        (Means::Heads | Means::All, _) => Some(queries.mean()),
    }
}
