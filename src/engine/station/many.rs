//! Refuses calls beyond the allowed number of calls per reply. A model that repeats itself can request hundreds, and a
//! strategy without a plan has no budget to limit them.

use super::{Actor, Effect, Passage, Passing, Station, StationVerdict, now};
use crate::domain::{EffectId, Knob, Refusal, State};

pub(super) struct Many;

impl Station for Many {
    /// Only replies of a run's model pass through here.
    fn concerns(&self, actor: Actor) -> bool {
        actor == Actor::Run
    }

    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        // The calls of a plan are bounded by the plan, and those of a program by the limits of programs.
        let is_of_reply = passage.reference.line.is_none()
            && matches!(&passage.effect, Effect::Tool(call) if call.evidence.is_none());
        let id = passage.reference.id;
        let most = passage.handle.read(|session| session.state().knobs.count(Knob::MaxCalls));
        let is_over =
            is_of_reply && passage.handle.read(|session| follows(session.state(), id, most));
        now(if is_over {
            let why = format!(
                "not made: a reply may make at most {most} calls; ask for the rest in the next step"
            );
            StationVerdict::refuse((Refusal::TooMany, why))
        } else {
            StationVerdict::Go
        })
    }
}

/// Whether this call follows at least `most` others of its reply. All calls of a reply are requested
/// at once, so their numbers follow each other; a model call is between those of two replies.
fn follows(state: &State, id: EffectId, most: usize) -> bool {
    let Some(call) = state.tool_call(id) else { return false };
    let before = |n: u32| {
        let other = id.0.checked_sub(n).and_then(|id| state.tool_call(EffectId(id)));
        other.is_some_and(|other| {
            (other.task, other.step, other.evidence) == (call.task, call.step, None)
        })
    };
    // The earliest one usually does not exist, which decides at once.
    (1..=u32::try_from(most).unwrap_or(u32::MAX)).rev().all(before)
}
