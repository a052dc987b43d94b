//! Map from keys to actions. A key has its meaning in a layer, and several keys in a row can be one, as in `g g`.

use std::{borrow::Cow, collections::HashMap};

use super::action::{Action, KeyLayer};
use super::key::{Key, KeySequence};

/// Keys to actions, without conflicts.
#[derive(Clone, Debug)]
pub struct Keymap {
    bindings: Vec<Binding>,
    /// The keys that work in the panes, as people read them; the ones to show first come first.
    shown: HashMap<Action, Vec<String>>,
}

#[derive(Clone, Debug)]
struct Binding {
    layer: KeyLayer,
    keys: KeySequence,
    action: Action,
}

/// Meaning of the keys so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    Action(KeyLayer, Action),
    /// More keys are to follow.
    Prefix,
    Nothing,
}

impl Keymap {
    /// No key does anything.
    pub fn empty() -> Self {
        Self { bindings: Vec::new(), shown: HashMap::new() }
    }

    /// Gives an action a key. Errors name what else the key does already, in a layer that is open at the same time, and
    /// by which keys.
    pub fn bind(
        &mut self,
        layer: KeyLayer,
        action: Action,
        keys: KeySequence,
    ) -> Result<(), (KeyLayer, Action, KeySequence)> {
        let clashes = |other: &&Binding| {
            other.layer.meets(layer)
                && (other.keys.starts_with(&keys) || keys.starts_with(&other.keys))
        };
        if let Some(other) = self.bindings.iter().find(clashes) {
            let is_same = (other.layer, other.action) == (layer, action) && other.keys == keys;
            if is_same {
                return Ok(());
            }
            return Err((other.layer, other.action, other.keys.clone()));
        }
        if !layer.is_popup() {
            let shown = self.shown.entry(action).or_default();
            let text = keys.to_string();
            if !shown.contains(&text) {
                shown.push(text);
            }
        }
        self.bindings.push(Binding { layer, keys, action });
        Ok(())
    }

    /// Returns the meaning of these keys, pressed one after the other. The first layer that knows the keys decides.
    pub fn meaning(&self, layers: &[KeyLayer], typed: &[Key]) -> Meaning {
        for layer in layers {
            let of_layer = || self.bindings.iter().filter(|binding| binding.layer == *layer);
            if let Some(binding) = of_layer().find(|binding| *binding.keys == *typed) {
                return Meaning::Action(*layer, binding.action);
            }
            if of_layer().any(|binding| binding.keys.starts_with(typed)) {
                return Meaning::Prefix;
            }
        }
        Meaning::Nothing
    }

    /// The keys that may follow these, and what they then do.
    pub fn following(&self, layers: &[KeyLayer], typed: &[Key]) -> Vec<(Key, Action)> {
        let of_layers = self.bindings.iter().filter(|binding| layers.contains(&binding.layer));
        let follow =
            |binding: &Binding| Some((*binding.keys.strip_prefix(typed)?.first()?, binding.action));
        of_layers.filter_map(follow).collect()
    }

    /// Returns the keys of an action in the panes, the one to show first.
    pub fn keys(&self, action: Action) -> &[String] {
        self.shown.get(&action).map_or(&[], Vec::as_slice)
    }

    /// Returns the key to show for an action.
    pub fn key(&self, action: Action) -> Option<&str> {
        self.keys(action).first().map(String::as_str)
    }

    /// Returns the first key of an action in a layer.
    fn key_in(&self, layer: KeyLayer, action: Action) -> Option<String> {
        let is_it = |it: &&Binding| it.layer == layer && it.action == action;
        self.bindings.iter().find(is_it).map(|binding| binding.keys.to_string())
    }

    /// Keys of an action as people read them: `+ =`.
    pub fn show(&self, action: Action) -> String {
        self.keys(action).join("  ")
    }

    /// The keys of one layer, with what each does there: `enter: choose · esc: leave`. Actions with the same words are
    /// joined; an action without a key is left out.
    pub fn legend(&self, layer: KeyLayer, hints: &[Hint]) -> String {
        let said = hints.iter().filter_map(|(actions, does)| {
            let keys: Vec<String> =
                actions.iter().filter_map(|action| self.key_in(layer, *action)).collect();
            (!keys.is_empty()).then(|| format!("{}: {does}", keys.join("/")))
        });
        said.collect::<Vec<_>>().join(" · ")
    }

    /// The text with the key of an action for each `<key:NAME>`, such as `<key:run-or-pause>`, or its key in a layer, as
    /// in `<key:form.fields>`. An action without a key is named as the palette finds it.
    pub fn fill<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some((before, rest)) = text.split_once("<key:") else { return Cow::Borrowed(text) };
        let found = rest.split_once('>').and_then(|(name, after)| {
            let (layer, name) = name.split_once('.').map_or((None, name), |(l, n)| (Some(l), n));
            let action = Action::by_name(name)?;
            let key = match layer {
                Some(layer) => self.key_in(KeyLayer::by_name(layer)?, action),
                None => self.key(action).map(str::to_owned),
            };
            Some((key.unwrap_or_else(|| name.to_owned()), after))
        });
        match found {
            Some((key, after)) => Cow::Owned(format!("{before}{key}{}", self.fill(after))),
            None => Cow::Owned(format!("{before}<key:{}", self.fill(rest))),
        }
    }

    /// Every binding, for tables of keys: the layer, the keys, the action.
    pub fn bindings(&self) -> impl Iterator<Item = (KeyLayer, &KeySequence, Action)> {
        self.bindings.iter().map(|binding| (binding.layer, &binding.keys, binding.action))
    }
}

/// Actions of a popup and what their keys do there.
pub type Hint = (&'static [Action], &'static str);
