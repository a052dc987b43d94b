//! Answers a call of a revised program from an equal call of an earlier program of its task. A call that may change
//! something runs again only with a person's consent.

use super::approval::ask;
use super::{Actor, Effect, Outcome, Passage, Passing, Station, StationVerdict, later, now};
use crate::domain::{EffectId, Knob, Origin, ProgramSource, ToolCallPhase, ToolOutput};
use crate::session::Session;

/// Why a person is asked.
const REPEATED: &str =
    "this program or an earlier one has made the same call; without consent its result is reused";

pub(super) struct Reuse;

impl Station for Reuse {
    /// Only a run writes programs.
    fn concerns(&self, actor: Actor) -> bool {
        actor == Actor::Run
    }

    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let Effect::Tool(call) = &passage.effect else { return now(StationVerdict::Go) };
        let may_be_known =
            || call.step > 1 || passage.handle.read(|session| session.has_left(passage));
        if call.line.is_none() || !may_be_known() {
            return now(StationVerdict::Go);
        }
        if let Some(outcome) = passage.handle.read(|session| session.of_record(passage)) {
            passage.is_of_record = true;
            return now(StationVerdict::Answer(outcome, Origin::Reused));
        }
        let id = passage.reference.id;
        let (made, decided, is_on) = passage.handle.read(|session| {
            let is_on = session.state().knobs.is_on(Knob::Reuse);
            (session.made_before(passage), session.lanes().consent(id), is_on)
        });
        let Some(made) = made else { return now(StationVerdict::Go) };
        let reused = |made| StationVerdict::Answer(Outcome::Result(Ok(made)), Origin::Reused);
        if passage.reference.class.is_repeatable() {
            return now(if is_on { reused(made) } else { StationVerdict::Go });
        }
        match decided {
            Some(true) => now(StationVerdict::Go),
            Some(false) => now(reused(made)),
            None if !passage.handle.read(Session::has_person) => now(reused(made)),
            None => later(async move {
                match ask(passage, REPEATED.to_owned()).await {
                    // The state may have changed meanwhile.
                    Some(true) => StationVerdict::Again,
                    Some(false) | None => reused(made),
                }
            }),
        }
    }
}

impl Session {
    /// The outcome of the same call of the program before, from which a person's program continues: as long as it makes
    /// the same calls in the same order, it runs over their record.
    fn of_record(&self, passage: &Passage) -> Option<Outcome> {
        let Effect::Tool(wanted) = &passage.effect else { return None };
        let program = self.state().program(passage.task, wanted.step)?;
        if program.from != ProgramSource::Person {
            return None;
        }
        let before = self.state().program(passage.task, wanted.step.checked_sub(1)?)?;
        let at = program.calls.iter().position(|call| *call == passage.reference.id)?;
        let call = |id: &EffectId| self.state().tool_call(*id);
        let is_same = |(was, now): (&EffectId, &EffectId)| {
            let (was, now) = (call(was)?, call(now)?);
            Some(was.tool == now.tool && was.arguments == now.arguments)
        };
        let mut pairs = before.calls.iter().zip(&program.calls).take(at + 1);
        if !pairs.all(|pair| is_same(pair).unwrap_or(false)) {
            return None;
        }
        match &call(before.calls.get(at)?)?.phase {
            ToolCallPhase::Done { output } => Some(Outcome::Result(Ok(ToolOutput::clone(output)))),
            ToolCallPhase::Failed { error } => Some(Outcome::Result(Err(error.clone()))),
            _ => None,
        }
    }

    /// Whether the program of a call was taken back and has taken a different path since.
    fn has_left(&self, passage: &Passage) -> bool {
        let Effect::Tool(wanted) = &passage.effect else { return false };
        let program = self.state().program(passage.task, wanted.step);
        program.is_some_and(|program| !program.left.is_empty())
    }

    /// The result of an equal call of an earlier program, or of the path of this program before it was taken back.
    fn made_before(&self, passage: &Passage) -> Option<ToolOutput> {
        let Effect::Tool(wanted) = &passage.effect else { return None };
        let task = self.state().task(passage.task)?;
        let program = self.state().program(passage.task, wanted.step);
        let left = program.map_or(&[][..], |program| &program.left);
        let calls = task.tool_calls.iter().filter_map(|id| self.state().tool_call(*id));
        let mut equal = calls.filter(|call| {
            (call.step < wanted.step || left.contains(&call.id))
                && call.tool == wanted.tool
                && call.arguments == wanted.arguments
        });
        equal.find_map(|call| match &call.phase {
            ToolCallPhase::Done { output } => Some(ToolOutput::clone(output)),
            _ => None,
        })
    }
}
