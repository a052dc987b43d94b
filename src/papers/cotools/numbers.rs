//! Whether a predicted number is right, as GSM8K-XL and FuncQA are graded.

/// The last number in the part of an answer after the last `marker`, without commas, as written;
/// `0` if that part has none. Without a marker, the last number of the whole answer.
pub fn number_in(answer: &str, marker: &str) -> String {
    let part = answer.rsplit_once(marker).map_or(answer, |(_, part)| part).replace(',', "");
    last_number(&part).unwrap_or("0").to_owned()
}

/// The last of the numbers in a text: an optional minus, digits, and decimals if digits follow the
/// dot.
fn last_number(text: &str) -> Option<&str> {
    let (mut last, mut at) = (None, 0);
    while at < text.len() {
        let length = number_at(&text[at..]);
        if length > 0 {
            last = Some(&text[at..at + length]);
        }
        at += length.max(text[at..].chars().next().map_or(1, char::len_utf8));
    }
    last
}

/// Bytes of the number that the text starts with.
fn number_at(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let whole = sign + digits(sign);
    let decimals = if bytes.get(whole) == Some(&b'.') { digits(whole + 1) } else { 0 };
    match (whole > sign, decimals) {
        (false, 0) => 0,
        (true, 0) => whole,
        (_, decimals) => whole + 1 + decimals,
    }
}

/// Rounds to this many decimals, a tie of the exact binary value to the even digit, as in Python.
pub fn round_to(x: f64, decimals: usize) -> f64 {
    // The text has the decimals of the exact value, correctly rounded.
    format!("{x:.decimals$}").parse().unwrap_or(x)
}

/// Rounds to two decimals, or to two significant digits if the number is at least 0 and below 0.1
/// (FuncQA).
///
/// A negative number always gets two decimals: the published rule looks for the text `0` before the
/// dot, and finds `-0`.
pub fn custom_round(x: f64) -> f64 {
    let text = format!("{x:.10}");
    let zeros = match text.split_once('.') {
        Some(("0", decimals)) => decimals.bytes().take_while(|b| *b == b'0').count(),
        _ => 0,
    };
    round_to(x, zeros + 2)
}

/// Round accuracy (GSM8K-XL, FuncQA with one call): the prediction rounded to two decimals equals
/// [`custom_round`] of the gold number.
///
/// A missing prediction counts as 0, and text that is not a number is wrong. A gold number between 0 and 0.1 with more
/// than two decimals can never be matched, so report [`exact`] in addition.
pub fn round_matches(prediction: &str, gold: &str) -> bool {
    both(prediction, gold).is_some_and(|(p, g)| round_to(p, 2) == custom_round(g))
}

/// Approximate accuracy (FuncQA with several calls): within 0.1 % of the gold number.
pub fn approx(prediction: &str, gold: &str) -> bool {
    both(prediction, gold).is_some_and(|(p, g)| (p - g).abs() <= 0.001 * g.abs())
}

/// Whether both are the same number.
pub fn exact(prediction: &str, gold: &str) -> bool {
    both(prediction, gold).is_some_and(|(p, g)| p == g)
}

fn both(prediction: &str, gold: &str) -> Option<(f64, f64)> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let prediction = if prediction.trim().is_empty() { "0" } else { prediction };
    Some((number(prediction)?, number(gold)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_prediction_is_zero() {
        assert!(round_matches("", "0") && !round_matches("", "1") && !round_matches("inf", "inf"));
    }

    #[test]
    fn what_round_accuracy_cannot_match_exact_does() {
        assert!(!round_matches("0.0023", "0.0023") && exact("0.0023", "0.0023"));
        assert!(exact("1e3", "1000.0") && !exact("1000.001", "1000"));
    }

    #[test]
    fn numbers_are_found_in_any_text() {
        for (answer, right) in [
            ("ü #### ü-7–8é", "8"),
            ("#### 1.2.3", ".3"),
            ("#### --5", "-5"),
            ("#### -", "0"),
            ("#### 5. ####", "0"),
            ("", "0"),
        ] {
            assert_eq!(number_in(answer, "####"), right, "{answer}");
        }
    }
}
