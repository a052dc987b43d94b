//! The place where a person's program leaves the record.

use std::collections::BTreeSet;

use similar::{DiffTag, TextDiff};

use crate::domain::program::{LineStop, Stops};

/// The place up to which a person's program runs over the record of the program that it replaces: before the first
/// changed line that it reaches, or where the program before was held.
#[derive(Clone)]
pub struct From {
    changed: BTreeSet<u32>,
    /// Line and hit.
    held: Option<(u32, u32)>,
}

impl From {
    pub fn of(was: &str, now: &str, held: Option<(u32, u32)>) -> Self {
        let number = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
        let (mut changed, mut moved) = (BTreeSet::new(), None);
        for part in TextDiff::from_lines(was, now).ops() {
            let (_, old, new) = part.as_tag_tuple();
            if part.tag() == DiffTag::Equal {
                let held = held
                    .into_iter()
                    .find(|(line, _)| old.clone().map(number).any(|it| it == *line));
                moved =
                    moved.or(
                        held.map(|(line, hit)| (line + number(new.start) - number(old.start), hit))
                    );
            } else {
                // If lines were only removed, the line that has moved up replaces them.
                changed.extend((new.start..new.end.max(new.start + 1)).map(number));
            }
        }
        Self { changed, held: moved }
    }

    pub fn stops(&self) -> Stops {
        let lines = self.changed.iter().copied().chain(self.held.map(|(line, _)| line)).collect();
        Stops { lines, ..Stops::default() }
    }

    pub fn is_at(&self, at: &LineStop) -> bool {
        self.changed.contains(&at.line) || self.held == Some((at.line, at.hit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_program_goes_on_at_what_was_changed_or_where_the_other_was_held() {
        let from = |now: &str, held: u32| {
            let From { changed, held } = From::of("a\nb\nc\nd\n", now, Some((held, 2)));
            (changed.into_iter().collect::<Vec<u32>>(), held)
        };
        assert_eq!(from("a\nB\nc\nd\n", 3), (vec![2], Some((3, 2))));
        assert_eq!(from("a\nB\nB\nc\nd\n", 3), (vec![2, 3], Some((4, 2))), "it has moved down");
        assert_eq!(from("a\nc\nd\n", 4), (vec![2], Some((3, 2))), "it has moved up");
        assert_eq!(from("a\nB\nc\nd\n", 2), (vec![2], None), "it is gone");
        assert_eq!(from("a\nb\nc\nd\n", 2), (vec![], Some((2, 2))), "nothing has changed");
        assert_eq!(from("x\ny\n", 1), (vec![1, 2], None));
        assert_eq!(from("A\nb\nc\nD\n", 3), (vec![1, 4], Some((3, 2))));
        assert_eq!(from("a\na\nb\nc\nd\n", 1), (vec![2], Some((1, 2))));
        assert_eq!(from("", 1), (vec![1], None));
    }
}
