//! The moment looked at. Only the view changes: the agent runs on, and the events up to that moment are folded
//! again.

use crate::domain::{Event, Record, TaskEvent};
use crate::ui::request::World;
use crate::ui::view::{Tone, View};

/// Where to look from the moment looked at.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// So many events later.
    Event(i64),
    /// To where the agent last decided something.
    StepBack,
    StepForward,
    Start,
    Live,
}

pub fn to(world: &World<'_>, view: &mut View, way: Way) {
    let last = world.live.n;
    let at = view.moment.unwrap_or(last);
    let moment = match way {
        Way::Event(by) => Some(at.saturating_add_signed(by)),
        Way::StepBack => Some(step_before(world, at)),
        Way::StepForward => step_after(world, at),
        Way::Start => Some(1),
        Way::Live => None,
    };
    // The last event is now: who goes there wants to see it go on.
    let first = world.history.first();
    if moment.is_some_and(|n| n < first) && first > 1 {
        let text = format!("the events before {first} are gone: this session has no journal");
        view.tell(world.live.at, Tone::Bad, text);
    }
    view.moment = moment.map(|n| n.max(first)).filter(|n| *n < last);
}

fn is_step(record: &Record) -> bool {
    matches!(
        record.event,
        Event::Task(TaskEvent::StepStarted { .. }) | Event::Task(TaskEvent::TaskFinished { .. })
    )
}

fn step_before(world: &World<'_>, at: u64) -> u64 {
    world.history.before(at, is_step).unwrap_or_else(|| world.history.first())
}

fn step_after(world: &World<'_>, at: u64) -> Option<u64> {
    world.history.after(at, is_step)
}
