//! The messages of a request. Each is shared: a conversation sends its past again with every request, and that past is
//! in memory only once.

use std::ops::{Index, IndexMut, Range};
use std::{iter, slice, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::chat::Message;

/// The messages of a block. A request shares all blocks but its last ones with the request that continues it.
const BLOCK: usize = 64;

type Block = Arc<Vec<Arc<Message>>>;

/// Messages in their order. Copies share them.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// All but the last one are full; none is empty.
    blocks: Vec<Block>,
}

/// Goes through messages.
pub type Iter<'a> = iter::Map<Shared<'a>, fn(&'a Arc<Message>) -> &'a Message>;

type Shared<'a> = iter::FlatMap<
    slice::Iter<'a, Block>,
    slice::Iter<'a, Arc<Message>>,
    fn(&'a Block) -> slice::Iter<'a, Arc<Message>>,
>;

impl Messages {
    pub fn iter(&self) -> Iter<'_> {
        self.shared().map(|message| message)
    }

    /// The messages from this place on.
    pub fn iter_from(&self, at: usize) -> Iter<'_> {
        self.shared_from(at).map(|message| message)
    }

    /// The messages, each as copies share it.
    pub fn shared(&self) -> Shared<'_> {
        self.shared_from(0)
    }

    /// The same from this place on.
    pub fn shared_from(&self, at: usize) -> Shared<'_> {
        let blocks = self.blocks.get(at / BLOCK..).unwrap_or_default();
        let mut shared: Shared<'_> = blocks.iter().flat_map(|block| block.iter());
        // `skip` would go through all messages before.
        if let Some(before) = (at % BLOCK).checked_sub(1) {
            shared.nth(before);
        }
        shared
    }

    /// The messages after these; `None` if they do not begin with them.
    pub fn after(&self, beginning: &Messages) -> Option<Iter<'_>> {
        let is_same = self.same(beginning) == beginning.len();
        is_same.then(|| self.iter_from(beginning.len()))
    }

    /// The number of equal messages at the beginning.
    pub fn same(&self, other: &Messages) -> usize {
        let blocks = self.blocks.iter().zip(&other.blocks);
        let shared = blocks.take_while(|(own, other)| Arc::ptr_eq(own, other)).count() * BLOCK;
        let shared = shared.min(self.len());
        let rest = self.shared_from(shared).zip(other.shared_from(shared));
        shared + rest.take_while(|(own, other)| Arc::ptr_eq(own, other) || own == other).count()
    }

    pub fn len(&self) -> usize {
        let full = self.blocks.len().saturating_sub(1);
        self.blocks.last().map_or(0, |last| full * BLOCK + last.len())
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub fn get(&self, at: usize) -> Option<&Message> {
        self.blocks.get(at / BLOCK)?.get(at % BLOCK).map(|message| &**message)
    }

    /// Changes a message, which no copy shares after that.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut Message> {
        let block = Arc::make_mut(self.blocks.get_mut(at / BLOCK)?);
        block.get_mut(at % BLOCK).map(Arc::make_mut)
    }

    pub fn first(&self) -> Option<&Message> {
        self.get(0)
    }

    pub fn last(&self) -> Option<&Message> {
        self.blocks.last()?.last().map(|message| &**message)
    }

    pub fn push(&mut self, message: Message) {
        self.push_shared(Arc::new(message));
    }

    /// Adds a message that others share.
    pub fn push_shared(&mut self, message: Arc<Message>) {
        match self.blocks.last_mut().filter(|last| last.len() < BLOCK) {
            Some(last) => Arc::make_mut(last).push(message),
            None => self.blocks.push(Arc::new(vec![message])),
        }
    }

    /// Inserts messages before the one at this place; at most at the end.
    pub fn insert(&mut self, at: usize, more: impl IntoIterator<Item = Message>) {
        let rest = self.split_off(at);
        self.extend(more);
        rest.shared().cloned().for_each(|message| self.push_shared(message));
    }

    /// Changes the last message, which no copy shares after that.
    pub fn last_mut(&mut self) -> Option<&mut Message> {
        self.get_mut(self.len().checked_sub(1)?)
    }

    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Message> {
        let blocks = self.blocks.iter_mut().map(Arc::make_mut);
        blocks.flat_map(|block| block.iter_mut().map(Arc::make_mut))
    }

    pub fn pop(&mut self) -> Option<Message> {
        let last = self.split_off(self.len().checked_sub(1)?);
        let last = last.shared().next().cloned();
        last.map(Arc::unwrap_or_clone)
    }

    pub fn truncate(&mut self, len: usize) {
        self.split_off(len);
    }

    /// Removes the messages from this place on, and returns them.
    fn split_off(&mut self, at: usize) -> Self {
        let rest = self.shared_from(at).cloned().collect();
        self.blocks.truncate(at.div_ceil(BLOCK));
        if let Some(last) = self.blocks.get_mut(at / BLOCK) {
            Arc::make_mut(last).truncate(at % BLOCK);
        }
        rest
    }

    /// Removes the messages in this range of places.
    pub fn remove(&mut self, places: Range<usize>) {
        let rest = self.split_off(places.start);
        let rest = rest.shared_from(places.len()).cloned();
        rest.for_each(|message| self.push_shared(message));
    }

    /// Keeps the messages for which this is true.
    pub fn retain(&mut self, is_kept: impl Fn(&Message) -> bool) {
        *self = self.shared().filter(|message| is_kept(message)).cloned().collect();
    }

    /// Replaces the messages at the beginning by the equal ones of `other`, so that both share them.
    pub fn share(&mut self, other: &Messages) {
        let same = self.same(other);
        let rest = self.split_off(same);
        *self = other.clone();
        self.truncate(same);
        rest.shared().cloned().for_each(|message| self.push_shared(message));
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.same(other) == self.len()
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Vec::<Arc<Message>>::deserialize(from)?.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Message;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Index<usize> for Messages {
    type Output = Message;

    fn index(&self, at: usize) -> &Message {
        &self.blocks[at / BLOCK][at % BLOCK]
    }
}

impl IndexMut<usize> for Messages {
    fn index_mut(&mut self, at: usize) -> &mut Message {
        Arc::make_mut(&mut Arc::make_mut(&mut self.blocks[at / BLOCK])[at % BLOCK])
    }
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Self {
        messages.into_iter().collect()
    }
}

impl<const N: usize> From<[Message; N]> for Messages {
    fn from(messages: [Message; N]) -> Self {
        messages.into_iter().collect()
    }
}

impl<const N: usize> PartialEq<[Message; N]> for Messages {
    fn eq(&self, other: &[Message; N]) -> bool {
        self.iter().eq(other)
    }
}

impl FromIterator<Message> for Messages {
    fn from_iter<T: IntoIterator<Item = Message>>(messages: T) -> Self {
        messages.into_iter().map(Arc::new).collect()
    }
}

impl FromIterator<Arc<Message>> for Messages {
    fn from_iter<I: IntoIterator<Item = Arc<Message>>>(messages: I) -> Self {
        let mut all = Self::default();
        messages.into_iter().for_each(|message| all.push_shared(message));
        all
    }
}

impl Extend<Message> for Messages {
    fn extend<T: IntoIterator<Item = Message>>(&mut self, messages: T) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_messages_of_successive_requests_are_one() {
        let told = |last: &str| -> Messages {
            [Message::system("You help."), Message::user("hello"), Message::user(last)]
                .into_iter()
                .collect()
        };
        let (before, mut after) = (told("one"), told("two"));
        after.share(&before);
        let is_shared = |at: usize| std::ptr::eq(&before[at], &after[at]);
        assert_eq!([0, 1, 2].map(is_shared), [true, true, false]);
        assert_eq!(after, told("two"));
        // A change affects only one of them.
        after[0] = Message::system("You do not.");
        assert_eq!(before, told("one"));
    }

    #[test]
    fn blocks_are_as_one_list() {
        let text = |n: usize| Message::user(format!("message {n}"));
        let list = |n: usize| -> Vec<Message> { (0..n).map(text).collect() };
        for n in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            let (messages, own) = (Messages::from(list(n)), list(n));
            assert_eq!((messages.len(), messages.is_empty()), (n, n == 0));
            assert!(messages.iter().eq(&own) && messages.iter().rev().eq(own.iter().rev()));
            assert_eq!((messages.first(), messages.last()), (own.first(), own.last()));
            let json = serde_json::to_string(&messages).unwrap();
            assert_eq!(json, serde_json::to_string(&own).unwrap());
            assert_eq!(serde_json::from_str::<Messages>(&json).unwrap(), messages);
            for at in [0, 1, n / 2, n.saturating_sub(1), n].into_iter().filter(|at| *at <= n) {
                assert!(messages.iter_from(at).eq(&own[at..]));
                let (mut changed, mut expected) = (messages.clone(), list(n));
                changed.insert(at, [text(1000), text(1001)]);
                expected.splice(at..at, [text(1000), text(1001)]);
                assert!(changed.iter().eq(&expected), "{n} {at}");
                changed.remove(at..at + 2);
                assert!(changed == messages && changed.len() == n);
                changed.push(text(7));
                assert!(changed != messages && changed.after(&messages).unwrap().count() == 1);
                assert_eq!(changed.pop(), Some(text(7)));
                changed.truncate(at);
                assert!(changed.iter().eq(&own[..at]) && messages.after(&changed).is_some());
            }
        }
    }

    #[test]
    fn a_long_past_takes_little_in_the_request_that_continues_it() {
        let text = |n: usize| Message::user(format!("message {n}"));
        let before: Messages = (0..10 * BLOCK + 3).map(text).collect();
        let mut after: Messages = (0..10 * BLOCK + 9).map(text).collect();
        after.share(&before);
        let both = before.blocks.iter().zip(&after.blocks);
        assert_eq!(both.filter(|(one, other)| Arc::ptr_eq(one, other)).count(), 10);
        assert!(after.iter().eq(&(0..10 * BLOCK + 9).map(text).collect::<Vec<_>>()));
    }
}
