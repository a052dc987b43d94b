//! Two rankings as one menu. A mean of their scores would offer the neighbours of one tool; a menu needs all tools of a
//! chain, so each ranking has its share of every beginning of the list.

use std::collections::HashSet;
use std::hash::Hash;

/// The items of both rankings, each once, with its own score: about `share · n` (0 to 1) of the first `n` are from
/// `first`, and the rest from `second`. If one ends, the other continues. Nothing is read before it is needed.
pub fn union<T: Copy + Eq + Hash>(
    first: impl Iterator<Item = (T, f32)>,
    second: impl Iterator<Item = (T, f32)>,
    share: f32,
) -> impl Iterator<Item = (T, f32)> {
    let (mut first, mut second) = (first.fuse(), second.fuse());
    let mut found = HashSet::new();
    let (mut of_first, mut all) = (0_u16, 0_u16);
    std::iter::from_fn(move || {
        let is_turn = f32::from(of_first) < share * f32::from(all.saturating_add(1));
        all = all.saturating_add(1);
        of_first = of_first.saturating_add(u16::from(is_turn));
        let mut fresh = |(item, _): &(T, f32)| found.insert(*item);
        match is_turn {
            true => first.find(&mut fresh).or_else(|| second.find(&mut fresh)),
            false => second.find(&mut fresh).or_else(|| first.find(&mut fresh)),
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(first: &str, second: &str, share: f32) -> String {
        let scored = |text: &str| text.chars().map(|c| (c, 1.0)).collect::<Vec<_>>().into_iter();
        union(scored(first), scored(second), share).map(|(c, _)| c).collect()
    }

    #[test]
    fn each_ranking_has_its_share_of_every_beginning() {
        assert_eq!(of("abcd", "wxyz", 0.5), "awbxcydz");
        assert_eq!(of("abcd", "badx", 0.5), "abcdx");
        assert_eq!(of("abcd", "wxyz", 0.25), "awxybzcd");
        assert_eq!((of("ab", "xy", 1.0), of("ab", "xy", 0.0)), ("abxy".into(), "xyab".into()));
        assert_eq!((of("", "xy", 0.5), of("ab", "", 0.5)), ("xy".into(), "ab".into()));
    }

    proptest! {
        #[test]
        fn all_items_come_once(first in "[a-h]{0,8}", second in "[a-h]{0,8}", share in 0.0_f32..=1.0) {
            let all: HashSet<char> = first.chars().chain(second.chars()).collect();
            let found = of(&first, &second, share);
            prop_assert_eq!(found.chars().count(), all.len());
            prop_assert_eq!(found.chars().collect::<HashSet<_>>(), all);
        }
    }
}
