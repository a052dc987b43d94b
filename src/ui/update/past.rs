//! The moment looked at. Only the view changes: the agent runs on, and the events up to that moment are folded
//! again.

use crate::domain::{Event, Record, TaskEvent};
use crate::ui::request::World;
use crate::ui::view::View;

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
    view.moment = moment.map(|n| n.max(1)).filter(|n| *n < last);
}

fn is_step(record: &Record) -> bool {
    matches!(
        record.event,
        Event::Task(TaskEvent::StepStarted { .. }) | Event::Task(TaskEvent::TaskFinished { .. })
    )
}

fn step_before(world: &World<'_>, at: u64) -> u64 {
    let before = world.records.iter().rev().skip_while(|record| record.n >= at);
    before.into_iter().find(|record| is_step(record)).map_or(1, |record| record.n)
}

fn step_after(world: &World<'_>, at: u64) -> Option<u64> {
    let after = world.records.iter().skip(usize::try_from(at).unwrap_or(usize::MAX));
    after.into_iter().find(|record| is_step(record)).map(|record| record.n)
}
