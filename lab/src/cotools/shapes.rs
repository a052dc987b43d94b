//! The shape of figures 4 to 7 of the paper: accuracy against the size of the pool, and the spread of wrong picks.

use serde::Serialize;

use super::answer::RetrieverMeasures;
use super::score::Scores;
use crate::app::compare::table::{PlainTable, percent};
use crate::papers::cotools::{Retrieve, mix};
use crate::training::{WrongPicks, over_pool};

/// Sizes of pools, besides the whole one.
const SIZES: [usize; 7] = [30, 60, 100, 200, 400, 800, 1_600];

/// The most frequent wrong tools that are added up.
const FAVOURITES: usize = 10;

/// Pool curves and wrong picks, for each group of queries.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Shapes {
    pub pools: Vec<PoolCurve>,
    pub wrong: Vec<Wrong>,
}

/// Top-1 over the first tools of a pool.
#[derive(Clone, Debug, Serialize)]
pub struct PoolCurve {
    pub queries: String,
    pub points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    pub tools: usize,
    pub questions: usize,
    pub words: f64,
    pub states: f64,
    pub both: f64,
}

/// Wrong picks of a ranking method.
#[derive(Clone, Debug, Serialize)]
pub struct Wrong {
    pub queries: String,
    pub by: &'static str,
    pub picks: usize,
    /// The number of different tools that were picked.
    pub tools: usize,
    /// The share of the ten most frequent ones, 0 to 1.
    pub favourites: f64,
}

/// The scores of all tools for some queries, by words, states and both.
fn ways(scores: &[&Scores], weight: f64) -> [Vec<Vec<f64>>; 3] {
    let states = |scores: &Scores| -> Vec<Option<f64>> {
        match scores.trained.as_ref().or(scores.untrained.as_ref()) {
            Some(states) => states.iter().copied().map(Some).collect(),
            None => vec![None; scores.words.len()],
        }
    };
    let of = |retrieve| {
        let one = |scores: &&Scores| {
            let mixed = mix(retrieve, &states(scores), &scores.words, weight);
            mixed.into_iter().map(|mixed| mixed.score).collect()
        };
        scores.iter().map(one).collect()
    };
    [of(Retrieve::Words), of(Retrieve::States), of(Retrieve::Both)]
}

pub fn shapes(answer: &RetrieverMeasures, weight: f64) -> Shapes {
    let all = answer.catalogue.tools.len();
    let mut shapes = Shapes::default();
    for group in &answer.groups {
        let scores: Vec<&Scores> = group.of.iter().map(|query| &answer.scores[*query]).collect();
        let gold: Vec<usize> = group
            .of
            .iter()
            .filter_map(|query| answer.lesson.gold[*query].first().copied())
            .collect();
        if gold.len() != scores.len() {
            continue;
        }
        let ways = ways(&scores, weight);
        let name = format!("{} over {}", group.queries, group.pool);
        // The pools grow within the tools of the group; over all tools, the group of its own tools shows the same.
        if group.tools.len() < all || answer.groups.len() == 1 {
            let sizes = SIZES.into_iter().filter(|size| *size < group.tools.len());
            let points = sizes.chain([group.tools.len()]).map(|size| {
                let pool = &group.tools[..size];
                let [words, states, both] = [0, 1, 2].map(|way| over_pool(&ways[way], &gold, pool));
                let questions = words.questions;
                let (words, states, both) = (words.top_1, states.top_1, both.top_1);
                Point { tools: size, questions, words, states, both }
            });
            shapes.pools.push(PoolCurve { queries: name.clone(), points: points.collect() });
        }
        if group.tools.len() == all {
            for (by, scores) in ["words", "states", "both"].into_iter().zip(&ways) {
                let wrong = WrongPicks::of(scores, &gold);
                shapes.wrong.push(Wrong {
                    queries: name.clone(),
                    by,
                    picks: wrong.picks,
                    tools: wrong.tools.len(),
                    favourites: wrong.share_of_most_picked(FAVOURITES),
                });
            }
        }
    }
    shapes
}

impl PoolCurve {
    /// Whether the accuracy of words and states together falls from the smallest pool to the largest.
    pub fn falls(&self) -> bool {
        let (first, last) = (self.points.first(), self.points.last());
        first.zip(last).is_some_and(|(first, last)| last.both < first.both)
    }
}

impl Shapes {
    pub fn text(&self) -> String {
        let mut text = String::new();
        for PoolCurve { queries, points } in &self.pools {
            let title = format!("Figures 4 to 6: top-1 against the pool, {queries}");
            let columns = ["first tools", "questions", "words", "states", "both"];
            let mut table = PlainTable::new(title, 0, &columns);
            for point in points {
                table.row(vec![
                    point.tools.to_string(),
                    point.questions.to_string(),
                    percent(point.words),
                    percent(point.states),
                    percent(point.both),
                ]);
            }
            text += &format!("{}\n", table.text());
        }
        let columns = ["queries", "by", "wrong picks", "tools", "ten most picked, %"];
        let mut table = PlainTable::new("Figure 7: are wrong picks spread?", 2, &columns);
        for wrong in &self.wrong {
            table.row(vec![
                wrong.queries.clone(),
                wrong.by.to_owned(),
                wrong.picks.to_string(),
                wrong.tools.to_string(),
                percent(wrong.favourites),
            ]);
        }
        text + &table.text()
    }
}
