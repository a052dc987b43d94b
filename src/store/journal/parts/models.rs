//! Objects that are like an earlier one, with other values for some keys.

use std::hash::BuildHasher;
use std::sync::Arc;

use super::nodes::{JsonSpan, JsonSpanKind};
use super::shorter::Shorter;

/// The most members of an object that others can be like.
const MEMBERS: usize = 64;
/// Objects with the same keys are told apart by a first value of at most this many bytes, such as a tool's name.
const NAME: usize = 40;

/// An object that others can be like.
#[derive(Clone, Debug)]
pub(super) struct Model {
    part: usize,
    members: Arc<[Member]>,
}

#[derive(Debug)]
struct Member {
    key: Box<[u8]>,
    value: Box<[u8]>,
}

impl Shorter<'_> {
    /// Writes a new object: often it is like an earlier one, with other values for some keys.
    pub fn object(&mut self, at: usize, depth: usize) {
        let (line, nodes) = (self.line, self.nodes);
        let text = &line[nodes[at].range.clone()];
        let values: Vec<&JsonSpan> = self.within(at).map(|at| &nodes[at]).collect();
        let Some((keys, named)) = self.kinds(&values) else {
            self.name(text);
            self.inside(at, depth);
            return self.push(b"}");
        };
        // The data of an event, and its direct values, are hardly ever repeated as a whole.
        let is_outer = depth <= 1;
        let of_name = named.and_then(|named| self.written.models.get(&named));
        let has_none_of_name = named.is_some() && of_name.is_none();
        let model = of_name.or_else(|| self.written.models.get(&keys)).cloned();
        let model = model.filter(|model| has_keys(line, model, &values));
        let is_known = model.is_some();
        let Some(model) = model.filter(|model| self.is_worth(model, &values)) else {
            if is_known && is_outer {
                return self.inside(at, depth);
            }
            let part = self.name(text);
            self.inside(at, depth);
            self.push(b"}");
            return self.remember(part, &values, [Some(keys), named]);
        };
        let has_name = !is_outer && {
            let hash = self.written.known.hasher().hash_one(text);
            !self.written.seen.insert(hash) || has_none_of_name
        };
        let part = has_name.then(|| self.name(text));
        self.push(b"{\"=\":");
        self.push_number(model.part);
        for (member, value) in model.members.iter().zip(self.within(at)) {
            let node = &nodes[value];
            if line[node.range.clone()] != *member.value {
                self.push(b",");
                self.push(&line[node.key.clone()]);
                self.push(b":");
                self.value(value, depth + 1);
            }
        }
        self.push(b"}");
        if let Some(part) = part {
            self.push(b"}");
            if has_none_of_name {
                self.remember(part, &values, [named, None]);
            }
        }
    }

    /// The hash of an object's keys, and that of the keys with its first value if this is like a name; `None` for an
    /// object that no other can be like.
    fn kinds(&self, values: &[&JsonSpan]) -> Option<(u64, Option<u64>)> {
        let keys: Vec<&[u8]> = values.iter().map(|it| &self.line[it.key.clone()]).collect();
        if keys.is_empty() || keys.len() > MEMBERS {
            return None;
        }
        let hasher = self.written.models.hasher();
        let first = &values[0];
        let name = (first.kind == JsonSpanKind::Text && first.range.len() <= NAME)
            .then(|| hasher.hash_one((&keys, &self.line[first.range.clone()])));
        Some((hasher.hash_one(&keys), name))
    }

    /// Whether an object is shorter when written as this model with changes.
    fn is_worth(&self, model: &Model, values: &[&JsonSpan]) -> bool {
        let same = model
            .members
            .iter()
            .zip(values)
            .filter(|(member, node)| *member.value == self.line[node.range.clone()]);
        // A longer value would only be a reference.
        let saved = same.map(|(member, _)| member.key.len() + 2 + member.value.len().min(12));
        saved.sum::<usize>() > 10
    }

    fn remember(&mut self, part: usize, values: &[&JsonSpan], kinds: [Option<u64>; 2]) {
        let line = self.line;
        let member = |node: &&JsonSpan| Member {
            key: line[node.key.clone()].into(),
            value: line[node.range.clone()].into(),
        };
        let members: Arc<[Member]> = values.iter().map(member).collect();
        // With two members of one key, nobody could tell which of them has changed.
        let mut keys: Vec<_> = members.iter().map(|member| &member.key).collect();
        keys.sort_unstable();
        if keys.windows(2).any(|two| two[0] == two[1]) {
            return;
        }
        self.written.kept += values.iter().map(|node| node.range.len()).sum::<usize>();
        for kind in kinds.into_iter().flatten() {
            self.written.models.insert(kind, Model { part, members: Arc::clone(&members) });
        }
    }
}

fn has_keys(line: &[u8], model: &Model, values: &[&JsonSpan]) -> bool {
    model.members.len() == values.len()
        && model.members.iter().zip(values).all(|(it, node)| *it.key == line[node.key.clone()])
}
