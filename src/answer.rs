//! Whether an answer is right: exact match after SQuAD's normalisation (Rajpurkar et al. 2016), with
//! numbers compared as numbers, and a short sentence around the gold answer forgiven.

/// How many words an answer may have around the gold one and still count as that answer.
const SLACK: usize = 12;

/// How far two numbers may be apart, relative to the larger.
const TOLERANCE: f64 = 1e-6;

/// Whether an answer says what the gold answer says.
///
/// Case, punctuation, articles and spaces do not matter. Numbers are equal if they differ by less than
/// a millionth of their size. An answer that contains the gold one as whole words also counts, if it is
/// short: models like whole sentences. A yes-or-no question is not forgiven that, since "no, yes would
/// be wrong" contains both.
pub fn is_correct(answer: &str, gold: &str) -> bool {
    if let (Some(a), Some(b)) = (number(answer), number(gold)) {
        return close(a, b);
    }
    let (answer, gold) = (words(answer), words(gold));
    if answer == gold {
        return true;
    }
    let closed = matches!(gold.as_slice(), [word] if word == "yes" || word == "no");
    if gold.is_empty() || closed || answer.len() > gold.len() + SLACK {
        return false;
    }
    answer.windows(gold.len()).any(|window| {
        window.iter().zip(&gold).all(|(a, b)| match (number(a), number(b)) {
            (Some(a), Some(b)) => close(a, b),
            _ => a == b,
        })
    })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0)
}

/// The whole text as a number; thousands may be set apart by commas or spaces.
fn number(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('.');
    let digits = text.bytes().any(|b| b.is_ascii_digit());
    let plain: String = text.chars().filter(|c| !matches!(c, ',' | ' ' | '_')).collect();
    let number: f64 = plain.parse().ok()?;
    (digits && number.is_finite()).then_some(number)
}

/// Lower-case words without punctuation and articles. A point or comma inside a number stays out of
/// the way of comparing it.
fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split_whitespace()
        .flat_map(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
            if number(word).is_some() {
                vec![word.replace(',', "")]
            } else {
                let parts = word.split(|c: char| !c.is_alphanumeric());
                parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
            }
        })
        .filter(|word| !matches!(word.as_str(), "a" | "an" | "the"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::is_correct;

    #[test]
    fn what_says_the_same_is_right() {
        for (answer, gold) in [
            ("Havn", "havn"),
            ("The Havn.", "Havn"),
            ("It is Port Havn, of course.", "port havn"),
            ("1,204", "1204"),
            ("1204.0", "1204"),
            ("about 1204 km", "1204"),
            ("3.50", "3.5"),
            ("The answer is 3.50.", "3.5"),
            ("yes", "Yes."),
            ("-4", "-4"),
            ("", ""),
        ] {
            assert!(is_correct(answer, gold), "{answer:?} {gold:?}");
        }
    }

    #[test]
    fn what_says_something_else_is_wrong() {
        for (answer, gold) in [
            ("Haven", "Havn"),
            ("", "Havn"),
            ("12040", "1204"),
            ("4", "-4"),
            ("no, yes would be wrong", "yes"),
            ("I do not know.", "know nothing"),
            ("3.5", "3.50001"),
            (
                "one two three four five six seven eight nine ten eleven twelve thirteen havn",
                "havn",
            ),
        ] {
            assert!(!is_correct(answer, gold), "{answer:?} {gold:?}");
        }
    }
}
