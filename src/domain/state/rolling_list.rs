//! A list that forgets its beginning, so that a session of any length takes bounded memory. A person who looks
//! at forgotten items can have them recalled.

use std::collections::{BTreeMap, VecDeque, vec_deque};
use std::fmt::{self, Formatter};
use std::marker::PhantomData;
use std::ops::Index;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list whose first items may be gone. The places of the others stay the same.
#[derive(Clone, Debug)]
pub struct RollingList<T> {
    gone: usize,
    items: VecDeque<T>,
    /// Items that were read again, by their places. They come before the others, and only lookups use them.
    recalled: BTreeMap<usize, T>,
}

impl<T> RollingList<T> {
    /// The number of all items, gone or not.
    pub fn len(&self) -> usize {
        self.gone + self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of items that are gone, which is the place of the first remaining one.
    pub fn gone(&self) -> usize {
        self.gone
    }

    /// The item at this place; `None` also if it is gone.
    pub fn get(&self, at: usize) -> Option<&T> {
        // Mostly nothing is recalled.
        if let Some(item) = self.recalled.get(&at) {
            return Some(item);
        }
        self.items.get(at.checked_sub(self.gone)?)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.items.get_mut(at.checked_sub(self.gone)?)
    }

    pub fn last(&self) -> Option<&T> {
        self.items.back()
    }

    /// The items that are not gone.
    pub fn iter(&self) -> vec_deque::Iter<'_, T> {
        self.items.iter()
    }

    /// The items from this place on that are not gone.
    pub fn from(&self, at: usize) -> impl DoubleEndedIterator<Item = &T> {
        self.items.range(at.saturating_sub(self.gone).min(self.items.len())..)
    }

    /// Like `slice::partition_point`. Items that are gone count as satisfying the predicate, up to the first recalled
    /// item that fails it.
    pub fn partition_point(&self, mut holds: impl FnMut(&T) -> bool) -> usize {
        let first_not = self.recalled.iter().find(|(_, item)| !holds(item)).map(|(at, _)| *at);
        match first_not.filter(|at| *at < self.gone) {
            Some(at) => at,
            None => self.gone + self.items.partition_point(holds),
        }
    }

    pub(super) fn push(&mut self, item: T) {
        self.items.push_back(item);
    }

    /// Takes off the items from this place on; items that are gone stay gone.
    pub(super) fn split_off(&mut self, at: usize) -> VecDeque<T> {
        self.items.split_off(at.saturating_sub(self.gone).min(self.items.len()))
    }

    /// Puts an item where it was.
    pub(super) fn recall(&mut self, at: usize, item: T) {
        self.recalled.insert(at, item);
    }

    /// The items that were recalled.
    pub(super) fn recalled(&self) -> impl ExactSizeIterator<Item = &T> {
        self.recalled.values()
    }

    /// Forgets what was recalled.
    pub(super) fn forget_recalled(&mut self) {
        self.recalled.clear();
    }

    /// Puts back the last items that are gone, at most as many as are gone.
    pub(super) fn put_back(&mut self, last: Vec<T>) {
        let more = last.len().saturating_sub(self.gone);
        for item in last.into_iter().skip(more).rev() {
            self.items.push_front(item);
            self.gone -= 1;
        }
    }

    /// Forgets the first items as long as this holds for them.
    pub(super) fn forget_while(&mut self, mut holds: impl FnMut(&T) -> bool) {
        while self.items.front().is_some_and(&mut holds) {
            self.items.pop_front();
            self.gone += 1;
        }
    }

    /// Forgets all but this many of the last items.
    pub(super) fn forget_all_but(&mut self, most: usize) {
        let more = self.items.len().saturating_sub(most);
        self.items.drain(..more);
        self.gone += more;
    }
}

/// Compares without the recalled items.
impl<T: PartialEq> PartialEq for RollingList<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.gone, &self.items) == (other.gone, &other.items)
    }
}

impl<T> Default for RollingList<T> {
    fn default() -> Self {
        Self { gone: 0, items: VecDeque::new(), recalled: BTreeMap::new() }
    }
}

impl<T> Index<usize> for RollingList<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        self.recalled.get(&at).unwrap_or_else(|| &self.items[at - self.gone])
    }
}

impl<'a, T> IntoIterator for &'a RollingList<T> {
    type Item = &'a T;
    type IntoIter = vec_deque::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The items as a list, or the remaining items together with the number of those that are gone.
impl<T: Serialize> Serialize for RollingList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.gone {
            0 => self.items.serialize(serializer),
            gone => Rest { gone, items: &self.items }.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for RollingList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Rest { gone, items } = deserializer.deserialize_any(FormVisitor(PhantomData))?;
        Ok(Self { gone, items, recalled: BTreeMap::new() })
    }
}

/// The end of a list.
#[derive(Serialize, Deserialize)]
struct Rest<I> {
    gone: usize,
    items: I,
}

/// Reads either form. An untagged enum would keep a copy of the whole list first, and compile each item for a second reader.
struct FormVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FormVisitor<T> {
    type Value = Rest<VecDeque<T>>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a list, or `gone` and `items`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        let items = VecDeque::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(Rest { gone: 0, items })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Rest::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_when_the_beginning_is_gone() {
        let mut list = RollingList::default();
        (0..10).for_each(|item| list.push(item));
        list.forget_while(|item| *item < 4);
        assert_eq!((list.len(), list.gone(), list.get(3), list.get(4)), (10, 4, None, Some(&4)));
        assert_eq!((list[9], list.partition_point(|item| *item < 7)), (9, 7));
        assert_eq!(list.from(8).collect::<Vec<_>>(), [&8, &9]);
        assert_eq!(list.from(0).count(), 6);
        list.forget_all_but(1);
        list.push(10);
        let json = serde_json::to_string(&list).unwrap();
        assert_eq!(json, r#"{"gone":9,"items":[9,10]}"#);
        assert_eq!(serde_json::from_str::<RollingList<i32>>(&json).unwrap(), list);
        let mut whole = RollingList::default();
        whole.push(7);
        assert_eq!(serde_json::to_string(&whole).unwrap(), "[7]");
        assert_eq!(serde_json::from_str::<RollingList<i32>>("[7]").unwrap(), whole);
        assert_eq!((list.len(), list.last()), (11, Some(&10)));
        let before = list.clone();
        list.recall(3, 3);
        assert_eq!((list.get(3), list[3], list.get(4), list[10]), (Some(&3), 3, None, 10));
        assert_eq!([2, 3, 9].map(|n| list.partition_point(|item| *item <= n)), [3, 9, 10]);
        assert!(list == before && list.iter().count() == 2);
        list.forget_recalled();
        assert_eq!(list.get(3), None);
    }
}
