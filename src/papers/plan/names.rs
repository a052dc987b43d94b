//! Names of evidence in what surrounds a call: `-> #E1`, `(stored in #E1)`.

use crate::domain::EvidenceId;
use crate::domain::plan::references;

/// Characters behind a call in which its name is looked for.
const NEAR: usize = 80;

/// All evidence that a text names with a hash, or alone.
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

/// The evidence that the text behind a call names as its result: the only one, or the one behind an arrow.
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
