//! Decides whether an answer is right. Models wrap answers in words, so an exact match would fail
//! them for style, and a loose one would reward lists of guesses.
//!
//! Both sides become tokens as in SQuAD's evaluation (Rajpurkar et al. 2016): lower case, no
//! punctuation, no articles. In addition, numbers are compared as numbers, and a *short* answer may
//! say more than the gold one.
//!
//! Words alone do not decide everything: a distant negation, several alternatives, and a `yes` within a sentence are
//! misread. This verdict stays lexical, so that it costs nothing and never varies; a grader (`strategy::grade`) adds a
//! model's verdict for such cases.

/// Tokens that a short answer may have in addition to the gold ones: enough for a sentence that
/// repeats the question, too few for an enumeration.
const SPARE: usize = 12;

/// Largest difference of equal numbers, relative to the larger.
const TOLERANCE: f64 = 1e-6;

/// Decimals that a rounded number must have: `8.8` is not `8.75`, but `41.84` is `41.842944`.
const DECIMALS: usize = 2;

/// Words before the gold answer that negate it.
const NEGATIONS: [&str; 8] = ["not", "no", "never", "neither", "nor", "isnt", "wasnt", "cannot"];

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// The value and its number of decimals in the text.
    Number(f64, usize),
}

/// Whether `given` means the same as `gold`:
///
/// - equal tokens, or the gold ones in a row in a short answer, not right after a negation;
/// - numbers agree to a millionth, or one is the other rounded to its own two or more decimals:
///   `3.14` for `3.14159`, but not `3` for `3.14`, nor `1999` for `2000`;
/// - `yes` and `no` must come first: "yes, because …".
///
/// An empty gold answer is matched only by an empty one.
pub fn is_correct(given: &str, gold: &str) -> bool {
    let (given, gold) = (tokens(given), tokens(gold));
    if gold.is_empty() || given.len() < gold.len() {
        return given.is_empty() && gold.is_empty();
    }
    if gold.len() == 1 && [word("yes"), word("no")].contains(&gold[0]) {
        return given[0] == gold[0];
    }
    let short = given.len() <= gold.len() + SPARE;
    let same = |window: &[Token]| window.iter().zip(&gold).all(|(a, b)| agree(a, b));
    let negated = |at: usize| {
        at > 0
            && matches!(&given[at - 1], Token::Word(before) if NEGATIONS.contains(&before.as_str()))
    };
    let mut windows = given.windows(gold.len()).enumerate();
    windows.any(|(at, window)| (short || given.len() == gold.len()) && same(window) && !negated(at))
}

fn word(text: &str) -> Token {
    Token::Word(text.into())
}

fn agree(a: &Token, b: &Token) -> bool {
    match (a, b) {
        (Token::Word(a), Token::Word(b)) => a == b,
        (Token::Number(a, a_decimals), Token::Number(b, b_decimals)) => {
            let difference = (a - b).abs();
            let decimals = *a_decimals.min(b_decimals);
            // Slightly more than half, because decimal fractions have no exact binary form.
            let rounding = 0.500_001 * 10f64.powi(-(decimals.min(300) as i32));
            difference <= TOLERANCE * a.abs().max(b.abs())
                || (decimals >= DECIMALS && difference <= rounding)
        }
        (Token::Word(_), Token::Number(..)) | (Token::Number(..), Token::Word(_)) => false,
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let (token, length) = match number(rest, before) {
            Some((number, length)) => (Some(number), length),
            None => next_word(rest),
        };
        tokens.extend(token);
        let length = length.max(first.len_utf8());
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
    tokens
}

/// A word at the start of the text, unless it is an article, and its length in bytes.
fn next_word(text: &str) -> (Option<Token>, usize) {
    let apostrophe = |c: char| matches!(c, '\'' | '’');
    let length = text.find(|c: char| !c.is_alphanumeric() && !apostrophe(c)).unwrap_or(text.len());
    let plain: String = text[..length].chars().filter(|c| !apostrophe(*c)).collect();
    let plain = plain.to_lowercase();
    let article = matches!(plain.as_str(), "" | "a" | "an" | "the");
    ((!article).then_some(Token::Word(plain)), length)
}

/// A number at the start of the text, and its length in bytes: `1,234.5`, `-3`, `2e6`. A hyphen is a
/// sign only after a space or a bracket, since `2024-05-03` has none.
fn number(text: &str, before: char) -> Option<(Token, usize)> {
    let sign = text.chars().next().filter(|c| matches!(c, '-' | '−'));
    if sign.is_some() && !(before.is_whitespace() || matches!(before, '(' | '=' | ':' | '≈' | '~'))
    {
        return None;
    }
    let start = sign.map_or(0, char::len_utf8);
    let body = &text[start..];
    let whole = digits(body);
    if whole == 0 {
        return None;
    }
    let mut end = with_groups(body, whole);
    let mut decimals = 0;
    if body[end..].starts_with('.') {
        decimals = digits(&body[end + 1..]);
        end += if decimals > 0 { 1 + decimals } else { 0 };
    }
    if let Some(exponent) = exponent(&body[end..]) {
        end += exponent;
        decimals = 0;
    }
    let plain: String = body[..end].chars().filter(|c| *c != ',').collect();
    let value: f64 = plain.parse().ok()?;
    let value = if sign.is_some() { -value } else { value };
    Some((Token::Number(value, decimals), start + end))
}

fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
}

/// The end of the digits with groups of three after commas, as in `1,234,567`.
fn with_groups(text: &str, whole: usize) -> usize {
    let mut end = whole;
    while whole <= 3 && text[end..].starts_with(',') && digits(&text[end + 1..]) == 3 {
        end += 4;
    }
    end
}

/// The length of `e6` or `E-6`, if the text starts with one and no letter follows.
fn exponent(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let signed = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let count = digits(signed);
    let end = text.len() - signed.len() + count;
    let closed = !text[end..].starts_with(char::is_alphanumeric);
    (count > 0 && count <= 3 && closed).then_some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn style_does_not_matter() {
        for (given, gold) in [
            ("the Rio Sombrel.", "Rio Sombrel"),
            ("RIO   SOMBREL", "Rio Sombrel"),
            ("It was written by Marisol Cade.", "Marisol Cade"),
            ("The bridge is 1,876 metres long.", "1876"),
            ("1876.0", "1876"),
            ("$1,000,000.50", "1000000.5"),
            ("about 3.14", "3.14159"),
            ("6154.8556", "6154.86"),
            ("-14 °C", "-14"),
            ("x = −14", "-14"),
            ("1.2e6", "1200000"),
            ("Harrow & Sons", "Harrow & Sons"),
            ("on 2024-05-20 (Monday)", "2024-05-20"),
            ("Yes, because it is.", "yes"),
            ("Pilgrims’ Bridge", "Pilgrims' Bridge"),
            ("about 1204 km", "1204"),
            ("The answer is 3.50.", "3.5"),
            ("It is Port Havn, of course.", "port havn"),
            ("", ""),
        ] {
            assert!(is_correct(given, gold), "{given:?} for {gold:?}");
        }
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        for (given, gold) in [
            ("", "Rio Sombrel"),
            ("I do not know.", "Rio Sombrel"),
            ("1999", "2000"),
            ("3", "3.14"),
            ("15", "14.6"),
            ("11", "1"),
            ("-14", "14"),
            ("It is not Ironmere.", "Ironmere"),
            ("Ironmeres", "Ironmere"),
            ("no", "yes"),
            ("I think no, but yes", "yes"),
            ("2024-05-21", "2024-05-20"),
            ("Sombrel Rio", "Rio Sombrel"),
            ("anything", ""),
            ("no, yes would be wrong", "yes"),
            ("12040", "1204"),
            ("8.8", "8.75"),
            ("3.5", "3.50001"),
            ("I do not know.", "know nothing"),
            ("A B C D E F G H I J K L M N O P Q R S T U V W X Y Z 7", "7"),
        ] {
            assert!(!is_correct(given, gold), "{given:?} for {gold:?}");
        }
    }

    /// Answers that words alone misjudge and that need a model as grader. If one of these is ever judged correctly, the
    /// guide must say so.
    #[test]
    fn words_alone_misread_these() {
        assert!(is_correct("It is not very plausible.", "plausible"));
        assert!(is_correct("Paris or London", "London"));
        assert!(!is_correct("The answer is yes.", "yes"));
    }

    proptest! {
        #[test]
        fn any_text_can_be_compared(given in "\\PC{0,80}", gold in "\\PC{0,40}") {
            is_correct(&given, &gold);
            prop_assert!(is_correct(&gold, &gold));
        }

        #[test]
        fn a_whole_number_is_itself_however_it_is_grouped(number in 0u64..10_000_000_000) {
            let digits = number.to_string();
            let mut grouped = String::new();
            for (at, digit) in digits.chars().enumerate() {
                if at > 0 && (digits.len() - at) % 3 == 0 {
                    grouped.push(',');
                }
                grouped.push(digit);
            }
            let said = format!("It is {grouped} km.");
            prop_assert!(is_correct(&said, &digits));
            prop_assert!(!is_correct(&(number + 20_000_000_000).to_string(), &digits));
        }
    }
}
