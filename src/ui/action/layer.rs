//! The layers of the keymap. The first layer that knows a key decides what the key does.

use strum::IntoStaticStr;

use crate::pane::PaneId;

/// Where a key has its meaning. A popup hides all layers but [`Layer::Everywhere`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Layer {
    /// Works in popups too.
    Everywhere,
    /// The panes, after something was found.
    Found,
    /// One pane, while it has the focus.
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

impl Layer {
    /// Every layer.
    pub fn all() -> impl Iterator<Item = Layer> {
        use Layer as L;
        let first = [L::Everywhere, L::Global, L::Found];
        let panes = PaneId::ALL.iter().copied().map(L::Pane);
        let popups = [L::Search, L::Chooser, L::List, L::Pager, L::Form, L::Editor, L::Confirm];
        first.into_iter().chain(panes).chain(popups)
    }

    /// As the configuration names it, below `keys`.
    pub fn name(self) -> String {
        match self {
            Layer::Pane(pane) => pane.name().to_lowercase(),
            other => <&str>::from(other).to_owned(),
        }
    }

    pub fn by_name(name: &str) -> Option<Layer> {
        Layer::all().find(|layer| layer.name() == name)
    }

    /// Whether it belongs to popups.
    pub fn is_popup(self) -> bool {
        match self {
            Layer::Everywhere | Layer::Found | Layer::Pane(_) | Layer::Global => false,
            Layer::Search | Layer::Chooser | Layer::List => true,
            Layer::Pager | Layer::Form | Layer::Editor | Layer::Confirm => true,
        }
    }

    /// Whether one key cannot have a meaning in both. What was found may borrow keys of the panes.
    pub fn meets(self, other: Layer) -> bool {
        match (self, other) {
            (Layer::Everywhere, _) | (_, Layer::Everywhere) => true,
            (Layer::Global, Layer::Pane(_)) | (Layer::Pane(_), Layer::Global) => true,
            _ => self == other,
        }
    }
}
