//! A rule that needs no training, as a measure for the judge.

/// Whether a text so far asks for a result: it ends in `=`, `= ` or `= $`.
pub fn hand_rule(text: &str) -> bool {
    ["=", "= ", "= $"].iter().any(|end| text.ends_with(end))
}
