//! Finding a name by some of its letters.

/// How well the letters of `query` (lower case) fit into `text`, in order; `None`: not at all. Letters
/// that follow each other or begin a word count more, and so do short texts.
pub(super) fn score(query: &str, text: &str) -> Option<i32> {
    let mut score = 0;
    let mut wanted = query.chars().filter(|c| !c.is_whitespace()).peekable();
    let mut previous_hit = false;
    let mut word_begins = true;
    for c in text.chars() {
        let Some(&want) = wanted.peek() else { break };
        let hit = c.to_lowercase().eq(want.to_lowercase());
        if hit {
            wanted.next();
            score += 1 + 4 * i32::from(previous_hit) + 6 * i32::from(word_begins);
        }
        previous_hit = hit;
        word_begins = !c.is_alphanumeric();
    }
    let shorter_first = i32::try_from(text.len() / 8).unwrap_or(i32::MAX);
    wanted.peek().is_none().then_some(score.saturating_sub(shorter_first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_are_found_and_better_fits_win() {
        assert_eq!(score("xyz", "run-or-pause"), None);
        assert!(score("rop", "run-or-pause").is_some());
        assert!(score("step", "step") > score("step", "step-task"));
        assert!(score("st", "step-task") > score("st", "next-pane sweet"));
        assert!(score("", "anything").is_some());
    }
}
