//! Playing the record: start, stop, speed.

use std::time::Instant;

use crate::domain::State;
use crate::request::World;
use crate::view::{Tone, View};

/// Plays from the moment looked at, or stops. At the end it begins again.
pub fn play(world: &World<'_>, view: &mut View) {
    if view.play.stop() {
        return;
    }
    let n = view.moment.unwrap_or_else(|| world.history.first());
    let micros = world.history.at(n).map_or(0, |record| record.at);
    view.moment = Some(n);
    view.play.start(n, micros, Instant::now());
}

pub fn faster(world: &World<'_>, view: &mut View) {
    turn(world, view, 1);
}

pub fn slower(world: &World<'_>, view: &mut View) {
    turn(world, view, -1);
}

fn turn(world: &World<'_>, view: &mut View, by: i32) {
    view.play.turn(by);
    let text = format!("plays {}", view.play.speed());
    view.tell(world.live.at, Tone::Plain, text);
}

/// Whether there is nothing to play.
pub fn why_not(state: &State, _: &View) -> Option<&'static str> {
    (state.n < 2).then_some("no events yet")
}
