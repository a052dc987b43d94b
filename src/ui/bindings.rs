//! The keymap from the tables of actions and keys, changed by the user's configuration.

use std::collections::BTreeMap;

use super::action::{ACTIONS, Action, KeyLayer, LAYER_KEYS};
use super::key::KeySequence;
use super::keymap::Keymap;
use super::own::{self, OwnCommand};
use crate::domain::words;

/// Errors in the configuration's `[ui.keys]`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KeymapError {
    /// No action or key has this name.
    #[error("keys.{name}: {why}")]
    Unknown { name: String, why: String },
    #[error(
        "keys.{first}: `{key}` is also the key of `{second}`; rebind one of them, \
         for example keys.{second} = []"
    )]
    Conflict { key: String, first: String, second: String },
    /// Default keys that no longer work, each with its action: they begin with this key, or it begins with them.
    #[error("keys.{first}: {}", lost(key, keys))]
    Lost { key: String, first: String, keys: Vec<(String, String)> },
}

fn lost(key: &str, keys: &[(String, String)]) -> String {
    let all: Vec<_> = keys.iter().map(|(lost, does)| format!("`{lost}` ({does})")).collect();
    let all = all.join(", ");
    if keys.iter().all(|(lost, _)| lost.len() > key.len()) {
        format!("this hides all keys that begin with `{key}`: {all}")
    } else {
        format!("`{key}` begins with a hidden key: {all}")
    }
}

impl Default for Keymap {
    fn default() -> Self {
        // The table's keys are tested to be good; a broken one would be left out, not panic.
        Self::new(&BTreeMap::new()).0
    }
}

impl Keymap {
    /// The default keys, except where `changed` gives others (or none) for an action. An action is named
    /// `step` in the global layer and `graph.pin` in another one. Errors name what was left out.
    pub fn new(changed: &BTreeMap<String, Vec<String>>) -> (Self, Vec<KeymapError>) {
        Self::with(changed, &[])
    }

    /// Like [`Self::new`], with the keys of the user's own commands.
    pub fn with(
        changed: &BTreeMap<String, Vec<String>>,
        commands: &[OwnCommand],
    ) -> (Self, Vec<KeymapError>) {
        let mut errors = Vec::new();
        let mut map = Self::empty();
        // The user's keys first: they win conflicts with defaults.
        let mut own = Vec::new();
        for (name, keys) in changed {
            match place(name) {
                Ok((layer, action)) => {
                    own.push((layer, action));
                    let bound = keys.iter().map(|keys| bind(&mut map, layer, action, keys));
                    errors.extend(bound.filter_map(Result::err));
                }
                Err(why) => errors.push(KeymapError::Unknown { name: name.clone(), why }),
            }
        }
        for (at, command) in commands.iter().enumerate() {
            let keys = command.key.iter();
            let bound = keys.map(|keys| bind(&mut map, KeyLayer::Global, own::action(at), keys));
            errors.extend(bound.filter_map(Result::err));
        }
        let global = ACTIONS.iter().map(|spec| (KeyLayer::Global, spec.action, spec.keys));
        let defaults = global.chain(LAYER_KEYS.iter().copied());
        for (layer, action, keys) in
            defaults.filter(|(layer, action, _)| !own.contains(&(*layer, *action)))
        {
            for keys in keys {
                let bound = bind(&mut map, layer, action, keys);
                bound.unwrap_or_else(|error| add(&mut errors, error));
            }
        }
        (map, errors)
    }
}

fn bind(map: &mut Keymap, layer: KeyLayer, action: Action, text: &str) -> Result<(), KeymapError> {
    let name = name(layer, action);
    let keys = KeySequence::to_bind(text)
        .map_err(|why| KeymapError::Unknown { name: name.clone(), why })?;
    let key = keys.to_string();
    map.bind(layer, action, keys).map_err(|(other, does, taken)| {
        let first = self::name(other, does);
        if taken.to_string() == key {
            KeymapError::Conflict { key, first, second: name }
        } else {
            KeymapError::Lost { key: taken.to_string(), first, keys: vec![(key, name)] }
        }
    })
}

/// Adds an error. A key that hides many others makes one error.
fn add(errors: &mut Vec<KeymapError>, error: KeymapError) {
    let KeymapError::Lost { key, first, keys } = &error else { return errors.push(error) };
    let same = errors.iter_mut().find_map(|known| match known {
        KeymapError::Lost { key: other, first: does, keys }
            if (&*other, &*does) == (key, first) =>
        {
            Some(keys)
        }
        _ => None,
    });
    let Some(known) = same else { return errors.push(error) };
    let is_new = |(lost, _): &&(String, String)| known.iter().all(|(other, _)| other != lost);
    let new: Vec<_> = keys.iter().filter(is_new).cloned().collect();
    known.extend(new);
}

/// The layer and the action that a name of the configuration means.
///
/// # Errors
/// Why it means none.
fn place(name: &str) -> Result<(KeyLayer, Action), String> {
    let (layer, action) = match name.split_once('.') {
        Some((layer, action)) => {
            let names: Vec<String> = KeyLayer::all().map(KeyLayer::name).collect();
            let expected = || words::expected(layer, names.iter().map(String::as_str));
            let found = KeyLayer::by_name(layer);
            (found.ok_or_else(|| format!("unknown layer; {}", expected()))?, action)
        }
        None => (KeyLayer::Global, name),
    };
    let expected = || words::expected(action, ACTIONS.iter().map(|spec| spec.name));
    let found = Action::by_name(action);
    Ok((layer, found.ok_or_else(|| format!("unknown action; {}", expected()))?))
}

/// The name in the configuration.
fn name(layer: KeyLayer, action: Action) -> String {
    let name = action.spec().name;
    if layer == KeyLayer::Global { name.to_owned() } else { format!("{}.{name}", layer.name()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::keymap::{Hint, Meaning};
    use crate::pane::PaneId;

    fn changed(entries: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        entries.iter().map(|(name, list)| ((*name).to_owned(), keys(list))).collect()
    }

    fn typed(text: &str) -> Vec<Key> {
        text.parse::<KeySequence>().unwrap().to_vec()
    }

    #[test]
    fn the_defaults_have_no_conflicts_and_every_action_has_a_key() {
        let (map, errors) = Keymap::new(&BTreeMap::new());
        assert_eq!(errors, []);
        for spec in ACTIONS {
            let bound = map.bindings().filter(|(.., action)| *action == spec.action).count();
            assert!(bound >= spec.keys.len().max(1), "{}", spec.name);
        }
    }

    #[test]
    fn texts_name_the_keys_of_the_keymap() {
        let said = "<key:knobs>, <key:form.fields>, <key:>, <key:nothing>, <key:knobs";
        let (usual, _) = Keymap::new(&BTreeMap::new());
        assert_eq!(usual.fill(said), "4, f1, <key:>, <key:nothing>, <key:knobs");
        let (own, wrong) = Keymap::new(&changed(&[("knobs", &["f3"])]));
        assert!(wrong.is_empty(), "{wrong:?}");
        assert_eq!(own.fill("<key:knobs> <key:tools>"), "f3 3");
    }

    #[test]
    fn the_first_layer_that_knows_a_key_decides() {
        let map = Keymap::default();
        let panes = [KeyLayer::Everywhere, KeyLayer::Pane(PaneId::Graph), KeyLayer::Global];
        let action = |layers: &[KeyLayer], keys: &str| map.meaning(layers, &typed(keys));
        assert_eq!(action(&panes, "n"), Meaning::Action(KeyLayer::Global, Action::Step));
        assert_eq!(action(&panes, "f11"), Meaning::Action(KeyLayer::Everywhere, Action::Step));
        let pin = Meaning::Action(KeyLayer::Pane(PaneId::Graph), Action::Pin);
        assert_eq!(action(&panes, "p"), pin);
        assert_eq!(action(&panes, "g"), Meaning::Prefix);
        assert_eq!(action(&panes, "g g"), Meaning::Action(KeyLayer::Global, Action::Top));
        assert_eq!(action(&panes, "g q"), Meaning::Nothing);
        assert_eq!(action(&[KeyLayer::Pager], "f"), Meaning::Nothing);
        let found = [KeyLayer::Found, KeyLayer::Global];
        assert_eq!(action(&found, "n"), Meaning::Action(KeyLayer::Found, Action::NextMatch));
        let after: Vec<_> =
            map.following(&panes, &typed("g")).into_iter().map(|(key, _)| key).collect();
        assert!(after.contains(&"f".parse().unwrap()) && after.contains(&"g".parse().unwrap()));
    }

    #[test]
    fn the_user_replaces_and_takes_away_in_every_layer() {
        let (map, errors) = Keymap::new(&changed(&[
            ("step", &["f6", "ctrl-q"]),
            ("fail", &[]),
            ("graph.pin", &["P"]),
            ("list.add", &["A", "g a"]),
            ("list.top", &["home"]),
        ]));
        assert_eq!(errors, []);
        let action = |layer, keys: &str| map.meaning(&[layer], &typed(keys));
        assert_eq!(action(KeyLayer::Global, "f6"), Meaning::Action(KeyLayer::Global, Action::Step));
        assert_eq!(action(KeyLayer::Global, "n"), Meaning::Nothing);
        assert!(map.keys(Action::Fail).is_empty());
        assert_eq!(map.keys(Action::Step), ["f6", "ctrl-q", "f11"]);
        assert_eq!(action(KeyLayer::Pane(PaneId::Graph), "p"), Meaning::Nothing);
        assert_eq!(action(KeyLayer::List, "g a"), Meaning::Action(KeyLayer::List, Action::Add));
        let hints: &[Hint] =
            &[(&[Action::Add, Action::Edit], "new, change"), (&[Action::Undo], "x")];
        assert_eq!(map.legend(KeyLayer::List, hints), "A/e: new, change");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let (map, errors) = Keymap::new(&changed(&[
            ("stop", &["q"]),
            ("setp", &["n"]),
            ("undo", &["hyper-u"]),
            ("grpah.pin", &["p"]),
            ("tools.switch", &["g"]),
        ]));
        let said: Vec<_> = errors.iter().map(KeymapError::to_string).collect();
        assert!(said[0].contains("keys.grpah.pin: unknown layer; did you mean `graph`?"));
        assert!(said[1].starts_with("keys.setp: unknown action; did you mean `step`?"));
        assert!(said[2].starts_with("keys.undo: `hyper-u` is not a key"), "{said:?}");
        assert!(
            said.iter().any(|said| said.starts_with("keys.stop: `q` is also the key of `quit`"))
        );
        // A key that begins a sequence cannot be one of a pane.
        let lost = "keys.tools.switch: this hides all keys that begin with `g`: ";
        assert!(said.iter().any(|said| said.starts_with(lost)), "{said:?}");
        let (_, errors) = Keymap::new(&changed(&[("step", &["g", "ctrl-i", "q q"])]));
        let said: Vec<_> = errors.iter().map(KeymapError::to_string).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert_eq!(said[0], "keys.step: a terminal never sends `ctrl-i`; it sends tab");
        let of = |start: &str| said.iter().find(|said| said.starts_with(start)).unwrap();
        let lost = of("keys.step: this hides all keys that begin with `g`: ");
        assert!(lost.contains("`gg` (top)") && lost.contains("`gf` (faults)"), "{lost}");
        assert_eq!(of("keys.step: `qq`"), "keys.step: `qq` begins with a hidden key: `q` (quit)");
        let quit = map.meaning(&[KeyLayer::Global], &typed("q"));
        assert_eq!(quit, Meaning::Action(KeyLayer::Global, Action::Stop));
    }
}
