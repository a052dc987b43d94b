//! Names of evidence around a call: `-> #E1`, `(stored in #E1)`.

use std::ops::Range;

use crate::domain::EvidenceId;
use crate::domain::plan::references;

/// Characters after a call in which its name is searched.
const NEAR: usize = 80;

/// Gives calls that are named with a letter, as in `#E1a = …`, their own numbers.
pub(super) fn with_numbers(text: String) -> String {
    let lettered = lettered(&text);
    let is_call = |name: &Range<usize>| text[name.end..].trim_start().starts_with(['=', ':', '＝']);
    let mut names: Vec<&str> = Vec::new();
    for name in lettered.iter().filter(|name| is_call(name)).map(|name| &text[name.clone()]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return text;
    }
    let last = references(&text).into_iter().map(|id| id.0).max().unwrap_or_default();
    let number = |name: &str| names.iter().position(|known| *known == name);
    let mut plain = String::with_capacity(text.len());
    let mut copied = 0;
    for name in lettered {
        let Some(at) = number(&text[name.clone()]) else { continue };
        let id = EvidenceId(u32::try_from(at + 1).map_or(u32::MAX, |at| last.saturating_add(at)));
        plain.extend([&text[copied..name.start], &id.mark()]);
        copied = name.end;
    }
    plain + &text[copied..]
}

/// The places of names such as `#E1a` in a text.
fn lettered(text: &str) -> Vec<Range<usize>> {
    let names = text.match_indices("#E").filter_map(|(start, mark)| {
        let rest = &text[start + mark.len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut after = rest[digits..].chars();
        let has_letter = after.next().is_some_and(|c| c.is_ascii_lowercase());
        let ends = after.next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        (digits > 0 && has_letter && ends).then(|| start..start + mark.len() + digits + 1)
    });
    names.collect()
}

/// All evidence that a text names with a hash, or that is the whole text.
pub(super) fn named(text: &str) -> Vec<EvidenceId> {
    let named = references(text);
    if !named.is_empty() {
        return named;
    }
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    let alone = bare.starts_with(['E', 'e']) || text.contains('#');
    bare.parse().ok().filter(|_| alone).into_iter().collect()
}

/// A sentence that ends with the name of its result, `Find it (#E1)` or `Find it → #E1`: the rest, and the name.
pub(super) fn at_end(text: &str) -> Option<(&str, EvidenceId)> {
    let marks = ["→", "->", "=>", "⇒", "("];
    let (at, mark) = marks
        .iter()
        .filter_map(|mark| Some((text.rfind(mark)?, *mark)))
        .max_by_key(|(at, _)| *at)?;
    let name = text[at + mark.len()..].trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
    let name = ["stored in ", "store as ", "store in ", "as "]
        .iter()
        .find_map(|words| name.strip_prefix(words))
        .unwrap_or(name);
    let marked = name.starts_with(['#', 'E']);
    let id = name.parse().ok().filter(|_| marked)?;
    Some((text[..at].trim_end_matches([' ', '*', '`']), id))
}

/// The evidence that the text after a call names as its result: the only one, or the one after an arrow.
pub(super) fn behind(text: &str) -> Option<EvidenceId> {
    let text = text.trim_start_matches(['`', '*', ' ', ']', ')']);
    let arrow = ["->", "=>", "→", "⇒", ":", "as ", "AS ", "into ", "# ", "// "];
    if let Some(rest) = arrow.iter().find_map(|arrow| text.strip_prefix(arrow)) {
        let end = rest.char_indices().nth(NEAR).map_or(rest.len(), |(end, _)| end);
        let word = rest[..end].split([',', ';', '(', '\n']).next().unwrap_or_default();
        if let [id] = named(word)[..] {
            return Some(id);
        }
    }
    let end = text.char_indices().nth(NEAR).map_or(text.len(), |(end, _)| end);
    let near = text[..end].split(['[', '.', ';', '\n']).next().unwrap_or_default();
    match references(near)[..] {
        [id] => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_named_with_a_hash_or_alone() {
        let ids = |text: &str| named(text).iter().map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(ids("#E1 and #E2"), [1, 2]);
        assert_eq!(ids("E3."), [3]);
        assert_eq!(ids("#4"), [4]);
        assert_eq!((ids("4"), ids("the second one")), (vec![], vec![]));
    }
}
