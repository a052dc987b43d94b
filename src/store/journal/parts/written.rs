//! The parts that a journal's writer has written since its list of parts began, and lines shortened by them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::models::Model;
use super::nodes::{JsonSpan, nodes};
use super::shorter::Shorter;
use super::texts::Texts;

/// A list of parts ends after this many lines, bytes of lines, or bytes of parts. A reader that starts in the middle
/// reads no more than that, and a writer keeps no more.
pub(super) const LINES: usize = 16_384;
const BYTES: usize = 4 << 20;
const KEPT: usize = 32 << 20;

/// The parts that a journal's writer has written.
#[derive(Debug, Default)]
pub struct PartsWriter {
    pub(super) known: HashMap<Arc<[u8]>, usize, RandomState>,
    /// By their numbers.
    pub(super) parts: Vec<Arc<[u8]>>,
    pub(super) texts: Texts,
    /// Objects that others are like, by their keys, and by their keys with the first value.
    pub(super) models: HashMap<u64, Model, RandomState>,
    /// The last array with these two first elements.
    pub(super) arrays: HashMap<u64, usize, RandomState>,
    /// Objects that were written as another one with changes.
    pub(super) seen: HashSet<u64, RandomState>,
    lines: usize,
    bytes: usize,
    /// In bytes.
    pub(super) kept: usize,
    nodes: Vec<JsonSpan>,
}

impl PartsWriter {
    /// Appends a line to `out`: JSON without spaces between values. The bytes before `from` stay unchanged; the value
    /// that begins there ends the line. Only a line that `has_parts` names parts.
    pub fn shorten(&mut self, line: &[u8], from: usize, has_parts: bool, out: &mut Vec<u8>) {
        let begun = out.len();
        if self.lines >= LINES || self.bytes >= BYTES || self.kept >= KEPT {
            *self = Self::default();
        }
        let mut all = std::mem::take(&mut self.nodes);
        if nodes(line, from, &mut all) {
            out.extend_from_slice(&line[..from]);
            let mut shorter = Shorter { written: self, line, nodes: &all, has_parts, out };
            shorter.value(0, 0);
            out.extend_from_slice(&line[all[0].range.end..]);
        } else {
            out.extend_from_slice(line);
        }
        self.nodes = all;
        self.lines += 1;
        self.bytes += out.len() - begun;
    }

    /// Adds a part and returns its number.
    pub(super) fn add(&mut self, text: &[u8]) -> usize {
        let (part, text) = (self.parts.len(), Arc::from(text));
        self.kept += 2 * size_of::<usize>() + <[u8]>::len(&text);
        self.parts.push(Arc::clone(&text));
        self.known.insert(text, part);
        part
    }
}
