//! Running, holding and ending.

use super::{Effect, World, open, send};
use crate::{
    command::Command,
    state::{Mode, State},
    ui::{
        popups::{Confirm, Popup},
        view::View,
    },
};

pub(super) fn run_or_pause(live: &State) -> Vec<Effect> {
    send(match live.control.mode {
        Mode::Running | Mode::Stepping | Mode::SteppingTask => Command::Pause,
        // A session that is being opened for a screen waits there for the person.
        Mode::Opening | Mode::Pausing | Mode::Paused | Mode::Ended => Command::Run,
    })
}

/// The selected call if it runs, else the newest that does, else the model request.
pub(super) fn cancel(live: &State, view: &View) -> Vec<Effect> {
    let selected = view.call.and_then(|call| live.call(call));
    let call =
        selected.filter(|call| !call.phase.is_over()).or_else(|| live.calls_in_flight().last());
    send(call.map_or(Command::CancelAsk, |call| Command::CancelCall(call.id)))
}

/// Leaves at once where nothing would be lost, and asks where something runs.
pub(super) fn quit(world: &World<'_>, view: &mut View) -> Vec<Effect> {
    let live = world.live;
    let runs = match live.control.mode {
        Mode::Running | Mode::Stepping | Mode::SteppingTask | Mode::Pausing => live.has_work(),
        Mode::Paused => live.current_task().is_some(),
        Mode::Opening | Mode::Ended => false,
    };
    if view.read_only.is_some() || !runs {
        return vec![Effect::Quit];
    }
    open(view, Popup::Confirm(Confirm::quit(live)))
}
