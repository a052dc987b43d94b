//! Messages in eight bytes, so that the past of a request is compared without keeping it.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;

use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Message, Messages, Reply, ToolCall, chance::canonical};

/// The digest of each message. Clients write an answer back in different ways, so only its content counts.
pub fn of_messages(messages: &Messages) -> Vec<u64> {
    messages.iter().map(of_message).collect()
}

/// The digest of the messages before each place, and of all of them at last.
pub fn of_pasts(messages: &[u64]) -> Vec<u64> {
    let mut past = 0;
    let before = messages.iter().map(|message| {
        let own = past;
        past = digest(|to| (own, message).hash(to));
        own
    });
    let mut pasts: Vec<u64> = before.collect();
    pasts.push(past);
    pasts
}

/// The digest of all these messages.
pub fn of_past(messages: &[u64]) -> u64 {
    of_pasts(messages).pop().unwrap_or_default()
}

/// The digest of a text.
pub fn of_text(text: &str) -> u64 {
    digest(|to| text.hash(to))
}

/// The digest of the message in which a client sends this answer back.
pub fn of_reply(reply: &Reply) -> u64 {
    of_answer(&reply.text, &reply.calls)
}

/// The digest of one message.
pub fn of_message(message: &Message) -> u64 {
    match message {
        Message::System { text } => digest(|to| (0u8, text).hash(to)),
        Message::User { text, blocks } => digest(|to| {
            (1u8, text).hash(to);
            kept(blocks, to);
        }),
        Message::Assistant { text, calls, .. } => of_answer(text, calls),
        Message::Tool { id, text, blocks, .. } => digest(|to| {
            (3u8, id, text).hash(to);
            kept(blocks, to);
        }),
    }
}

fn of_answer(text: &str, calls: &[ToolCall]) -> u64 {
    digest(|to| {
        (2u8, text.trim(), calls.len()).hash(to);
        for call in calls {
            (&call.id, call.tool.as_str(), canonical(&call.arguments)).hash(to);
        }
    })
}

/// Images and similar parts distinguish messages with the same text.
fn kept(blocks: &[Block], to: &mut impl Hasher) {
    for block in blocks {
        if let Block::Kept {
            kind: BlockKind::Image | BlockKind::Document | BlockKind::Audio,
            raw,
        } = block
        {
            canonical(raw).hash(to);
        }
    }
}

fn digest(write: impl FnOnce(&mut <FixedState as BuildHasher>::Hasher)) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    write(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_known_again_however_it_is_written_back() {
        let call = |arguments| ToolCall { id: "c".into(), tool: "t".into(), arguments };
        let said = Reply { calls: vec![call(json!({"a": 1, "b": 2}))], ..Reply::of_text("so \n") };
        let back = Message::Assistant {
            text: "so".into(),
            calls: vec![call(json!({"b": 2, "a": 1}))],
            source: None,
        };
        assert_eq!(of_messages(&[back].into()), [of_reply(&said)]);
        let others = [Message::user("so"), Message::system("so"), Message::assistant("so")];
        let mut digests = of_messages(&others.into());
        digests.push(of_reply(&said));
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), 4);
    }
}
