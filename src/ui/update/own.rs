//! Opens the selected thing in an editor, and runs commands of the user on it.

use super::copying;
use crate::popups::Choose;
use crate::request::{Requests, ScreenRequest, World};
use crate::view::{Tone, View};

/// Offers the user's own commands.
pub fn choose(world: &World<'_>, view: &mut View) -> Requests {
    if world.commands.is_empty() {
        let text = "no commands of your own: add [ui.commands.NAME] to the configuration";
        view.tell(world.live.at, Tone::Plain, text);
        return Vec::new();
    }
    view.open(Choose::command(world.commands))
}

/// Runs the own command at this index.
pub fn run(world: &World<'_>, view: &mut View, at: usize) -> Requests {
    let command = world.commands.get(at).cloned();
    let selection = copying::selection(world, view);
    match command.zip(selection) {
        Some((command, selection)) => vec![ScreenRequest::RunOwn(Box::new((command, selection)))],
        None => Vec::new(),
    }
}

/// Opens the selected thing in an editor.
pub fn edit(world: &World<'_>, view: &mut View) -> Requests {
    let selection = copying::selection(world, view);
    selection.map_or_else(Vec::new, |selection| vec![ScreenRequest::View(Box::new(selection))])
}
