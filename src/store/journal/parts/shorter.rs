//! Shortens a line by referring to what was written before.

use std::hash::BuildHasher;

use super::nodes::{JsonSpan, JsonSpanKind, MARK};
use super::texts::Slice;
use super::written::PartsWriter;

/// Shorter values cost as much as a reference.
const LEAST: usize = 24;
/// Larger values are rarely repeated as a whole, but their parts are.
const MOST: usize = 1 << 18;
/// Values within values in which parts are looked for; a reader follows more.
const DEEPEST: usize = 24;

/// A line that is being shortened.
pub(super) struct Shorter<'a> {
    pub written: &'a mut PartsWriter,
    pub line: &'a [u8],
    pub nodes: &'a [JsonSpan],
    pub has_parts: bool,
    pub out: &'a mut Vec<u8>,
}

impl<'a> Shorter<'a> {
    pub fn push(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    pub fn push_number(&mut self, number: usize) {
        self.push(number.to_string().as_bytes());
    }

    /// Opens `{"=7":` for a new part; the value must follow, and then the closing brace.
    pub fn name(&mut self, text: &[u8]) -> usize {
        let part = self.written.add(text);
        self.push(b"{\"=");
        self.push_number(part);
        self.push(b"\":");
        part
    }

    fn reference(&mut self, part: usize) {
        self.push(b"{\"=\":");
        self.push_number(part);
        self.push(b"}");
    }

    /// Writes the value at this place of the list, at this depth of the line.
    pub fn value(&mut self, at: usize, depth: usize) {
        let (line, nodes) = (self.line, self.nodes);
        let node = &nodes[at];
        let text = &line[node.range.clone()];
        let looks_like_a_part = node.kind == JsonSpanKind::Object && text.starts_with(MARK);
        if looks_like_a_part || node.is_marked && depth >= DEEPEST {
            self.push(b"{\"==\":");
            self.push(text);
            return self.push(b"}");
        }
        let is_short = text.len() < LEAST;
        let stays =
            is_short || !self.has_parts || depth >= DEEPEST || node.kind == JsonSpanKind::Plain;
        if stays && !node.is_marked {
            return self.push(text);
        }
        if let (Some(part), false) = (self.written.known.get(text), stays) {
            return self.reference(*part);
        }
        if stays || text.len() > MOST {
            return self.inside(at, depth);
        }
        match node.kind {
            JsonSpanKind::Plain => self.push(text),
            JsonSpanKind::Text => self.text(text),
            JsonSpanKind::Array => self.array(at, depth),
            JsonSpanKind::Object => self.object(at, depth),
        }
    }

    /// The values directly in this one.
    pub fn within(&self, at: usize) -> impl Iterator<Item = usize> + use<'a> {
        let nodes = self.nodes;
        let first = (nodes[at].next > at + 1).then_some(at + 1);
        let end = nodes[at].next;
        std::iter::successors(first, move |at| Some(nodes[*at].next).filter(|next| *next < end))
    }

    /// Writes a value with the values in it made shorter.
    pub fn inside(&mut self, at: usize, depth: usize) {
        let (line, range) = (self.line, self.nodes[at].range.clone());
        let mut copied = range.start;
        for value in self.within(at) {
            let range = self.nodes[value].range.clone();
            self.push(&line[copied..range.start]);
            self.value(value, depth + 1);
            copied = range.end;
        }
        self.push(&line[copied..range.end]);
    }

    /// Writes a new text: slices that earlier texts contain become references.
    fn text(&mut self, text: &[u8]) {
        let part = self.name(text);
        let inside = &text[1..text.len() - 1];
        let slices = self.written.texts.slices(inside, &self.written.parts);
        match &slices[..] {
            [] => self.push(text),
            [all] if all.to.len() == inside.len() => self.slice(all),
            _ => {
                self.push(b"{\"=+\":[");
                let mut copied = 0;
                for slice in &slices {
                    self.piece(&inside[copied..slice.to.start]);
                    self.slice(slice);
                    self.push(b",");
                    copied = slice.to.end;
                }
                self.piece(&inside[copied..]);
                self.out.pop();
                self.push(b"]}");
            }
        }
        self.push(b"}");
        self.written.texts.add(inside, part, &slices);
    }

    fn piece(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.push(b"\"");
            self.push(text);
            self.push(b"\",");
        }
    }

    fn slice(&mut self, slice: &Slice) {
        self.push(b"{\"=\":[");
        self.push_number(slice.part);
        self.push(b",");
        self.push_number(slice.from);
        self.push(b",");
        self.push_number(slice.to.len());
        self.push(b"]}");
    }

    /// Writes a new array: often it is an earlier one with more at its end.
    fn array(&mut self, at: usize, depth: usize) {
        let (line, nodes) = (self.line, self.nodes);
        let text = &line[nodes[at].range.clone()];
        let mut within = self.within(at);
        let first = within.next().and_then(|_| within.next()).map(|second| {
            let first = &text[..nodes[second].range.end - nodes[at].range.start];
            self.written.arrays.hasher().hash_one(first)
        });
        let earlier = first.and_then(|first| self.written.arrays.get(&first).copied());
        let part = self.name(text);
        let goes_on = earlier.filter(|earlier| {
            let (_, beginning) = self.written.parts[*earlier].split_last().unwrap_or((&0, &[]));
            text.starts_with(beginning) && text.get(beginning.len()) == Some(&b',')
        });
        match goes_on {
            None => self.inside(at, depth),
            Some(earlier) => {
                let beginning = nodes[at].range.start + self.written.parts[earlier].len();
                self.push(b"{\"=+\":[");
                self.reference(earlier);
                self.push(b",[");
                for value in self.within(at).filter(|at| nodes[*at].range.start >= beginning) {
                    self.value(value, depth + 1);
                    self.push(b",");
                }
                self.out.pop();
                self.push(b"]]}");
            }
        }
        self.push(b"}");
        if let Some(first) = first {
            self.written.arrays.insert(first, part);
        }
    }
}
