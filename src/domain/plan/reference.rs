//! References to evidence in an input: `#E1`.

use std::{collections::BTreeSet, ops::Range};

use super::{EvidenceId, id::DIGITS};

/// Evidence named in a text.
struct EvidenceMark {
    id: EvidenceId,
    /// Position in the text, in bytes.
    at: Range<usize>,
    /// Without its letter: `#1`.
    bare: bool,
}

/// The evidence that an input names, each once, in order of first mention. `#E10` and `#E1a` do not
/// name `#E1`.
pub fn references(input: &str) -> Vec<EvidenceId> {
    let mut seen = BTreeSet::new();
    let named = marks(input).filter(|mark| !mark.bare).map(|mark| mark.id);
    named.filter(|id| seen.insert(*id)).collect()
}

/// The input with each reference replaced by the evidence's text. Inserted text is not searched for
/// references again.
pub fn substitute(input: &str, mut text: impl FnMut(EvidenceId) -> String) -> String {
    replaced(input, |mark| (!mark.bare).then(|| text(mark.id)))
}

/// The input with all references spelled `#E1`, as [`substitute`] expects.
///
/// Models forget the letter: `#1` means `#E1` if such evidence was requested before. Otherwise it
/// is text, because people write "the #1 song" too.
///
/// They also put names into brackets, `{E1}` or `<#E1>`, which mean any evidence of the plan, and forget the hash.
pub fn spelled(input: &str, before: &BTreeSet<EvidenceId>, all: &BTreeSet<EvidenceId>) -> String {
    let marked =
        replaced(input, |mark| (!mark.bare || before.contains(&mark.id)).then(|| mark.id.mark()));
    let mut output = String::with_capacity(marked.len());
    let mut from = 0;
    for (at, _) in marked.match_indices('E') {
        if at < from {
            continue;
        }
        if let Some((id, range)) = loose(&marked, at, before, all) {
            output.push_str(&marked[from..range.start]);
            output.push_str(&id.mark());
            from = range.end;
        }
    }
    output.push_str(&marked[from..]);
    output
}

/// The input of code with the name of a variable replaced by that of its evidence: `{capital}` in any text, and also
/// the bare name if nothing is in quotes.
pub fn unnamed(input: &str, variable: &str, id: EvidenceId) -> String {
    let braced = input.replace(&format!("{{{variable}}}"), &id.mark());
    if braced.contains(['"', '\'']) {
        return braced;
    }
    let mut output = String::with_capacity(braced.len());
    let mut from = 0;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for (at, _) in braced.match_indices(variable) {
        let end = at + variable.len();
        let alone = !braced[..at].ends_with(is_word) && !braced[end..].starts_with(is_word);
        let is_key = braced[end..].trim_start().starts_with('=');
        if at >= from && alone && !is_key {
            output.push_str(&braced[from..at]);
            output.push_str(&id.mark());
            from = end;
        }
    }
    output.push_str(&braced[from..]);
    output
}

/// The name whose letter is at this position, if it is in brackets or has no hash.
fn loose(
    text: &str,
    at: usize,
    before: &BTreeSet<EvidenceId>,
    all: &BTreeSet<EvidenceId>,
) -> Option<(EvidenceId, Range<usize>)> {
    let digits = &text[at + 1..];
    let count = digits.bytes().take(DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let id = EvidenceId(digits[..count].parse().ok().filter(|_| count <= DIGITS)?);
    let after = &digits[count..];
    let front = &text[..at];
    let front = front.strip_suffix('#').unwrap_or(front);
    let hashed = front.len() < at;
    let glued = |c: char| c.is_alphanumeric() || "_#&/".contains(c);
    if after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') || front.ends_with(glued)
    {
        return None;
    }
    let end = text.len() - after.len();
    for [open, close] in [["${{", "}}"], ["{{", "}}"], ["${", "}"], ["{", "}"], ["<", ">"]] {
        if front.ends_with(open) && after.starts_with(close) && all.contains(&id) {
            return Some((id, front.len() - open.len()..end + close.len()));
        }
    }
    (!hashed && before.contains(&id)).then_some((id, at..end))
}

fn replaced(input: &str, mut with: impl FnMut(&EvidenceMark) -> Option<String>) -> String {
    let mut output = String::with_capacity(input.len());
    let mut from = 0;
    for mark in marks(input) {
        if let Some(text) = with(&mark) {
            output.push_str(&input[from..mark.at.start]);
            output.push_str(&text);
            from = mark.at.end;
        }
    }
    output.push_str(&input[from..]);
    output
}

fn marks(input: &str) -> impl Iterator<Item = EvidenceMark> {
    input.match_indices(['#', '＃']).filter_map(|(at, hash)| {
        let rest = &input[at + hash.len()..];
        let digits = rest.strip_prefix(['E', 'e']);
        let bare = digits.is_none();
        let digits = digits.unwrap_or(rest);
        let count = digits.bytes().take(DIGITS + 1).take_while(u8::is_ascii_digit).count();
        let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let closed = digits[count..].chars().next().is_none_or(ends);
        // `&#39;` is a character, `page#2` a place in a page.
        let glued = |c: char| c.is_alphanumeric() || "&#/".contains(c);
        if !closed || bare && input[..at].ends_with(glued) {
            return None;
        }
        let id = digits[..count].parse().ok().filter(|_| count <= DIGITS)?;
        let end = input.len() - digits.len() + count;
        Some(EvidenceMark { id: EvidenceId(id), at: at..end, bare })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_part_of_another() {
        let named = |input: &str| -> Vec<u32> { references(input).iter().map(|id| id.0).collect() };
        assert_eq!(named("#E10 after #E1, #e2 and #E10"), [10, 1, 2]);
        assert_eq!(named("max(#E1,#E02)#E3's，＃E4の"), [1, 2, 3, 4]);
        assert_eq!(named("#E #E1a #E1_ #F1 E1 #1 ##E1234567890"), [0u32; 0]);
        let put = |input: &str| substitute(input, |id| format!("<#E{}>", id.0 + 1));
        assert_eq!(put("#E1#E10 #E1x #1"), "<#E2><#E11> #E1x #1");
    }

    #[test]
    fn a_forgotten_letter_counts_only_for_what_was_asked_for_before() {
        let before = BTreeSet::from([EvidenceId(1)]);
        let spelled =
            |input| spelled(input, &before, &BTreeSet::from([EvidenceId(1), EvidenceId(2)]));
        assert_eq!(spelled("sum of #1 and #2, &#1; p#1"), "sum of #E1 and #2, &#1; p#1");
        assert_eq!(spelled("#e3, ＃E04"), "#E3, #E4");
        assert_eq!(
            spelled("{E1} <#E2> ${E1} {{#E2}} {E3} E1, E2 RE1"),
            "#E1 #E2 #E1 #E2 {E3} #E1, E2 RE1"
        );
        assert_eq!(spelled(r##"{"a": {E2}, "b": #E1}"##), r##"{"a": #E2, "b": #E1}"##);
    }
}
