//! An answer of a server, some parts of which may be replaced: a message, or a list of messages.

use std::ops::Range;

use super::message::parts;

/// The answer with the parts that replace its own.
pub struct Assembly {
    line: Vec<u8>,
    parts: Vec<(Range<usize>, Option<Vec<u8>>)>,
}

impl Assembly {
    pub fn of(line: Vec<u8>) -> Self {
        let parts = parts(&line).into_iter().map(|range| (range, None)).collect();
        Self { line, parts }
    }

    /// The number of its messages.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// A message, as it came.
    pub fn part(&self, at: usize) -> &[u8] {
        &self.line[self.parts[at].0.clone()]
    }

    /// Replaces a message; an empty one takes it out.
    pub fn set(&mut self, at: usize, new: Vec<u8>) {
        self.parts[at].1 = Some(new);
    }

    /// Whether the client gets anything else than what came.
    pub fn is_changed(&self) -> bool {
        self.parts.iter().any(|(_, new)| new.is_some())
    }

    /// The client's line: empty if nothing is left of it.
    pub fn into_line(mut self) -> Vec<u8> {
        if !self.is_changed() {
            return self.line;
        }
        if let [(range, Some(new))] = &mut self.parts[..]
            && *range == (0..self.line.len())
        {
            return std::mem::take(new);
        }
        let now = (0..self.count()).map(|at| self.parts[at].1.as_deref().unwrap_or(self.part(at)));
        let left: Vec<_> = now.map(<[u8]>::trim_ascii).filter(|part| !part.is_empty()).collect();
        if left.is_empty() {
            return Vec::new();
        }
        [b"[", &left.join(&b","[..])[..], b"]\n"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_replaced_part_of_a_list_differs() {
        let now = |line: &str, new: &[(usize, &str)]| {
            let mut all = Assembly::of(line.into());
            new.iter().for_each(|(at, new)| all.set(*at, (*new).into()));
            String::from_utf8(all.into_line()).unwrap()
        };
        let list = " [{\"id\": 1} ,{\"id\":2}]\r\n";
        assert_eq!(now(list, &[]), list);
        assert_eq!(now(list, &[(1, "{}\n")]), "[{\"id\": 1},{}]\n");
        assert_eq!(now(list, &[(0, "")]), "[{\"id\":2}]\n");
        assert_eq!(now(list, &[(0, ""), (1, "")]), "");
        assert_eq!(now("{\"id\":1}\n", &[(0, "{}\n")]), "{}\n");
        assert_eq!(now("[oops\n", &[(0, "")]), "");
    }
}
