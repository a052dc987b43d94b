//! Cuts a tool's output to a limit, and says so in the text: the agent must know that it reads only
//! the beginning.

use crate::ToolOutput;
use crate::net::known;

/// The most bytes of an answer that are kept, unless a manifest sets another limit.
pub const MAX_OUTPUT: usize = 64 * 1024;

/// The first `most` bytes of a text.
pub fn bounded(text: &str, most: usize) -> ToolOutput {
    let kept = &text.as_bytes()[..text.len().min(most)];
    from_bytes(kept, text.len() as u64)
}

/// An answer of `total` bytes of which the first ones were `kept`. Invalid UTF-8 is replaced.
pub fn from_bytes(kept: &[u8], total: u64) -> ToolOutput {
    let cut = (kept.len() as u64) < total;
    let whole = if cut { without_half_character(kept) } else { kept };
    let mut text = String::from_utf8_lossy(whole).into_owned();
    if !cut {
        // The final line ending is a habit of programs, not part of an answer.
        let end = text.trim_end_matches(['\n', '\r']).len();
        text.truncate(end);
        return ToolOutput::of(text);
    }
    // Half a key would not be found later.
    let begun = known::left_of_key(&text);
    text.truncate(text.len() - begun);
    text.push_str(&format!("\n[cut: the first {} of {total} bytes]", whole.len() - begun));
    ToolOutput { cut_from: Some(total), ..ToolOutput::of(text) }
}

/// Drops the first bytes of a character that was cut off.
fn without_half_character(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        // Without an error length, the text ends inside a character, and is valid so far.
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        Ok(_) | Err(_) => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_left_as_it_is_but_for_the_last_line_end() {
        let output = bounded("a\nb\n", 64);
        assert_eq!(output, ToolOutput::of("a\nb"));
    }

    #[test]
    fn a_cut_is_told_and_never_goes_through_a_character() {
        let output = bounded("ääää", 5);
        assert_eq!(output.text, "ää\n[cut: the first 4 of 8 bytes]");
        assert_eq!(output.cut_from, Some(8));
    }

    #[test]
    fn no_half_of_a_key_is_left_where_an_answer_is_cut() {
        let key = crate::net::secret::Secret::new("cut-1n-the-m1ddle");
        let text = format!("it is {}", key.expose());
        assert_eq!(bounded(&text, 12).text, "it is \n[cut: the first 6 of 23 bytes]");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(from_bytes(b"a\xff\xfeb", 4).text, "a\u{fffd}\u{fffd}b");
    }
}
