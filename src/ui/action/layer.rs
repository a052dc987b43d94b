//! The layers of the keymap. The first layer that knows a key decides what the key does.

use super::Action;
use crate::ui::pane::PaneId;

/// Where a key has its meaning. A popup hides all layers but [`Layer::Everywhere`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    Search,
    /// A list that narrows as one types.
    Chooser,
    /// A list without a text field.
    List,
    /// Text to read.
    Pager,
    /// Fields to type into.
    Form,
    /// A question with yes and no.
    Confirm,
}

impl Layer {
    /// Every layer.
    pub fn all() -> impl Iterator<Item = Layer> {
        use Layer as L;
        let first = [L::Everywhere, L::Global, L::Found];
        let panes = PaneId::ALL.into_iter().map(L::Pane);
        let popups = [L::Search, L::Chooser, L::List, L::Pager, L::Form, L::Confirm];
        first.into_iter().chain(panes).chain(popups)
    }

    /// As the configuration names it, below `keys`.
    pub fn name(self) -> String {
        match self {
            Layer::Everywhere => "everywhere".to_owned(),
            Layer::Found => "found".to_owned(),
            Layer::Pane(pane) => pane.spec().name.to_lowercase(),
            Layer::Global => "global".to_owned(),
            Layer::Search => "find".to_owned(),
            Layer::Chooser => "chooser".to_owned(),
            Layer::List => "list".to_owned(),
            Layer::Pager => "pager".to_owned(),
            Layer::Form => "form".to_owned(),
            Layer::Confirm => "confirm".to_owned(),
        }
    }

    pub fn by_name(name: &str) -> Option<Layer> {
        Layer::all().find(|layer| layer.name() == name)
    }

    /// Whether it belongs to popups.
    pub fn is_popup(self) -> bool {
        match self {
            Layer::Everywhere | Layer::Found | Layer::Pane(_) | Layer::Global => false,
            Layer::Search
            | Layer::Chooser
            | Layer::List
            | Layer::Pager
            | Layer::Form
            | Layer::Confirm => true,
        }
    }

    /// Whether one key cannot have a meaning in both. What was found may borrow keys of the panes.
    pub fn meets(self, other: Layer) -> bool {
        let is_everywhere = |layer| layer == Layer::Everywhere;
        let is_global = |layer| layer == Layer::Global;
        let is_pane = |layer| matches!(layer, Layer::Pane(_));
        self == other
            || is_everywhere(self)
            || is_everywhere(other)
            || is_global(self) && is_pane(other)
            || is_pane(self) && is_global(other)
    }
}

/// The default keys of the other layers than the global one.
pub const LAYER_KEYS: &[(Layer, Action, &[&str])] = &[
    (Layer::Everywhere, Action::RunOrPause, &["f5"]),
    (Layer::Everywhere, Action::Step, &["f11"]),
    (Layer::Everywhere, Action::CancelAll, &["f8"]),
    (Layer::Everywhere, Action::Screenshot, &["f12"]),
    (Layer::Found, Action::NextMatch, &["n"]),
    (Layer::Found, Action::PreviousMatch, &["N"]),
    (Layer::Pane(PaneId::Graph), Action::Pin, &["p"]),
    (Layer::Pane(PaneId::Tools), Action::Pin, &["p"]),
    (Layer::Pane(PaneId::Tools), Action::SetClass, &["C"]),
    (Layer::Pane(PaneId::Tools), Action::ReloadTools, &["I"]),
    (Layer::Pane(PaneId::Models), Action::Pairs, &["P"]),
    (Layer::Pane(PaneId::Models), Action::CheckModels, &["I"]),
    (Layer::Search, Action::Accept, &["enter"]),
    (Layer::Search, Action::Down, &["down", "ctrl-n"]),
    (Layer::Search, Action::Up, &["up", "ctrl-p"]),
    (Layer::Search, Action::Leave, &["esc", "ctrl-c"]),
    (Layer::Chooser, Action::Accept, &["enter"]),
    (Layer::Chooser, Action::Up, &["up", "ctrl-p"]),
    (Layer::Chooser, Action::Down, &["down", "ctrl-n"]),
    (Layer::Chooser, Action::PageUp, &["pageup"]),
    (Layer::Chooser, Action::PageDown, &["pagedown"]),
    (Layer::Chooser, Action::Leave, &["esc", "ctrl-c"]),
    (Layer::List, Action::Accept, &["enter"]),
    (Layer::List, Action::Toggle, &["space"]),
    (Layer::List, Action::Add, &["a"]),
    (Layer::List, Action::Edit, &["e"]),
    (Layer::List, Action::Sort, &["s"]),
    (Layer::List, Action::CheckModels, &["I"]),
    (Layer::List, Action::Up, &["up", "k"]),
    (Layer::List, Action::Down, &["down", "j"]),
    (Layer::List, Action::PageUp, &["pageup", "ctrl-u"]),
    (Layer::List, Action::PageDown, &["pagedown", "ctrl-d"]),
    (Layer::List, Action::Top, &["home", "g"]),
    (Layer::List, Action::Bottom, &["end", "G"]),
    (Layer::List, Action::Leave, &["esc", "q", "ctrl-c"]),
    (Layer::Pager, Action::Up, &["up", "k"]),
    (Layer::Pager, Action::Down, &["down", "j"]),
    (Layer::Pager, Action::Left, &["left", "h"]),
    (Layer::Pager, Action::Right, &["right", "l"]),
    (Layer::Pager, Action::PageUp, &["pageup", "b", "ctrl-u"]),
    (Layer::Pager, Action::PageDown, &["pagedown", "space", "ctrl-d"]),
    (Layer::Pager, Action::Top, &["home", "g"]),
    (Layer::Pager, Action::Bottom, &["end", "G"]),
    (Layer::Pager, Action::Leave, &["esc", "q", "ctrl-c"]),
    (Layer::Form, Action::Accept, &["enter", "ctrl-s"]),
    (Layer::Form, Action::NewLine, &["alt-enter", "ctrl-j"]),
    (Layer::Form, Action::Up, &["up", "shift-tab"]),
    (Layer::Form, Action::Down, &["down", "tab"]),
    (Layer::Form, Action::Left, &["left"]),
    (Layer::Form, Action::Right, &["right"]),
    (Layer::Form, Action::Leave, &["esc", "ctrl-c"]),
    (Layer::Confirm, Action::Accept, &["y", "enter"]),
    (Layer::Confirm, Action::Leave, &["n", "esc", "ctrl-c"]),
];
