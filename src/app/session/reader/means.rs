//! The mean of each domain's queries, from a session's view.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::papers::cotools::{BadShape, RunningMean};
use crate::store::states::{SharedStates, StatePlace, StatesError, TextKey};

/// Exchange of queries between a reader and the sessions before and after its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The reader knows earlier queries, and its own are kept.
    Kept,
    /// The reader knows earlier queries, and forgets its own, as a copy of a session does.
    Copied,
    /// The reader knows only its own queries, and all tools from the first one on, so that results can be reproduced.
    Fresh,
}

pub(super) struct Means {
    cache: SharedStates,
    memory: Memory,
    /// Means of queries that are not kept in the cache.
    own: HashMap<(String, StatePlace), Own>,
}

#[derive(Default)]
struct Own {
    mean: RunningMean,
    queries: HashSet<TextKey>,
}

impl Means {
    pub fn new(cache: SharedStates, memory: Memory) -> Self {
        Self { cache, memory, own: HashMap::new() }
    }

    /// The mean of the queries before this one. The query counts from now on, unless it is a repeated one.
    ///
    /// # Errors
    /// The cache fails, or the state has another width than earlier ones.
    pub fn ask(
        &mut self,
        domain: &str,
        at: &StatePlace,
        text: &str,
        state: &[f32],
    ) -> Result<RunningMean, StatesError> {
        let key = TextKey::of(text);
        let mut cache = self.cache.lock();
        if self.memory == Memory::Kept {
            return cache.ask(domain, at, &key, state);
        }
        let is_copied = self.memory == Memory::Copied;
        let own = match self.own.entry((domain.to_owned(), at.clone())) {
            Entry::Occupied(own) => own.into_mut(),
            Entry::Vacant(own) => own.insert(Own {
                mean: if is_copied { cache.mean(domain, at)? } else { RunningMean::default() },
                queries: HashSet::new(),
            }),
        };
        let before = own.mean.clone();
        let is_known = is_copied && cache.knows(domain, at, &key)?;
        if !is_known && own.queries.insert(key) {
            let unfit = |why: BadShape| StatesError::Unfit {
                domain: domain.to_owned(),
                why: why.to_string(),
            };
            own.mean.add(state).map_err(unfit)?;
        }
        Ok(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::cotools::{Pooling, RecipeLayer};
    use crate::store::states::StateCache;

    fn at() -> StatePlace {
        StatePlace { model: "m".to_owned(), layer: RecipeLayer::Final, pooling: Pooling::Mean }
    }

    #[test]
    fn only_what_is_kept_is_known_later() {
        let cache = SharedStates::from(StateCache::in_memory().unwrap());
        let ask = |means: &mut Means, text: &str| {
            means.ask("d", &at(), text, &[1.0, 2.0]).unwrap().count()
        };
        let counts = |memory: Memory, texts: &[&str]| -> Vec<u64> {
            let mut means = Means::new(cache.clone(), memory);
            texts.iter().map(|text| ask(&mut means, text)).collect()
        };
        assert_eq!(counts(Memory::Fresh, &["a", "a", "b", "c"]), [0, 1, 1, 2]);
        assert_eq!(counts(Memory::Kept, &["a", "a", "b", "c"]), [0, 1, 1, 2]);
        assert_eq!(counts(Memory::Copied, &["a", "d", "d", "e"]), [3, 3, 4, 4]);
        assert_eq!(counts(Memory::Fresh, &["a", "b"]), [0, 1]);
        assert_eq!(counts(Memory::Kept, &["e"]), [3]);
    }

    #[test]
    fn a_state_of_another_width_is_refused() {
        for memory in [Memory::Kept, Memory::Copied, Memory::Fresh] {
            let cache = SharedStates::from(StateCache::in_memory().unwrap());
            let mut means = Means::new(cache, memory);
            means.ask("d", &at(), "a", &[1.0, 2.0]).unwrap();
            assert!(means.ask("d", &at(), "b", &[1.0]).is_err(), "{memory:?}");
        }
    }
}
