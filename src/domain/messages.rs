//! The messages of a request. Each is shared: a conversation sends its past again with every request, and that past is
//! in memory only once.

use std::ops::{Index, IndexMut, Range, RangeFrom, RangeFull, RangeTo};
use std::{iter, slice, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::chat::Message;

/// Messages in their order. Copies share them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Messages(Vec<Arc<Message>>);

/// Goes through messages.
pub type Iter<'a> = iter::Map<slice::Iter<'a, Arc<Message>>, fn(&'a Arc<Message>) -> &'a Message>;

impl Messages {
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|message| message)
    }

    /// The messages after these; `None` if they do not begin with them.
    pub fn after(&self, beginning: &Messages) -> Option<Iter<'_>> {
        let more = self.0.strip_prefix(beginning.0.as_slice())?;
        Some(more.iter().map(|message| message))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, at: usize) -> Option<&Message> {
        self.0.get(at).map(|message| &**message)
    }

    /// Changes a message, which no copy shares after that.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut Message> {
        self.0.get_mut(at).map(Arc::make_mut)
    }

    pub fn first(&self) -> Option<&Message> {
        self.get(0)
    }

    pub fn last(&self) -> Option<&Message> {
        self.0.last().map(|message| &**message)
    }

    pub fn push(&mut self, message: Message) {
        self.0.push(Arc::new(message));
    }

    /// Adds a message that others share.
    pub fn push_shared(&mut self, message: Arc<Message>) {
        self.0.push(message);
    }

    /// Inserts messages before the one at this place; at most at the end.
    pub fn insert(&mut self, at: usize, more: impl IntoIterator<Item = Message>) {
        let at = at.min(self.0.len());
        self.0.splice(at..at, more.into_iter().map(Arc::new));
    }

    /// Changes the last message, which no copy shares after that.
    pub fn last_mut(&mut self) -> Option<&mut Message> {
        self.0.last_mut().map(Arc::make_mut)
    }

    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Message> {
        self.0.iter_mut().map(Arc::make_mut)
    }

    pub fn pop(&mut self) -> Option<Message> {
        self.0.pop().map(Arc::unwrap_or_clone)
    }

    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Removes the messages in this range of places.
    pub fn remove(&mut self, places: Range<usize>) {
        self.0.drain(places);
    }

    /// Keeps the messages for which this is true.
    pub fn retain(&mut self, is_kept: impl Fn(&Message) -> bool) {
        self.0.retain(|message| is_kept(message));
    }

    /// Replaces messages by the equal ones of `other` at the same place, so that both share them.
    pub fn share(&mut self, other: &Messages) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            if Arc::ptr_eq(own, other) {
                continue;
            }
            if own != other {
                return;
            }
            own.clone_from(other);
        }
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
        &self.0[at]
    }
}

impl Index<RangeFull> for Messages {
    type Output = [Arc<Message>];

    fn index(&self, _: RangeFull) -> &[Arc<Message>] {
        &self.0
    }
}

impl Index<RangeTo<usize>> for Messages {
    type Output = [Arc<Message>];

    fn index(&self, range: RangeTo<usize>) -> &[Arc<Message>] {
        &self.0[range]
    }
}

impl Index<RangeFrom<usize>> for Messages {
    type Output = [Arc<Message>];

    fn index(&self, range: RangeFrom<usize>) -> &[Arc<Message>] {
        &self.0[range]
    }
}

impl IndexMut<usize> for Messages {
    fn index_mut(&mut self, at: usize) -> &mut Message {
        Arc::make_mut(&mut self.0[at])
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
        Self(messages.into_iter().map(Arc::new).collect())
    }
}

impl FromIterator<Arc<Message>> for Messages {
    fn from_iter<I: IntoIterator<Item = Arc<Message>>>(messages: I) -> Self {
        Self(messages.into_iter().collect())
    }
}

impl Extend<Message> for Messages {
    fn extend<T: IntoIterator<Item = Message>>(&mut self, messages: T) {
        self.0.extend(messages.into_iter().map(Arc::new));
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
        let is_shared = |at: usize| Arc::ptr_eq(&before.0[at], &after.0[at]);
        assert_eq!([0, 1, 2].map(is_shared), [true, true, false]);
        assert_eq!(after, told("two"));
        // A change affects only one of them.
        after[0] = Message::system("You do not.");
        assert_eq!(before, told("one"));
    }
}
