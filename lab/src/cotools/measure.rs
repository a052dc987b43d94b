//! Figures of groups of queries over named pools of tools, always besides chance, words and untrained states.

use serde::Serialize;

use super::lesson::Lesson;
use super::score::{Scores, by_words};
use crate::app::shell::cotools::catalogue::Catalogue;
use crate::papers::cotools::{Retrieve, mix, rank_of};
use crate::training::Figures;

/// Queries and the pool in which their tools are looked for.
#[derive(Clone, Debug)]
pub struct Group {
    pub queries: String,
    pub pool: String,
    /// The queries, as places in the lesson.
    pub of: Vec<usize>,
    /// The tools, as places in the catalogue.
    pub tools: Vec<usize>,
}

/// The figures of a group.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    pub queries: String,
    pub pool: String,
    /// Tools in the pool.
    pub tools: usize,
    pub rows: Vec<RankingRow>,
}

/// Figures of one ranking method.
#[derive(Clone, Debug, Serialize)]
pub struct RankingRow {
    pub by: &'static str,
    #[serde(flatten)]
    pub figures: Figures,
}

pub const RANDOM: &str = "random";
pub const WORDS: &str = "words (BM25)";
pub const UNTRAINED: &str = "states, untrained";
pub const TRAINED: &str = "states, heads";
pub const UNTRAINED_BOTH: &str = "both, untrained";
pub const BOTH: &str = "both, heads";

/// Measures a group; `weight` is that of words.
pub fn measure(
    group: &Group,
    catalogue: &Catalogue,
    lesson: &Lesson,
    scores: &[Scores],
    weight: f64,
) -> Measured {
    let is_whole = group.tools.len() == catalogue.tools.len();
    let texts: Vec<String> = group.of.iter().map(|query| lesson.words[*query].clone()).collect();
    let own = if is_whole { Vec::new() } else { by_words(catalogue, &group.tools, &texts) };
    let has_heads = scores.iter().any(|scores| scores.trained.is_some());
    let mut ranks: [Vec<usize>; 5] = Default::default();
    for (n, query) in group.of.iter().enumerate() {
        let Scores { words, untrained, trained } = &scores[*query];
        let words = own.get(n).unwrap_or(words);
        let among = |all: &Vec<f64>| -> Vec<Option<f64>> {
            group.tools.iter().map(|tool| all.get(*tool).copied()).collect()
        };
        let ways = [
            (untrained, Retrieve::States),
            (untrained, Retrieve::Both),
            (trained, Retrieve::States),
            (trained, Retrieve::Both),
        ];
        let gold = &lesson.gold[*query];
        ranks[0].push(rank(words, gold, &group.tools));
        for ((states, retrieve), ranks) in ways.into_iter().zip(&mut ranks[1..]) {
            let states = states.as_ref().map_or_else(|| vec![None; words.len()], among);
            let mixed: Vec<f64> =
                mix(retrieve, &states, words, weight).iter().map(|mixed| mixed.score).collect();
            ranks.push(rank(&mixed, gold, &group.tools));
        }
    }
    let [words, untrained, untrained_both, trained, both] = ranks.map(Figures::of_ranks);
    let row = |by, figures| RankingRow { by, figures };
    let mut rows =
        vec![row(RANDOM, random(group, lesson)), row(WORDS, words), row(UNTRAINED, untrained)];
    if has_heads {
        rows.extend([row(TRAINED, trained), row(UNTRAINED_BOTH, untrained_both), row(BOTH, both)]);
    } else {
        rows.push(row(UNTRAINED_BOTH, untrained_both));
    }
    let (queries, pool) = (group.queries.clone(), group.pool.clone());
    Measured { queries, pool, tools: group.tools.len(), rows }
}

/// The best rank of the right tools, at least one of which is in the pool.
fn rank(scores: &[f64], gold: &[usize], pool: &[usize]) -> usize {
    let places = gold.iter().filter_map(|tool| pool.iter().position(|own| own == tool));
    places.filter_map(|place| rank_of(scores, place)).min().unwrap_or(pool.len())
}

/// The figures of guessing. If several tools are right, the best counts, so there are as many chances.
fn random(group: &Group, lesson: &Lesson) -> Figures {
    let pool = group.tools.len();
    let most = |of: &usize| lesson.gold[*of].len();
    if group.of.iter().all(|query| most(query) <= 1) {
        return Figures::random(group.of.len(), pool);
    }
    let mut sums = Figures { questions: group.of.len(), ..Figures::default() };
    for query in &group.of {
        let (right, all) = (most(query), pool);
        // P(best rank > r) = Π (all − right − i) / (all − i) for i < r.
        let (mut beyond, mut mean) = (1.0, 0.0);
        for rank in 1..=all {
            let left = (all - rank + 1) as f64;
            let next = beyond * ((left - right as f64).max(0.0) / left);
            let here = beyond - next;
            mean += here / rank as f64;
            sums.top_1 += if rank == 1 { here } else { 0.0 };
            sums.top_5 += if rank <= 5 { here } else { 0.0 };
            beyond = next;
        }
        sums.mrr += mean;
    }
    let count = group.of.len().max(1) as f64;
    Figures { top_1: sums.top_1 / count, top_5: sums.top_5 / count, mrr: sums.mrr / count, ..sums }
}

/// A sentence for each figure in which a mix is below words.
pub fn below_words(measured: &Measured) -> Vec<String> {
    let Some(words) = measured.rows.iter().find(|row| row.by == WORDS) else { return Vec::new() };
    let mixes = measured.rows.iter().filter(|row| [BOTH, UNTRAINED_BOTH].contains(&row.by));
    mixes.flat_map(|row| below(measured, row, words.figures)).collect()
}

fn below(
    measured: &Measured,
    RankingRow { by, figures }: &RankingRow,
    words: Figures,
) -> Vec<String> {
    let parts = [
        ("top-1", 100.0 * figures.top_1, 100.0 * words.top_1, 1),
        ("top-5", 100.0 * figures.top_5, 100.0 * words.top_5, 1),
        ("MRR", figures.mrr, words.mrr, 3),
    ];
    let below = parts.into_iter().filter(|(_, mixed, words, _)| mixed < words);
    let sentence = |(what, mixed, words, decimals): (&str, f64, f64, usize)| {
        format!(
            "the mix is below words: {by}: {} over {}: {what} {mixed:.decimals$} against {words:.decimals$}",
            measured.queries, measured.pool
        )
    };
    below.map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cotools::catalogue;
    use crate::data::DataTool;

    fn measured(states: &[&[f64]]) -> Measured {
        let tool = |name: &str| DataTool { name: name.to_owned(), description: String::new() };
        let tools = ["apple", "bread", "cheese", "dates"].map(tool);
        let catalogue = catalogue::of_data("food", &tools);
        let mut lesson = Lesson::default();
        lesson.push("q".to_owned(), "an apple".to_owned(), vec![0]);
        lesson.push("q".to_owned(), "some bread".to_owned(), vec![1, 2]);
        let all = [0, 1, 2, 3];
        let words = by_words(&catalogue, &all, &lesson.words);
        let of = words.into_iter().zip(states);
        let scores: Vec<Scores> = of
            .map(|(words, states)| Scores {
                words,
                untrained: Some(states.to_vec()),
                trained: None,
            })
            .collect();
        let group = Group {
            queries: "all".to_owned(),
            pool: "all 4 tools".to_owned(),
            of: vec![0, 1],
            tools: all.to_vec(),
        };
        measure(&group, &catalogue, &lesson, &scores, 0.25)
    }

    #[test]
    fn each_way_has_a_row_and_what_is_below_words_is_said() {
        let good = measured(&[&[1.0, 0.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0]]);
        let by: Vec<_> = good.rows.iter().map(|row| (row.by, row.figures.top_1)).collect();
        assert_eq!(by[1..], [(WORDS, 1.0), (UNTRAINED, 1.0), (UNTRAINED_BOTH, 1.0)]);
        // One of four tools is right for the first query, two for the second.
        assert!((good.rows[0].figures.top_1 - 0.375).abs() < 1e-12);
        assert_eq!(good.rows[0].figures.top_5, 1.0);
        assert!(below_words(&good).is_empty());
        let bad = measured(&[&[0.0, 0.0, 0.0, 9.0], &[0.0, 0.0, 0.0, 9.0]]);
        let said = below_words(&bad);
        assert!(said[0].contains("all over all 4 tools: top-1 0.0 against 100.0"), "{said:?}");
    }
}
