//! Splits a stream into lines.

use memchr::memchr;

/// The longest line in bytes that is read. A longer one passes unread, part by part.
const LARGEST: usize = 32 << 20;

/// A part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinePiece {
    /// A whole line, with its line ending if it has one.
    Line(Vec<u8>),
    /// A part of a line that is too long.
    Part(Vec<u8>),
}

impl LinePiece {
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            LinePiece::Line(bytes) | LinePiece::Part(bytes) => bytes,
        }
    }
}

/// The line that has begun.
#[derive(Debug, Default)]
pub struct Splitter {
    line: Vec<u8>,
    is_long: bool,
}

impl Splitter {
    /// Adds the bytes that were read; gives each whole line, or part of a line that is too long.
    pub fn take(&mut self, mut read: &[u8], mut give: impl FnMut(LinePiece)) {
        while !read.is_empty() {
            let end = memchr(b'\n', read).map(|at| at + 1);
            let (part, rest) = read.split_at(end.unwrap_or(read.len()));
            read = rest;
            self.line.extend_from_slice(part);
            if self.is_long || self.line.len() > LARGEST {
                self.is_long = end.is_none();
                give(LinePiece::Part(std::mem::take(&mut self.line)));
            } else if end.is_some() {
                give(LinePiece::Line(std::mem::take(&mut self.line)));
            }
        }
    }

    /// The rest at the end of the stream.
    pub fn rest(self) -> Option<LinePiece> {
        let kind = if self.is_long { LinePiece::Part } else { LinePiece::Line };
        (!self.line.is_empty()).then(|| kind(self.line))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_is_lost_however_a_stream_arrives(text in "[ab\n]{0,40}", cut in 1usize..9) {
            let mut splitter = Splitter::default();
            let mut pieces = Vec::new();
            for read in text.as_bytes().chunks(cut) {
                splitter.take(read, |piece| pieces.push(piece));
            }
            pieces.extend(splitter.rest());
            let lines: Vec<_> = text.split_inclusive('\n').collect();
            prop_assert_eq!(pieces.len(), lines.len());
            for (piece, line) in pieces.into_iter().zip(lines) {
                prop_assert_eq!(piece, LinePiece::Line(line.as_bytes().to_vec()));
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_passes_in_parts() {
        let mut splitter = Splitter::default();
        let mut sizes = Vec::new();
        let part = vec![b'a'; LARGEST / 2 + 1];
        for read in [&part[..], &part, b"bc\nd\n"] {
            splitter.take(read, |piece| {
                sizes.push((matches!(piece, LinePiece::Line(_)), piece.into_bytes().len()));
            });
        }
        assert_eq!(sizes, [(false, LARGEST + 2), (false, 3), (true, 2)]);
    }
}
