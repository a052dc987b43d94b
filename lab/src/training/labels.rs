//! Training labels from a record: a text in which tool calls have results.

use thiserror::Error;

/// A training example of the retriever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example<'a> {
    /// The query: the text before the call's result.
    pub text: &'a str,
    pub tool: &'a str,
}

/// A record that does not fit its own text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadRecord {
    #[error("{starts} starts of results, but {tools} tools")]
    Unequal { starts: usize, tools: usize },
    #[error("a result starts at character {start}, but the text has {characters}")]
    BeyondText { start: usize, characters: usize },
}

/// The judge's labels: true at the token whose state predicts the first token of a result, which is the last one that
/// ends at or before the result's first character.
///
/// `ends` is the end of each token and `starts` the place of each result, in characters (Unicode scalar values) of the
/// text. No token represents the text's beginning. A result without a token before it gets no label.
pub fn judge_labels(ends: &[usize], starts: &[usize]) -> Vec<bool> {
    let mut labels = vec![false; ends.len()];
    for start in starts {
        let before = ends.partition_point(|end| end <= start);
        if let Some(label) = before.checked_sub(1).and_then(|last| labels.get_mut(last)) {
            *label = true;
        }
    }
    labels
}

/// The labels of the published code: true at the index that equals the number of tokens before the
/// result.
///
/// That is right if the tokenizer puts a token before the text, as LLaMA's does. For others every
/// label is one token late. `before` is the number of the text's own tokens before each result, and
/// `tokens` counts all.
pub fn published_judge_labels(tokens: usize, before: &[usize]) -> Vec<bool> {
    let mut labels = vec![false; tokens];
    for count in before {
        if let Some(label) = labels.get_mut(*count) {
            *label = true;
        }
    }
    labels
}

/// Makes an example for each call of a record: the text before its result, and its tool. `starts` is in characters.
///
/// # Errors
/// There are not as many tools as starts, or a start lies beyond the text.
pub fn examples<'a>(
    text: &'a str,
    starts: &[usize],
    tools: &[&'a str],
) -> Result<Vec<Example<'a>>, BadRecord> {
    if starts.len() != tools.len() {
        return Err(BadRecord::Unequal { starts: starts.len(), tools: tools.len() });
    }
    let example =
        |(start, tool): (&usize, &&'a str)| Ok(Example { text: before(text, *start)?, tool });
    starts.iter().zip(tools).map(example).collect()
}

/// The examples of the published code: it appends the same dictionary for each call and changes it afterwards, so that
/// all examples of a record equal its last call.
///
/// # Errors
/// Those of [`examples`].
pub fn published_examples<'a>(
    text: &'a str,
    starts: &[usize],
    tools: &[&'a str],
) -> Result<Vec<Example<'a>>, BadRecord> {
    let mut examples = examples(text, starts, tools)?;
    if let Some(last) = examples.last().copied() {
        examples.fill(last);
    }
    Ok(examples)
}

/// The first `count` characters.
fn before(text: &str, count: usize) -> Result<&str, BadRecord> {
    let mut ends = text.char_indices().map(|(place, _)| place).chain([text.len()]);
    match ends.nth(count) {
        Some(end) => Ok(&text[..end]),
        None => Err(BadRecord::BeyondText { start: count, characters: text.chars().count() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_characters_not_bytes() {
        let text = "é = 3 ü = 4";
        let found = examples(text, &[4, 10], &["a", "b"]).unwrap();
        assert_eq!(found[0], Example { text: "é = ", tool: "a" });
        assert_eq!(found[1], Example { text: "é = 3 ü = ", tool: "b" });
        assert_eq!(examples(text, &[11], &["a"]).unwrap()[0].text, text);
    }

    #[test]
    fn a_record_that_does_not_fit_is_refused() {
        let beyond = BadRecord::BeyondText { start: 4, characters: 3 };
        assert_eq!(examples("aüb", &[4], &["a"]), Err(beyond));
        let unequal = BadRecord::Unequal { starts: 1, tools: 2 };
        assert_eq!(examples("aüb", &[1], &["a", "b"]), Err(unequal));
    }

    #[test]
    fn a_label_inside_a_token_goes_to_the_one_before() {
        assert_eq!(judge_labels(&[2, 5, 6], &[4]), [true, false, false]);
        assert_eq!(judge_labels(&[2, 5, 6], &[5]), [false, true, false]);
        assert_eq!(judge_labels(&[2, 5, 6], &[1]), [false; 3]);
        assert_eq!(judge_labels(&[], &[1]), [false; 0]);
    }
}
