//! A popup for choosing one thing of a list.

use std::fmt;

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Popup, PopupKeys, Pressed, Reply, chooser::Chooser};
use crate::action::{Action, KeyLayer};
use crate::{cx::Cx, hits::Hits, keymap::Hint, listing::Listing};
use crate::{request::World, view::View, window::Window};

/// The part that a popup adds to its list: the effect of choosing, and the drawing.
pub trait ChooserPopup: fmt::Debug {
    fn hints(&self) -> &'static [Hint];

    fn chooser(&mut self) -> &mut Chooser;

    /// Chooses a thing by its index among all.
    fn choose(&mut self, thing: usize, world: &World<'_>, view: &mut View) -> Reply;

    /// Accepts the typed text, if it alone says what to do.
    fn accept_typed(&mut self, _world: &World<'_>, _view: &mut View) -> Option<Reply> {
        None
    }

    /// Handles a key that does not choose.
    fn other_key(&mut self, pressed: Pressed, _world: &World<'_>, _view: &mut View) -> Reply {
        self.chooser().key(pressed)
    }

    /// Handles a click on a line of the list, or on another area noted as a row.
    fn click(&mut self, row: usize, world: &World<'_>, view: &mut View) -> Reply {
        match self.chooser().thing(row) {
            Some(thing) => self.choose(thing, world, view),
            None => Reply::Stay,
        }
    }

    /// Takes a new list of the sessions; gives it back if the popup shows none.
    fn relist(&mut self, listing: Listing) -> Option<Listing> {
        Some(listing)
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits);
}

impl<C: ChooserPopup> Popup for C {
    fn keys(&self) -> PopupKeys {
        (KeyLayer::Chooser, self.hints())
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        let accepts = pressed.action == Some(Action::Accept);
        if let Some(reply) = accepts.then(|| self.accept_typed(world, view)).flatten() {
            return reply;
        }
        match (pressed.action, self.chooser().selected()) {
            (Some(Action::Accept), Some(thing)) => self.choose(thing, world, view),
            (Some(Action::Accept), None) => Reply::Stay,
            _ => self.other_key(pressed, world, view),
        }
    }

    fn click(&mut self, row: usize, world: &World<'_>, view: &mut View) -> Reply {
        ChooserPopup::click(self, row, world, view)
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.chooser().pick.window)
    }

    fn paste(&mut self, text: &str) {
        self.chooser().paste(text);
    }

    fn relist(&mut self, listing: Listing) -> Option<Listing> {
        ChooserPopup::relist(self, listing)
    }

    fn prepare(&mut self, _: &Cx<'_>, area: Rect) {
        self.chooser().prepare(area);
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        ChooserPopup::draw(self, cx, area, buf, hits);
    }
}
