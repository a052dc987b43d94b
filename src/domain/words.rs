//! Short texts for people: the nearest of some names, clipping of long texts, and numbers of things.

/// The candidate most similar to `word`, if any is similar.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Below this similarity a suggestion is more confusing than helpful.
    const LIKE: f64 = 0.7;
    candidates
        .map(|candidate| (likeness(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= LIKE)
        // The first of equal candidates, so that messages are repeatable.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

/// Similarity from 0 to 1. One typo in a short word counts as similar, though it is a large part of the word.
fn likeness(word: &str, candidate: &str) -> f64 {
    let likeness = strsim::jaro_winkler(word, candidate);
    let is_short = (3..=5).contains(&word.len()) && (2..=6).contains(&candidate.len());
    if is_short && strsim::osa_distance(word, candidate) == 1 {
        return likeness.max(0.8);
    }
    likeness
}

/// `did you mean …` and the known words, for an unknown word.
pub fn expected<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    // A longer list would bury the suggestion.
    const SHOWN: usize = 24;
    let mut list: Vec<&str> = known.clone().take(SHOWN + 1).collect();
    if list.len() > SHOWN {
        list.pop();
        list.push("…");
    }
    let list = list.join(", ");
    match nearest(word, known) {
        Some(name) => format!("did you mean `{name}`? (known: {list})"),
        None => format!("known: {list}"),
    }
}

/// The first `most` characters, with `…` if something was cut.
pub fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `1 call`, `2 calls`, `2 queries`.
pub fn counted(n: impl ToString, thing: &str) -> String {
    let n = n.to_string();
    match thing.strip_suffix("ry") {
        _ if n == "1" => format!("1 {thing}"),
        Some(stem) => format!("{n} {stem}ries"),
        None if thing.ends_with('s') => format!("{n} {thing}es"),
        None => format!("{n} {thing}s"),
    }
}

/// `1 credit`, `2.5 credits`.
pub fn credits(amount: f64) -> String {
    if amount == 1.0 { "1 credit".to_owned() } else { format!("{amount} credits") }
}

/// The distance of a plan from the best one: `within 0.02 % of the best`. `gap` is the part of the best value that may
/// be missing, 0 to 1. It is rounded up to two digits; less than a thousandth of a percent counts as that much.
pub fn within(gap: f64) -> String {
    let percent = (gap * 100.0).max(0.001);
    let unit = 10_f64.powf((1.0 - percent.log10().floor()).max(0.0));
    format!("within {} % of the best", (percent * unit - 1e-6).ceil() / unit)
}

/// A text in quotes, on one line.
pub fn quoted(text: &str) -> String {
    match text.split_whitespace().collect::<Vec<_>>().join(" ") {
        text if text.is_empty() => "nothing".to_owned(),
        text => format!("\u{201c}{text}\u{201d}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_word_and_nonsense_finds_none() {
        let known = ["timeout", "time", "cost"];
        assert_eq!(nearest("timeot", known.into_iter()), Some("timeout"));
        assert_eq!(nearest("qqq", known.into_iter()), None);
        assert_eq!(nearest("bpt", ["toolnet", "btp"].into_iter()), Some("btp"));
        assert_eq!(nearest("x", std::iter::empty()), None);
    }

    #[test]
    fn clipping_counts_characters_and_not_bytes() {
        assert_eq!(clipped("äöü", 3), "äöü");
        assert_eq!(clipped("äöüß", 3), "äöü…");
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!([counted(1, "call"), counted(0, "call")], ["1 call", "0 calls"]);
        assert_eq!([counted(1, "query"), counted(2, "query")], ["1 query", "2 queries"]);
        assert_eq!(counted(2, "process"), "2 processes");
        assert_eq!([credits(1.0), credits(2.5)], ["1 credit", "2.5 credits"]);
    }

    #[test]
    fn a_gap_is_said_to_two_digits_and_never_too_small() {
        for (gap, percent) in [
            (0.0002, "0.02"),
            (0.000_151, "0.016"),
            (0.047, "4.7"),
            (0.12, "12"),
            (0.1201, "13"),
            (3e-10, "0.001"),
            (1.01e-5, "0.0011"),
            (1.0, "100"),
        ] {
            assert_eq!(within(gap), format!("within {percent} % of the best"));
        }
    }
}
