//! Changes some places of a text and nothing else.

use std::ops::Range;

/// A place that is not in the text, or that overlaps another replacement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes {} to {} are not a place of their own in a text of {length} bytes", place.start, place.end)]
pub struct BadPlace {
    pub place: Range<usize>,
    pub length: usize,
}

/// The text with these places replaced, in any order. Everything else stays byte for byte.
///
/// # Errors
/// A place is not in the text, or overlaps another one.
pub fn patch(text: &[u8], replacements: &[(Range<usize>, &str)]) -> Result<Vec<u8>, BadPlace> {
    let mut sorted: Vec<_> = replacements.iter().collect();
    sorted.sort_by_key(|(place, _)| (place.start, place.end));
    let more: usize = sorted.iter().map(|(_, new)| new.len()).sum();
    let (mut patched, mut at) = (Vec::with_capacity(text.len() + more), 0);
    for (place, new) in sorted {
        let bad = || BadPlace { place: place.clone(), length: text.len() };
        let kept = text.get(at..place.start).ok_or_else(bad)?;
        text.get(place.clone()).ok_or_else(bad)?;
        patched.extend_from_slice(kept);
        patched.extend_from_slice(new.as_bytes());
        at = place.end;
    }
    patched.extend_from_slice(&text[at..]);
    Ok(patched)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_the_place_changes(text in ".{0,40}", from in 0usize..50, to in 0usize..50, new in ".{0,5}") {
            prop_assert_eq!(patch(text.as_bytes(), &[]).unwrap(), text.as_bytes());
            let patched = patch(text.as_bytes(), &[(from..to, &new)]);
            if from <= to && to <= text.len() {
                let expected = [&text.as_bytes()[..from], new.as_bytes(), &text.as_bytes()[to..]];
                prop_assert_eq!(patched.unwrap(), expected.concat());
            } else {
                prop_assert!(patched.is_err());
            }
        }
    }

    #[test]
    fn places_come_in_any_order_and_do_not_overlap() {
        assert_eq!(patch(b"abcdef", &[(4..5, "x"), (0..2, "")]).unwrap(), b"cdxf");
        assert!(patch(b"abcdef", &[(0..3, "x"), (2..4, "y")]).is_err());
    }
}
