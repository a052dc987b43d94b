//! Scores a tool by words, by states, or by both. A session's menu takes the best tools of each ranking instead.

use serde::Serialize;

use crate::domain::{Ranking, Retrieve, ToolName};

/// The default weight of words, chosen on dev questions of STQuestions. From 0.15 to 0.5 they hardly differ; with
/// untrained states 0.5 is better.
pub const MIX: f64 = 0.25;

/// The score of a tool and its parts, for a table of tools.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mixed {
    /// The higher, the better.
    pub score: f64,
    /// z-score by states; `None` for a tool whose state is not known.
    pub states: Option<f64>,
    /// z-score by words.
    pub words: f64,
}

/// The scores of all tools of a pool:
///
/// ```text
/// words: z_words      states: z_states      both: z_states + mix · z_words
/// ```
///
/// `states` and `words` have one score for each tool, in any unit: z-scores over the pool make them
/// comparable. `mix`, 0 to 2, is the weight of words.
///
/// A tool without a state is scored by words alone. Its z by states is then estimated by the line that fits the tools
/// with both best: `ρ · z_words`, with the correlation ρ of both scores, or 0 if that is negative. So words count for
/// as much as they tell about states, and a new tool is neither buried nor lifted above all others: with 0 for the
/// unknown z, or with `z_words` itself, dev questions lose up to 35 and 28 points of top-1. Without any state all tools
/// are ranked by words.
pub fn mix(retrieve: Retrieve, states: &[Option<f64>], words: &[f64], mix: f64) -> Vec<Mixed> {
    let (states, words) = (known_z_scores(states), z_scores(words));
    let slope = correlation(&states, &words);
    let score = |(states, words): (Option<f64>, f64)| {
        let by_states = states.unwrap_or(slope * words);
        let score = match retrieve {
            Retrieve::Words => words,
            Retrieve::States => by_states,
            Retrieve::Both => by_states + mix * words,
        };
        Mixed { score, states, words }
    };
    states.into_iter().zip(words).map(score).collect()
}

/// The tools of a pool with their scores by states and by words, ranked for a session. `queries` is the number of
/// earlier queries in the mean.
pub fn rank_tools(queries: u64, tools: Vec<(ToolName, Option<f64>, f64)>) -> Ranking {
    let states: Vec<_> = tools.iter().map(|(_, states, _)| *states).collect();
    let words: Vec<_> = tools.iter().map(|(_, _, words)| *words).collect();
    let mixed = mix(Retrieve::Both, &states, &words, 0.0);
    let slope = correlation(&known_z_scores(&states), &z_scores(&words));
    let scored = tools
        .into_iter()
        .zip(mixed)
        .map(|((tool, ..), mixed)| (tool, mixed.states.map(|z| z as f32), mixed.words as f32));
    Ranking::of(queries, slope as f32, scored)
}

/// (x − mean) / standard deviation of the population; zeros if all numbers are equal.
pub fn z_scores(numbers: &[f64]) -> Vec<f64> {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    let deviation = variance.sqrt();
    // Rounding errors of equal numbers are not a deviation.
    let spread = deviation > 1e-12 * mean.abs() && deviation.is_finite();
    numbers.iter().map(|x| if spread { (x - mean) / deviation } else { 0.0 }).collect()
}

fn known_z_scores(numbers: &[Option<f64>]) -> Vec<Option<f64>> {
    let known: Vec<f64> = numbers.iter().flatten().copied().collect();
    let mut known = z_scores(&known).into_iter();
    numbers.iter().map(|number| number.and_then(|_| known.next())).collect()
}

/// The slope of the line through the tools with both scores, 0 to 1; 1 if there is no such tool.
fn correlation(states: &[Option<f64>], words: &[f64]) -> f64 {
    let both: Vec<(f64, f64)> =
        states.iter().zip(words).filter_map(|(states, words)| Some(((*states)?, *words))).collect();
    if both.is_empty() {
        return 1.0;
    }
    let words = z_scores(&both.iter().map(|(_, words)| *words).collect::<Vec<_>>());
    let sum: f64 = both.iter().zip(words).map(|((states, _), words)| states * words).sum();
    (sum / both.len() as f64).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scores(mixed: &[Mixed]) -> Vec<f64> {
        mixed.iter().map(|tool| tool.score).collect()
    }

    #[test]
    fn both_is_a_weighted_sum_of_z_scores() {
        let (states, words) = ([Some(0.9), Some(0.7)], [10.0, 30.0]);
        assert_eq!(z_scores(&words), [-1.0, 1.0]);
        let found = mix(Retrieve::Both, &states, &words, 0.25);
        assert!((found[0].score - 0.75).abs() < 1e-9 && (found[1].score + 0.75).abs() < 1e-9);
        assert_eq!(scores(&mix(Retrieve::Words, &states, &words, 0.25)), [-1.0, 1.0]);
    }

    #[test]
    fn equal_scores_do_not_decide() {
        assert_eq!(z_scores(&[0.1 + 0.2, 0.3, 0.3]), [0.0; 3]);
        assert_eq!(z_scores(&[]), [0.0; 0]);
        let found = mix(Retrieve::Both, &[Some(1.0), Some(2.0)], &[0.0, 0.0], 1.0);
        assert!(found[1].score > found[0].score);
    }

    #[test]
    fn without_states_words_rank() {
        let words = [0.0, 5.0, 2.0];
        for retrieve in [Retrieve::Words, Retrieve::States, Retrieve::Both] {
            let found = scores(&mix(retrieve, &[None; 3], &words, 0.25));
            assert_eq!(super::super::rank::ranking(&found), [1, 2, 0]);
        }
    }

    #[test]
    fn a_tool_without_a_state_is_placed_by_what_words_tell_about_states() {
        let words = [4.0, 3.0, 2.0, 1.0, 0.0];
        // Words agree fully: the missing tool keeps its place.
        let agree = [Some(8.0), None, Some(6.0), Some(5.0), Some(4.0)];
        let found = scores(&mix(Retrieve::States, &agree, &words, 0.0));
        assert_eq!(super::super::rank::ranking(&found), [0, 1, 2, 3, 4]);
        // Words are unrelated, or the opposite: the tool gets the mean.
        let differ = [Some(4.0), None, Some(6.0), Some(5.0), Some(8.0)];
        let found = mix(Retrieve::States, &differ, &words, 0.0);
        assert_eq!((found[1].score, found[1].states), (0.0, None));
    }

    proptest! {
        #[test]
        fn units_do_not_matter(
            pool in prop::collection::vec((-9_i8..9, 0_i8..9), 2..12), factor in 1_u8..50, shift in -9_i8..9,
        ) {
            let (factor, shift) = (f64::from(factor), f64::from(shift));
            let states: Vec<_> = pool.iter().map(|(states, _)| Some(f64::from(*states))).collect();
            let words: Vec<_> = pool.iter().map(|(_, words)| f64::from(*words)).collect();
            let other: Vec<_> = states.iter().map(|x| x.map(|x| x * factor + shift)).collect();
            let found = scores(&mix(Retrieve::Both, &states, &words, MIX));
            for (x, y) in found.iter().zip(scores(&mix(Retrieve::Both, &other, &words, MIX))) {
                prop_assert!((x - y).abs() < 1e-9);
            }
        }
    }
}
