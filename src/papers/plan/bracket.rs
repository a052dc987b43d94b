//! Finds where the bracket after a tool's name is closed. Inputs may contain brackets and quotes, notes may follow, and
//! some inputs, such as `smile :[`, are never balanced.

/// Square brackets, including those that Chinese and Japanese models write.
const SQUARE: (&[char], &[char]) = (&['[', '［', '【'], &[']', '］', '】']);
const ROUND: (&[char], &[char]) = (&['(', '（'], &[')', '）']);

/// Bytes of an input in which quotes hide brackets: a text full of calls must not be read once per call.
const QUOTED: usize = 8_192;

/// Whether brackets in quotes count.
#[derive(Clone, Copy, PartialEq)]
enum Quotes {
    /// Brackets in quotes are text: `print("]")`.
    Hide,
    /// Brackets in quotes count: a quote may also be an inch or an apostrophe.
    Ignored,
}

/// Whether this character opens an input, with either kind of bracket.
pub(super) fn opens(c: char) -> bool {
    SQUARE.0.contains(&c) || ROUND.0.contains(&c)
}

/// Whether this character is an opening square bracket.
pub(super) fn is_square(c: char) -> bool {
    SQUARE.0.contains(&c)
}

/// The text inside a bracket, and the text after it. `text` begins after the opening bracket, `open`; `None` if it is
/// never closed.
pub(super) fn inside(text: &str, open: char) -> Option<(&str, &str)> {
    let kind = if is_square(open) { SQUARE } else { ROUND };
    let end = even(beginning(text), kind, Quotes::Hide)
        .or_else(|| even(text, kind, Quotes::Ignored))
        .or_else(|| last_of_line(text, kind))?;
    let closing = text[end..].chars().next()?;
    Some((&text[..end], &text[end + closing.len_utf8()..]))
}

/// Whether a text ends before a bracket, or the quote that it begins with, is closed. The mouth of a face, as in `:(`,
/// is not a bracket.
pub(super) fn is_open(text: &str) -> bool {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '“'));
    if quote.is_some() && !text.chars().skip(1).any(|c| matches!(c, '"' | '”')) {
        return true;
    }
    let mut opened = 0usize;
    let mut skipped = Skipped::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if let Some(length) = skipped.quoted(text, at) {
            at += length;
            continue;
        }
        let is_mouth = text[..at].ends_with([':', ';', '-']);
        match c {
            '[' | '(' | '{' | '［' | '【' | '（' if !is_mouth => opened += 1,
            ']' | ')' | '}' | '］' | '】' | '）' => opened = opened.saturating_sub(1),
            _ => {}
        }
        at += c.len_utf8();
    }
    opened > 0
}

/// The part of a text in which quotes are followed.
fn beginning(text: &str) -> &str {
    let end = (0..=text.len().min(QUOTED)).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// The position at which all brackets are closed.
fn even(text: &str, (opening, closing): (&[char], &[char]), quotes: Quotes) -> Option<usize> {
    let mut depth = 1usize;
    let mut skipped = Skipped::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if quotes == Quotes::Hide
            && let Some(length) = skipped.quoted(text, at)
        {
            at += length;
            continue;
        }
        if opening.contains(&c) {
            depth += 1;
        } else if closing.contains(&c) {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
        at += c.len_utf8();
    }
    None
}

/// The last bracket of the first line, if nothing follows it: more are opened than closed.
fn last_of_line(text: &str, (_, closing): (&[char], &[char])) -> Option<usize> {
    let line = text.lines().next()?.trim_end_matches([' ', '\t', '`', '*', '_', '.', '|']);
    line.char_indices().next_back().filter(|(_, c)| closing.contains(c)).map(|(at, _)| at)
}

/// Finds quotes. A kind that was not closed on this line is not searched for again on it, so that a line full of
/// apostrophes is read only once.
#[derive(Default)]
struct Skipped {
    double: usize,
    single: usize,
}

impl Skipped {
    /// The length of the quoted text that begins here and ends on this line, if any.
    fn quoted(&mut self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let given_up = if quote == '"' { &mut self.double } else { &mut self.single };
        if at < *given_up {
            return None;
        }
        // An apostrophe is in or after a word.
        if quote == '\'' && text[..at].ends_with(char::is_alphanumeric) {
            return None;
        }
        match closed(rest, quote) {
            Ok(length) => Some(length),
            Err(line) => {
                *given_up = at + line;
                None
            }
        }
    }
}

/// The length of the quoted text at the beginning, or else the length of the line.
fn closed(text: &str, quote: char) -> Result<usize, usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == '\n' {
            return Err(at);
        }
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            let end = at + c.len_utf8();
            if quote == '"' || !text[end..].starts_with(char::is_alphanumeric) {
                return Ok(end);
            }
        }
    }
    Err(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_opened_and_not_closed_is_open() {
        for text in [
            "LLM[Is the statement \"Kenny Golladay took",
            "\\( \\text{Work} = \\",
            "\"the height of",
            "“the height of",
            "{\"a\": [1, 2]",
            "2 * (3 + ",
        ] {
            assert!(is_open(text), "{text}");
        }
        for text in [
            "",
            "f(x)[1]",
            "a 5\" screen",
            "\"a (b\"",
            "sad :( or ;-(",
            "(a] b",
            "“a” and b",
            "1) a",
        ] {
            assert!(!is_open(text), "{text}");
        }
    }

    #[test]
    fn the_bracket_that_closes_is_found() {
        for (text, right) in [
            ("38 * sin(80)]  (a note [1])", "38 * sin(80)"),
            ("xs = [1, [2]]; xs[0]] then", "xs = [1, [2]]; xs[0]"),
            ("print(\"]\")]", "print(\"]\")"),
            ("print(']')]", "print(']')"),
            ("{\"a\": \"\\\"]\"}]", "{\"a\": \"\\\"]\"}"),
            ("a 5\" screen] (not the 6\" one)", "a 5\" screen"),
            ("it's the dogs' bowl] and 'so on'", "it's the dogs' bowl"),
            ("two\nlines [\n]\n]", "two\nlines [\n]\n"),
            ("首都］", "首都"),
            ("mixed］ x", "mixed"),
            ("12345\" long\nprint(\"]\")]", "12345\" long\nprint(\"]\")"),
            ("smile :[ ] `", "smile :[ "),
            ("]", ""),
        ] {
            assert_eq!(inside(text, '[').map(|(inside, _)| inside), Some(right), "{text}");
        }
        assert_eq!(inside("f(x)[1]) and (more)", '('), Some(("f(x)[1]", " and (more)")));
        for cut in ["capital of Bhutan", "xs[0] + ", "", "a\nb [x]"] {
            assert_eq!(inside(cut, '['), None, "{cut}");
        }
    }
}
