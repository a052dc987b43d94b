//! Figures of retrieval: top-1, top-5 and mean reciprocal rank, always over a named pool of tools.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::papers::cotools::{rank_of, ranking};

/// Figures over some questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Questions.
    pub questions: usize,
    /// Share of questions whose tool is the first, 0 to 1.
    pub top_1: f64,
    /// Share of questions whose tool is among the first five, 0 to 1.
    pub top_5: f64,
    /// The mean of 1 / rank, 0 to 1.
    pub mrr: f64,
}

impl Figures {
    /// Computes the figures from the rank, 1 or more, of each question's tool.
    pub fn of_ranks(ranks: impl IntoIterator<Item = usize>) -> Self {
        let (mut questions, mut first, mut five, mut sum) = (0_usize, 0_usize, 0_usize, 0.0);
        for rank in ranks {
            questions += 1;
            first += usize::from(rank == 1);
            five += usize::from(rank <= 5);
            sum += 1.0 / rank.max(1) as f64;
        }
        let count = questions.max(1) as f64;
        let (top_1, top_5) = (first as f64 / count, five as f64 / count);
        Self { questions, top_1, top_5, mrr: sum / count }
    }

    /// The expected figures of guessing among `pool` tools.
    pub fn random(questions: usize, pool: usize) -> Self {
        let count = pool.max(1) as f64;
        let mrr = (1..=pool).map(|rank| 1.0 / rank as f64).sum::<f64>() / count;
        Self { questions, top_1: 1.0 / count, top_5: (5.0 / count).min(1.0), mrr }
    }
}

/// The figures if the pool is only the tools in `pool`, of all tools that `scores` has for each question. Questions
/// with a tool outside the pool are left out. For figures 4 to 6 of the paper: accuracy falls as the pool grows.
pub fn over_pool(scores: &[Vec<f64>], gold: &[usize], pool: &[usize]) -> Figures {
    let places: BTreeMap<usize, usize> = pool.iter().zip(0..).map(|(tool, i)| (*tool, i)).collect();
    let ranks = scores.iter().zip(gold).filter_map(|(scores, gold)| {
        let place = *places.get(gold)?;
        let among: Vec<f64> =
            pool.iter().map(|tool| scores.get(*tool).copied().unwrap_or(f64::NAN)).collect();
        rank_of(&among, place)
    });
    Figures::of_ranks(ranks)
}

/// Wrong picks, for figure 7 of the paper, which shows whether they are spread or a few favourites.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WrongPicks {
    /// Questions whose first tool is wrong.
    pub picks: usize,
    /// How often each wrong tool was picked, the most picked first, equal ones by index.
    pub tools: Vec<(usize, usize)>,
}

impl WrongPicks {
    pub fn of(scores: &[Vec<f64>], gold: &[usize]) -> Self {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for (scores, gold) in scores.iter().zip(gold) {
            if let Some(pick) = ranking(scores).first().filter(|pick| *pick != gold) {
                *counts.entry(*pick).or_default() += 1;
            }
        }
        let mut tools: Vec<_> = counts.into_iter().collect();
        tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Self { picks: tools.iter().map(|(_, count)| count).sum(), tools }
    }

    /// The share, 0 to 1, that the `n` most picked wrong tools have among wrong picks.
    pub fn share_of_most_picked(&self, n: usize) -> f64 {
        let most: usize = self.tools.iter().take(n).map(|(_, count)| count).sum();
        if self.picks == 0 { 0.0 } else { most as f64 / self.picks as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessing_has_the_expected_figures() {
        let ranks = Figures::of_ranks(1..=8);
        let random = Figures::random(8, 8);
        assert_eq!((random.top_1, random.top_5), (ranks.top_1, ranks.top_5));
        assert!((random.mrr - ranks.mrr).abs() < 1e-15);
        assert_eq!(Figures::random(3, 2).top_5, 1.0);
        assert_eq!(Figures::of_ranks([]), Figures::default());
    }

    #[test]
    fn a_smaller_pool_has_fewer_rivals() {
        let scores = vec![vec![0.1, 0.5, 0.9, 0.2], vec![0.8, 0.1, 0.2, 0.3]];
        let gold = [1, 3];
        let all = over_pool(&scores, &gold, &[0, 1, 2, 3]);
        assert_eq!((all.questions, all.top_1, all.mrr), (2, 0.0, 0.5));
        let two = over_pool(&scores, &gold, &[0, 1]);
        assert_eq!((two.questions, two.top_1), (1, 1.0));
    }

    #[test]
    fn wrong_picks_are_counted_by_tool() {
        let scores = vec![vec![0.0, 1.0], vec![0.0, 1.0], vec![1.0, 0.0], vec![1.0, 0.0]];
        let wrong = WrongPicks::of(&scores, &[0, 0, 0, 1]);
        assert_eq!(wrong, WrongPicks { picks: 3, tools: vec![(1, 2), (0, 1)] });
        assert_eq!(wrong.share_of_most_picked(1), 2.0 / 3.0);
        assert_eq!(WrongPicks::default().share_of_most_picked(10), 0.0);
    }
}
