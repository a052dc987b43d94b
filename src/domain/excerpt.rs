//! Excerpts of long tool results. A model gets the beginning and can read on, while journal and
//! screen have the whole.

use std::borrow::Cow;

use super::markers::MORE;

/// The beginning of a result, up to `most` characters, and a line about the rest. `result` is the number
/// with which a model can read on; `None`: it cannot.
pub fn beginning(text: &str, most: usize, result: Option<usize>) -> Cow<'_, str> {
    if is_long(text, most) {
        Cow::Owned(part(text, 0, most, result).unwrap_or_default())
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a text has more characters than this.
pub fn is_long(text: &str, most: usize) -> bool {
    // A character has at least one byte.
    text.len() > most && text.char_indices().nth(most).is_some()
}

/// At most `most` characters of a result from a place on, counted in characters, and a line about
/// the rest if there is one. `None` if it ends before that place.
pub fn part(text: &str, from: usize, most: usize, result: Option<usize>) -> Option<String> {
    let (start, _) = text.char_indices().nth(from)?;
    let rest = &text[start..];
    let Some((end, _)) = rest.char_indices().nth(most) else { return Some(rest.to_owned()) };
    let left = rest[end..].chars().count();
    let next = from.saturating_add(most);
    let whole = grouped(next.saturating_add(left));
    let how = result.map(|result| {
        format!(" Call {MORE} with {{\"result\": {result}, \"from\": {next}}} to read on.")
    });
    let (left, how) = (grouped(left), how.unwrap_or_default());
    Some(format!("{}\n[… {left} of {whole} characters left out.{how}]", &rest[..end]))
}

/// `41,203`.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_line_says_what_is_left_out_and_how_to_read_on() {
        let text = "ä".repeat(52_000);
        let said = "[… 41,203 of 52,000 characters left out. \
                    Call more with {\"result\": 3, \"from\": 10797} to read on.]";
        let cut = beginning(&text, 10_797, Some(3));
        assert_eq!(cut, format!("{}\n{said}", "ä".repeat(10_797)));
        let alone = beginning("12345", 3, None);
        assert_eq!(alone, "123\n[… 2 of 5 characters left out.]");
        assert_eq!(beginning("123", 3, Some(1)), "123");
        assert_eq!(part("123", 3, 3, Some(1)), None);
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    proptest! {
        #[test]
        fn who_reads_on_to_the_end_reads_everything(text in ".{0,60}", most in 1usize..20) {
            let (mut from, mut read) = (0, String::new());
            while let Some(part) = part(&text, from, most, Some(1)) {
                let length = text.chars().count() - from;
                let part = match length > most {
                    true => part.rsplit_once("\n[… ").unwrap().0.to_owned(),
                    false => part,
                };
                read.push_str(&part);
                from += most;
            }
            prop_assert_eq!(read, text);
        }
    }
}
