//! Texts with the state and the label of each token.

use crate::app::shell::trouble::Trouble;
use crate::app::encoder::Encoder;
use crate::cotools::open::{GOES_ON, ProgressLine};
use crate::data::Record;
use crate::papers::cotools::{Judge, Matrix, Preparation, RecipeLayer, hand_rule};
use crate::training::{Positives, judge_labels};

/// A text that was read.
pub struct JudgeText<'a> {
    pub text: &'a str,
    /// The end of each token, in bytes.
    pub ends: Vec<usize>,
    /// The prepared states.
    pub states: Matrix<f32>,
    /// Whether a call starts after each token.
    pub labels: Vec<bool>,
}

/// Reads records.
///
/// # Errors
/// A text cannot be read.
pub fn read<'a>(
    encoder: &mut Encoder,
    what: &str,
    records: &[&'a Record],
    layer: RecipeLayer,
    preparation: Preparation,
) -> Result<Vec<JudgeText<'a>>, Trouble> {
    let mut shown = ProgressLine::new(what, records.len());
    let mut texts = Vec::with_capacity(records.len());
    for record in records {
        let text = record.text.as_str();
        let read = encoder.token_states(text, layer, &GOES_ON).map_err(Trouble::failed)?;
        let (tokens, mut states) = read;
        preparation.apply(&mut states, None).map_err(Trouble::failed)?;
        let labels = judge_labels(&character_ends(text, &tokens.ends), &record.starts);
        texts.push(JudgeText { text, ends: tokens.ends, states, labels });
        shown.show(texts.len());
    }
    shown.clear();
    Ok(texts)
}

/// Ends in characters, from ends in bytes. A token that ends inside a character ends after it.
fn character_ends(text: &str, ends: &[usize]) -> Vec<usize> {
    let mut starts = text.char_indices().map(|(at, _)| at).peekable();
    let mut characters = 0;
    let count = |end: &usize| {
        while starts.next_if(|start| start < end).is_some() {
            characters += 1;
        }
        characters
    };
    ends.iter().map(count).collect()
}

/// How well a judge finds the calls of texts.
///
/// # Errors
/// The states have another width.
pub fn found(
    judge: &Judge<f32>,
    texts: &[JudgeText<'_>],
    threshold: f64,
) -> Result<Positives, Trouble> {
    let mut pairs = Vec::new();
    for text in texts {
        let p = judge.probabilities(&text.states).map_err(Trouble::failed)?;
        let fires = p.into_iter().map(|p| f64::from(p) > threshold);
        pairs.extend(fires.zip(text.labels.iter().copied()));
    }
    Ok(Positives::of(pairs))
}

/// The same for a rule that needs no training.
pub fn found_by_hand(texts: &[JudgeText<'_>]) -> Positives {
    let fires = |text: &str, end: usize| text.get(..end).is_some_and(hand_rule);
    Positives::of(texts.iter().flat_map(|text| {
        text.ends.iter().map(|end| fires(text.text, *end)).zip(text.labels.iter().copied())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_inside_a_character_ends_behind_it() {
        assert_eq!(character_ends("aéb", &[1, 2, 3, 4]), [1, 2, 2, 3]);
        assert_eq!(character_ends("", &[0]), [0]);
    }
}
