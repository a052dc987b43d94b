//! The layers of the keymap. The first layer that knows a key decides what the key does.

use strum::IntoStaticStr;

use crate::pane::PaneId;

/// Where a key has its meaning. A popup hides all layers but [`KeyLayer::Everywhere`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum KeyLayer {
    /// Works in popups too.
    Everywhere,
    /// The panes, after something was found.
    Found,
    /// A single pane, while it has the focus.
    Pane(PaneId),
    /// All panes.
    Global,
    /// The line in which a search is typed.
    #[strum(serialize = "find")]
    Search,
    /// A list that narrows as one types.
    Chooser,
    /// A list without a text field.
    List,
    /// Text to read.
    Pager,
    /// Fields to type into.
    Form,
    /// A text of many lines.
    Editor,
    /// A question with yes and no.
    Confirm,
}

impl KeyLayer {
    /// Every layer.
    pub fn all() -> impl Iterator<Item = KeyLayer> {
        use KeyLayer as L;
        let first = [L::Everywhere, L::Global, L::Found];
        let panes = PaneId::ALL.iter().copied().map(L::Pane);
        let popups = [L::Search, L::Chooser, L::List, L::Pager, L::Form, L::Editor, L::Confirm];
        first.into_iter().chain(panes).chain(popups)
    }

    /// The layer's name in the configuration, below `keys`.
    pub fn name(self) -> String {
        match self {
            KeyLayer::Pane(pane) => pane.name().to_lowercase(),
            other => <&str>::from(other).to_owned(),
        }
    }

    pub fn by_name(name: &str) -> Option<KeyLayer> {
        KeyLayer::all().find(|layer| layer.name() == name)
    }

    /// Whether the layer belongs to popups.
    pub fn is_popup(self) -> bool {
        match self {
            KeyLayer::Everywhere | KeyLayer::Found | KeyLayer::Pane(_) | KeyLayer::Global => false,
            KeyLayer::Search | KeyLayer::Chooser | KeyLayer::List => true,
            KeyLayer::Pager | KeyLayer::Form | KeyLayer::Editor | KeyLayer::Confirm => true,
        }
    }

    /// Whether one key cannot have a meaning in both layers. [`KeyLayer::Found`] may borrow keys of the panes.
    pub fn meets(self, other: KeyLayer) -> bool {
        match (self, other) {
            (KeyLayer::Everywhere, _) | (_, KeyLayer::Everywhere) => true,
            (KeyLayer::Global, KeyLayer::Pane(_)) | (KeyLayer::Pane(_), KeyLayer::Global) => true,
            _ => self == other,
        }
    }
}
