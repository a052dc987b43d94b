//! What a key does: the keys pressed so far are looked up in the layers that are open, the topmost first.

use ratatui::crossterm::event::KeyCode;

use super::{act, popup::answer};
use crate::ui::action::{Action, Layer};
use crate::ui::keymap::Meaning;
use crate::ui::popups::Pressed;
use crate::ui::request::{Requests, World};
use crate::ui::{key::Key, view::View};

/// Takes a key, alone or behind those that are pending.
pub fn press(world: &World<'_>, view: &mut View, key: Key) -> Requests {
    view.told = false;
    let mut typed = std::mem::take(&mut view.pending);
    let hinted = std::mem::take(&mut view.hinted);
    let layers = layers(view);
    let is_pending = !typed.is_empty();
    typed.push(key);
    let action = match world.keymap.meaning(&layers, &typed) {
        Meaning::Action(layer, action) if !layer.is_popup() => return act(world, view, action),
        Meaning::Action(_, action) => Some(action),
        Meaning::Prefix => {
            (view.pending, view.hinted) = (typed, hinted);
            return Vec::new();
        }
        Meaning::Nothing if is_pending => {
            typed.pop();
            amend(world, view, key, typed);
            return Vec::new();
        }
        Meaning::Nothing => None,
    };
    let pressed = Pressed { key, action };
    answer(world, view, |popup, view| popup.key(pressed, world, view))
}

/// A key that cannot follow the pending ones: it shows what can, takes the last one back, or drops all.
fn amend(world: &World<'_>, view: &mut View, key: Key, mut pending: Vec<Key>) {
    let global = world.keymap.meaning(&[Layer::Global], &[key]);
    if global == Meaning::Action(Layer::Global, Action::Help) {
        view.hinted = true;
    } else if key.code == KeyCode::Backspace {
        pending.pop();
    } else {
        pending.clear();
    }
    view.pending = pending;
}

/// The layers that are open, the topmost first.
pub fn layers(view: &View) -> Vec<Layer> {
    if let Some(popup) = view.popups.last() {
        return vec![Layer::Everywhere, popup.keys().0];
    }
    // In a filtered list the arrows go from match to match.
    let found = view.found(view.focus).filter(|found| found.filters.is_none());
    let found = found.map(|_| Layer::Found);
    let panes = [Layer::Everywhere, Layer::Pane(view.focus), Layer::Global];
    found.into_iter().chain(panes).collect()
}
