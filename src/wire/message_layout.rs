//! A message of the assistant, taken apart into its blocks.

use serde_json::{Map, Value};

use crate::domain::blocks::{Block, BlockKind, texts};
use crate::domain::{ReplySource, ToolCall};

/// A block of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LayoutBlock<'a> {
    /// A text, and what it has beside it, such as citations.
    Text(&'a str, Option<&'a Value>),
    /// A call, and the fields of its block that the call itself does not have.
    Call(&'a ToolCall, Option<&'a Map<String, Value>>),
    Kept(BlockKind, &'a Value),
}

/// The blocks of a message, in their order. Text and calls that were added later have a block too. `field` of the source
/// has what texts have beside them.
pub(crate) fn parts<'a>(
    text: &'a str,
    calls: &'a [ToolCall],
    source: Option<&'a ReplySource>,
    field: &str,
) -> Vec<LayoutBlock<'a>> {
    let blocks = source.map_or(&[][..], |source| &source.blocks);
    let beside = source.and_then(|source| source.message.get(field)?.as_array());
    let beside = beside.filter(|_| is_as_written(blocks, text));
    let mut texts = texts(blocks, text).into_iter().enumerate();
    let mut unused = Unused { calls, used: vec![false; calls.len()], next: 0 };
    let call =
        |call: &'a ToolCall| LayoutBlock::Call(call, source.and_then(|it| it.calls.get(&call.id)));
    let mut parts = Vec::with_capacity(blocks.len() + calls.len());
    for block in blocks {
        match block {
            Block::Text { .. } => parts.extend(texts.next().map(|(at, text)| {
                LayoutBlock::Text(text, beside.and_then(|of| of.get(at)).filter(|it| !it.is_null()))
            })),
            Block::Call { id } => parts.extend(unused.take(id).map(call)),
            Block::Kept { kind, raw } => parts.push(LayoutBlock::Kept(*kind, raw)),
        }
    }
    if !text.is_empty() && !blocks.iter().any(|block| matches!(block, Block::Text { .. })) {
        let is_call = |part: &LayoutBlock<'_>| matches!(part, LayoutBlock::Call(..));
        let at = parts.iter().position(is_call).unwrap_or(parts.len());
        parts.insert(at, LayoutBlock::Text(text, None));
    }
    parts.extend(unused.rest().map(call));
    parts
}

/// Whether the blocks' texts still make up the text.
fn is_as_written(blocks: &[Block], text: &str) -> bool {
    let bytes = |block: &Block| if let Block::Text { bytes } = block { *bytes } else { 0 };
    blocks.iter().map(bytes).sum::<usize>() == text.len()
}

/// The calls that no block had so far.
struct Unused<'a> {
    calls: &'a [ToolCall],
    used: Vec<bool>,
    /// The call after the last one that was taken. Blocks usually name their calls in order.
    next: usize,
}

impl<'a> Unused<'a> {
    fn take(&mut self, id: &str) -> Option<&'a ToolCall> {
        let is_it = |at: &usize| !self.used[*at] && self.calls[*at].id == id;
        let likely = Some(self.next).filter(|at| *at < self.calls.len() && is_it(at));
        let at = likely.or_else(|| (0..self.calls.len()).find(is_it))?;
        self.used[at] = true;
        self.next = at + 1;
        Some(&self.calls[at])
    }

    fn rest(self) -> impl Iterator<Item = &'a ToolCall> {
        self.calls.iter().zip(self.used).filter(|(_, used)| !used).map(|(call, _)| call)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), tool: "t".into(), arguments: json!({}) }
    }

    fn shown(text: &str, calls: &[ToolCall], source: &ReplySource) -> Vec<String> {
        let show = |part| match part {
            LayoutBlock::Text(text, None) => text.to_owned(),
            LayoutBlock::Text(text, Some(citations)) => format!("{text} {citations}"),
            LayoutBlock::Call(call, _) => call.id.clone(),
            LayoutBlock::Kept(kind, _) => format!("{kind:?}"),
        };
        parts(text, calls, Some(source), "citations").into_iter().map(show).collect()
    }

    #[test]
    fn what_somebody_changed_has_a_place() {
        let of_call = |id: &str| Block::Call { id: id.into() };
        let thinking = Block::kept(BlockKind::Thinking, json!({}));
        let blocks = vec![thinking.clone(), Block::Text { bytes: 2 }, of_call("a"), of_call("b")];
        let mut message = Map::new();
        message.insert("citations".into(), json!([[1]]));
        let mut source = ReplySource { blocks, message, ..ReplySource::default() };
        let calls = [call("a"), call("b")];
        assert_eq!(shown("Hi", &calls, &source), ["Thinking", "Hi [1]", "a", "b"]);
        assert_eq!(shown("Hello", &calls[1..], &source), ["Thinking", "Hello", "b"]);
        let more = [call("b"), call("c"), call("a")];
        assert_eq!(shown("Hi", &more, &source), ["Thinking", "Hi [1]", "a", "b", "c"]);
        source.blocks = vec![thinking, of_call("a"), of_call("a")];
        let twice = [call("a"), call("a")];
        assert_eq!(shown("Hi", &twice, &source), ["Thinking", "Hi", "a", "a"]);
    }
}
