//! Which key does what: the defaults of the action table, changed by the user's configuration.

use std::collections::{BTreeMap, HashMap};

use super::action::{ACTIONS, Action};
use super::key::Key;
use crate::domain::words;

/// Keys to actions, without conflicts.
#[derive(Clone, Debug)]
pub struct Keymap {
    by_key: HashMap<Key, Action>,
    by_action: HashMap<Action, Vec<Key>>,
}

/// What can be wrong with the configuration's `[keys]`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KeymapError {
    #[error(
        "keys.{name}: there is no such action; {}",
        words::expected(name, ACTIONS.iter().map(|spec| spec.name))
    )]
    UnknownAction { name: String },
    #[error("keys.{name}: {why}")]
    BadKey { name: String, why: String },
    #[error(
        "keys.{first}: `{key}` also does `{second}`; give one of them another key, \
         for example keys.{second} = []"
    )]
    Conflict { key: String, first: &'static str, second: &'static str },
}

impl Default for Keymap {
    fn default() -> Self {
        // The table's keys are tested to be good; a broken one would be left out, not panic.
        Self::new(&BTreeMap::new()).0
    }
}

impl Keymap {
    /// The default keys, and instead of them those that `changed` gives for an action's name (none, if
    /// it gives an empty list). What is wrong is left out and said.
    pub fn new(changed: &BTreeMap<String, Vec<String>>) -> (Self, Vec<KeymapError>) {
        let mut errors = Vec::new();
        for name in changed.keys().filter(|name| Action::by_name(name).is_none()) {
            errors.push(KeymapError::UnknownAction { name: name.clone() });
        }
        let mut map = Self { by_key: HashMap::new(), by_action: HashMap::new() };
        // The user's keys first: in a conflict with a default the user's choice works.
        let (own, default): (Vec<_>, Vec<_>) =
            ACTIONS.iter().partition(|spec| changed.contains_key(spec.name));
        for spec in own.into_iter().chain(default) {
            let keys: Vec<&str> = match changed.get(spec.name) {
                Some(keys) => keys.iter().map(String::as_str).collect(),
                None => spec.keys.to_vec(),
            };
            for key in keys {
                if let Err(error) = map.bind(key, spec.action) {
                    errors.push(error);
                }
            }
        }
        (map, errors)
    }

    fn bind(&mut self, text: &str, action: Action) -> Result<(), KeymapError> {
        let name = action.spec().name;
        let key: Key =
            text.parse().map_err(|why| KeymapError::BadKey { name: name.to_owned(), why })?;
        if let Some(other) = self.by_key.get(&key).filter(|other| **other != action) {
            let (first, second) = (other.spec().name, name);
            return Err(KeymapError::Conflict { key: key.to_string(), first, second });
        }
        if self.by_key.insert(key, action).is_none() {
            self.by_action.entry(action).or_default().push(key);
        }
        Ok(())
    }

    pub fn action(&self, key: Key) -> Option<Action> {
        self.by_key.get(&key).copied()
    }

    /// Its keys, the one to show first.
    pub fn keys(&self, action: Action) -> &[Key] {
        self.by_action.get(&action).map_or(&[], Vec::as_slice)
    }

    /// The key to show for it.
    pub fn key(&self, action: Action) -> Option<Key> {
        self.keys(action).first().copied()
    }

    /// Its keys as people read them: `+ =`.
    pub fn show(&self, action: Action) -> String {
        self.keys(action).iter().map(Key::to_string).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(entries: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        entries.iter().map(|(name, list)| ((*name).to_owned(), keys(list))).collect()
    }

    #[test]
    fn the_defaults_have_no_conflicts_and_every_action_a_key() {
        let (map, errors) = Keymap::new(&BTreeMap::new());
        assert_eq!(errors, []);
        for spec in ACTIONS {
            assert_eq!(map.keys(spec.action).len(), spec.keys.len(), "{}", spec.name);
            assert!(!spec.keys.is_empty(), "{}", spec.name);
        }
    }

    #[test]
    fn the_user_replaces_and_takes_away() {
        let (map, errors) = Keymap::new(&changed(&[("step", &["f10", "b"]), ("break", &[])]));
        assert_eq!(errors, []);
        assert_eq!(map.action("f10".parse().unwrap()), Some(Action::Step));
        assert_eq!(map.action("n".parse().unwrap()), None);
        assert_eq!(map.keys(Action::Break), []);
        assert_eq!(map.show(Action::Step), "f10 b");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let (map, errors) =
            Keymap::new(&changed(&[("stop", &["q"]), ("setp", &["n"]), ("undo", &["hyper-u"])]));
        let said: Vec<_> = errors.iter().map(KeymapError::to_string).collect();
        assert!(said[0].starts_with("keys.setp: there is no such action; did you mean `step`?"));
        assert!(said[1].starts_with("keys.undo: `hyper-u` is not a key"), "{said:?}");
        assert!(said[2].starts_with("keys.stop: `q` also does `quit`"), "{said:?}");
        assert_eq!(map.action("q".parse().unwrap()), Some(Action::Stop));
    }
}
