//! Retrieval for everybody: tools ranked by words, by states, or by both.

use serde::{Deserialize, Serialize};

/// By what tools are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retrieve {
    /// BM25.
    Words,
    /// The heads' scores, or cosines of states.
    States,
    /// Both, in the proportion `mix`.
    #[default]
    Both,
}

/// The default of `mix`.
pub const MIX: f64 = 0.25;

/// How a tool came to its score: what a table of tools shows beside it.
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
/// A tool without a state is scored by words alone. Its z by states is then estimated by the line
/// that fits the tools with both best: `ρ · z_words`, with the correlation ρ of both scores, or 0 if
/// that is negative. So words count for as much as they tell about states, and a new tool is
/// neither buried nor lifted above all others. Without any state all tools are ranked by words.
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
