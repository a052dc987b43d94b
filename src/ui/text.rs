//! Text of models and tools is data from strangers. All drawn text has passed [`clean`]: a control character, an escape
//! sequence or a bidi override in a tool's answer must neither reach the terminal nor falsify a line.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::domain::invisible::is_invisible;
use crate::files::safe_text::picture;

/// Marks on one letter that are kept; more would only smear over the neighbouring lines.
const MARKS: usize = 2;

/// The text on one line, made harmless: control characters become visible pictures (`␛`, `␀`, `⏎`), characters that
/// reorder a line become `�`, invisible ones are dropped.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    for c in text.chars() {
        let Some(c) = shown(c) else { continue };
        if c.width() == Some(0) {
            marks += 1;
            // A mark with nothing below it would be drawn on the preceding text.
            if marks > MARKS || out.is_empty() {
                continue;
            }
        } else {
            marks = 0;
        }
        out.push(c);
    }
    Cow::Owned(out)
}

/// Returns the character that is drawn for this one; `None`: nothing is drawn.
fn shown(c: char) -> Option<char> {
    Some(match c {
        '\n' => '⏎',
        '\t' => ' ',
        // A return before a line feed is part of the line's end.
        '\r' => return None,
        c if is_invisible(c) => return None,
        c => picture(c).unwrap_or(c),
    })
}

/// The number of cells of the text.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The clean text in at most `width` cells, with `…` for an omission.
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
    // A line of a megabyte is not cleaned for eighty cells of it; some characters take no cell.
    let most = width.saturating_mul(8).saturating_add(64);
    let long = text.len() > most;
    let text = clean(if long { start(text, most) } else { text });
    if !long && text.width() <= width {
        return text;
    }
    let mut kept = head(&text, width.saturating_sub(1)).to_owned();
    if width > 0 {
        kept.push('…');
    }
    Cow::Owned(kept)
}

/// The clean text with its middle left out, as for file names, which differ at their ends.
pub fn cut_middle(text: &str, width: usize) -> String {
    let chars: Vec<char> = clean(text).chars().collect();
    if self::width(&chars.iter().collect::<String>()) <= width || width < 3 {
        return cut(text, width).into_owned();
    }
    let half = (width - 1) / 2;
    let begin: String = chars.iter().take(half).collect();
    let end: String = chars.iter().skip(chars.len().saturating_sub(width - 1 - half)).collect();
    cut(&format!("{begin}…{end}"), width).into_owned()
}

/// The first bytes of a text, at most `most`, without a partial character.
pub fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The clean text in exactly `width` cells: truncated, or filled with spaces on the right.
pub fn fit(text: &str, width: usize) -> String {
    let mut text = cut(text, width).into_owned();
    let missing = width.saturating_sub(text.width());
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// The beginning of a clean text that fits into `width` cells.
fn head(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (i, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width {
            return &text[..i];
        }
    }
    text
}

/// The text in at most `lines` lines of at most `width` cells, with `…` for an omission.
pub fn wrap_within(text: &str, width: usize, lines: usize) -> Vec<String> {
    let mut all = wrap(text, width);
    let mut within: Vec<String> = all.by_ref().take(lines).collect();
    if let (Some(last), Some(next)) = (within.last_mut(), all.next()) {
        *last = cut(&format!("{last} {next}…"), width).into_owned();
    }
    within
}

/// The text in lines of at most `width` cells, broken at spaces if possible; its own line ends are kept. Lazy: use
/// `skip` and `take` to show forty lines of a long text.
pub fn wrap(text: &str, width: usize) -> impl Iterator<Item = String> + '_ {
    let width = width.max(1);
    text.split('\n').flat_map(move |line| {
        let line = clean(line).into_owned();
        let mut at = Some(0);
        std::iter::from_fn(move || {
            let start = at?;
            let rest = &line[start..];
            let (piece, next) = piece(rest, width);
            at = next.map(|next| start + next);
            Some(piece.to_owned())
        })
    })
}

/// The lines of a message, wrapped. Indented lines stay as they are, so that an expression has its caret below it.
pub fn wrap_message(text: &str, width: usize) -> Vec<String> {
    let lines = text.lines().flat_map(|line| match line.starts_with("  ") {
        true => vec![line.to_owned()],
        false => wrap(line, width).collect(),
    });
    lines.collect()
}

/// The first piece of a line, and where the rest begins.
fn piece(line: &str, width: usize) -> (&str, Option<usize>) {
    // A character wider than the whole width is shown anyway; the buffer clips it.
    let first = line.chars().next().map_or(0, char::len_utf8);
    let fits = &line[..head(line, width).len().max(first)];
    if fits.len() == line.len() {
        return (line, None);
    }
    if line[fits.len()..].starts_with(' ') {
        return (fits, Some(fits.len() + 1));
    }
    match fits.rfind(' ') {
        Some(space) if space > 0 => (&fits[..space], Some(space + 1)),
        Some(_) | None => (fits, Some(fits.len())),
    }
}

/// A duration in microseconds, as short as people read it: `<1 ms`, `12 ms`, `3.4 s`, `2:05 min`.
pub fn span(micros: u64) -> String {
    match micros {
        0..1_000 => "<1 ms".to_owned(),
        1_000..1_000_000 => format!("{} ms", micros / 1_000),
        1_000_000..60_000_000 => format!("{:.1} s", micros as f64 / 1e6),
        _ => {
            let seconds = micros / 1_000_000;
            format!("{}:{:02} min", seconds / 60, seconds % 60)
        }
    }
}

/// Like [`span`], without fractions of a second, for a running time.
pub fn whole_seconds(micros: u64) -> String {
    match micros / 1_000_000 {
        seconds @ 0..60 => format!("{seconds} s"),
        _ => span(micros),
    }
}

/// Like [`span`], for a time that may be unknown.
pub fn span_if_any(micros: Option<u64>) -> String {
    micros.map_or_else(|| "–".to_owned(), span)
}

/// A number of bytes, short: `1.2 kB`.
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

/// A number with thousands separators: `1,820`.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut apart = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart
}

/// A count, as short as people read it: `950`, `12.3k`, `4.5M`.
pub fn count(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..1_000_000 => format!("{:.1}k", n as f64 / 1e3),
        _ => format!("{:.1}M", n as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [999, 1_234, 5_600_000, 7_800_000_000].map(bytes);
        assert_eq!(sizes, ["999 B", "1.2 kB", "5.6 MB", "7.8 GB"]);
    }

    #[test]
    fn thousands_stand_apart() {
        let numbers = [0, 999, 1_820, 20_921_000].map(number);
        assert_eq!(numbers, ["0", "999", "1,820", "20,921,000"]);
    }

    #[test]
    fn the_ends_of_a_name_stay() {
        assert_eq!(cut_middle("2026-11-22-demo.jsonl", 11), "2026-…jsonl");
        assert_eq!(cut_middle("short", 11), "short");
        assert_eq!(width(&cut_middle("日本語日本語日本語", 7)), 7);
    }

    #[test]
    fn escapes_are_shown_and_tricks_are_dropped() {
        assert_eq!(clean("\x1b[31mred\x07\0"), "␛[31mred␇␀");
        assert_eq!(clean("a\r\nb\tc"), "a⏎b c");
        assert_eq!(clean("pay\u{202e}txt.exe\u{200b}"), "pay�txt.exe");
        assert_eq!(clean("\u{9b}31m"), "�31m");
        assert_eq!(clean("e\u{301}\u{301}\u{301}\u{301}!"), "e\u{301}\u{301}!");
        assert!(matches!(clean("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn cuts_and_fits_by_cells() {
        assert_eq!(cut("hello world", 8), "hello w…");
        assert_eq!(cut("hello", 5), "hello");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("x", 0), "");
        assert_eq!(fit("日本語", 4), "日… ");
        assert_eq!(cut(&"x".repeat(1 << 20), 3), "xx…");
    }

    #[test]
    fn wraps_at_spaces_and_at_line_ends() {
        let lines: Vec<_> = wrap("one two three\n\nabcdefghij k", 7).collect();
        assert_eq!(lines, ["one two", "three", "", "abcdefg", "hij k"]);
        assert_eq!(wrap("日本語", 1).collect::<Vec<_>>(), ["日", "本", "語"]);
        assert_eq!(wrap("a\x1b[2J\nb", 9).collect::<Vec<_>>(), ["a␛[2J", "b"]);
    }

    #[test]
    fn times_and_counts_are_short() {
        let times = [840, 12_345, 3_400_000, 125_000_000].map(span);
        assert_eq!(times, ["<1 ms", "12 ms", "3.4 s", "2:05 min"]);
        assert_eq!([9_999, 12_345, 4_500_000].map(count), ["9999", "12.3k", "4.5M"]);
    }

    #[test]
    fn what_does_not_fit_into_the_lines_is_said_to_be_left_out() {
        assert_eq!(wrap_within("one two three", 7, 2), ["one two", "three"]);
        assert_eq!(wrap_within("one two three", 7, 1), ["one tw…"]);
        assert_eq!(wrap_within("one\ntwo three", 7, 1), ["one tw…"]);
        assert_eq!(wrap_within("one two four", 8, 1), ["one two…"]);
        assert!(wrap_within("one", 7, 0).is_empty());
    }

    proptest! {
        #[test]
        fn whatever_comes_is_harmless(text in any::<String>(), cells in 0usize..40) {
            let clean = clean(&text);
            prop_assert!(!clean.chars().any(char::is_control));
            prop_assert!(width(&cut(&text, cells)) <= cells);
            prop_assert_eq!(width(&fit(&text, cells)), cells);
            for line in wrap(&text, cells) {
                prop_assert!(!line.chars().any(char::is_control));
                prop_assert!(width(&line) <= cells.max(2));
            }
        }

        #[test]
        fn wrapping_loses_only_spaces(text in "[a-z ]{0,60}", cells in 1usize..20) {
            let joined: String = wrap(&text, cells).collect();
            prop_assert_eq!(joined.replace(' ', ""), text.replace(' ', ""));
        }
    }
}
