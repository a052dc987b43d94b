//! The price of the difference: what this session has used and achieved more than its twin.

use std::collections::BTreeSet;

use crate::domain::{ToolName, words::counted};
use crate::panes::glyph::with_sign;
use crate::panes::resilience::price::dollars;
use crate::text;
use crate::twin::TwinSums;

/// The most scores that are named.
const SCORES: usize = 3;

/// The difference in words, what costs first. Scores come last, the most different first.
pub fn words(own: &TwinSums, other: &TwinSums) -> Vec<String> {
    let of = |own: u64, other: u64, thing: &str| {
        let gap = own.abs_diff(other);
        let text = counted(text::number(gap), thing);
        with_sign(own as f64 - other as f64, text)
    };
    let mut said = vec![
        of(own.calls as u64, other.calls as u64, "call"),
        of(own.tokens, other.tokens, "token"),
    ];
    // Without prices, a difference in dollars says nothing.
    if own.dollars > 0.0 || other.dollars > 0.0 {
        let more = own.dollars - other.dollars;
        said.push(with_sign(more, dollars(more.abs())));
    }
    if own.judged.max(other.judged) > 0 {
        said.push(match (own.right, other.right) {
            (here, there) if here == there => "equally many right answers".to_owned(),
            (here, there) => of(here as u64, there as u64, "right answer"),
        });
    }
    said.extend(scores(own, other));
    said
}

fn scores(own: &TwinSums, other: &TwinSums) -> Option<String> {
    let score = |sums: &TwinSums, tool| sums.scores.get(tool).copied().unwrap_or_default();
    let tools: BTreeSet<&ToolName> = own.scores.keys().chain(other.scores.keys()).collect();
    let mut different: Vec<_> = tools
        .into_iter()
        .map(|tool| (tool, score(own, tool), score(other, tool)))
        .filter(|(_, own, other)| own != other)
        .collect();
    different.sort_by(|a, b| (b.1 - b.2).abs().total_cmp(&(a.1 - a.2).abs()));
    let shown: Vec<String> = different
        .iter()
        .take(SCORES)
        .map(|(tool, own, other)| format!("{tool} {} and {}", plain(*own), plain(*other)))
        .collect();
    let more = match different.len().saturating_sub(SCORES) {
        0 => String::new(),
        more => format!("; {} more", counted(more, "score")),
    };
    (!shown.is_empty()).then(|| format!("scores here and there: {}{more}", shown.join("; ")))
}

/// A score with at most two decimals.
fn plain(score: f64) -> String {
    let text = ((100.0 * score).round() / 100.0).to_string();
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(calls: usize, right: usize, score: f64) -> TwinSums {
        let scores = [("a".into(), score), ("b".into(), 1.0)].into_iter().collect();
        TwinSums {
            calls,
            tokens: 1000 * calls as u64,
            right,
            judged: 4,
            scores,
            ..TwinSums::default()
        }
    }

    #[test]
    fn the_price_is_what_this_session_used_more() {
        let said = |own: &TwinSums, other: &TwinSums| words(own, other).join(", ");
        assert_eq!(
            said(&sums(5, 1, -2.0), &sums(3, 2, 3.5)),
            "+2 calls, +2,000 tokens, −1 right answer, scores here and there: a −2 and 3.5"
        );
        let (same, mut dear) = (sums(3, 2, 1.0), sums(3, 2, 1.0));
        dear.dollars = 0.25;
        let said = said(&same, &dear);
        assert_eq!(said, "0 calls, 0 tokens, −$0.2500, equally many right answers");
    }
}
