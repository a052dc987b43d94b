//! A copy of a session that goes on from the present point, with one knob at another value. It saves nothing.

use super::{Origin, PreparedSession, SessionError, SessionSpec, TaskSource};
use crate::domain::state::Keeps;
use crate::domain::{ClassedBy, Command, FaultSpec, FaultState, Knob, State, Task};
use crate::learned::LearnedState;
use crate::store::experience::{Experience, SharedExperience};

/// The present point of a session, from which several copies go on.
pub struct SweepOrigin {
    live: State,
    /// Past uses of the session until now.
    past_uses: Option<Experience>,
    spec: SessionSpec,
    /// Number of tasks before those of the copies.
    done: u32,
}

impl Origin {
    /// The present point of this session. The tasks of copies come after the first `done` tasks.
    ///
    /// # Errors
    /// Its past uses cannot be copied.
    pub fn standing(&self, live: &State, done: usize) -> Result<SweepOrigin, SessionError> {
        // Settings by a person are sent before the first task.
        let spec = SessionSpec { paused: true, ..self.spec_now(live) };
        let done = u32::try_from(done).unwrap_or(u32::MAX);
        let past_uses = self.copied_past_uses(None)?;
        Ok(SweepOrigin { live: live.clone(), past_uses, spec, done })
    }
}

impl SweepOrigin {
    /// A session that goes on from here with these tasks and the knob at this value, and the commands to send first. Its
    /// seed is `apart` after that of this session. It may cost as much as this one still may, less `spent` dollars.
    ///
    /// # Errors
    /// An input of the session can no longer be read.
    pub fn with(
        &self,
        tasks: Vec<Task>,
        (knob, value): (Knob, f64),
        apart: u64,
        spent: f64,
    ) -> Result<(PreparedSession, Vec<Command>), SessionError> {
        let live = &self.live;
        let mut spec = SessionSpec {
            tasks: TaskSource::List(tasks),
            faults: live.faults.values().filter_map(|fault| from_here(fault, self.done)).collect(),
            max_dollars: live
                .max_dollars
                .map(|most| (most - live.dollars_spent() - spent).max(0.0)),
            ..self.spec.clone()
        };
        spec.seed = Some(live.seed.wrapping_add(apart));
        spec.knobs.insert(knob, value);
        let mut prepared = spec.prepare()?;
        prepared.workspace.learned = LearnedState::of(&live.learning);
        prepared.learned = None;
        let copy = self.past_uses.as_ref().map(Experience::private_copy).transpose();
        prepared.past_uses = copy.map_err(SessionError::input)?.map(SharedExperience::from);
        prepared.keeps = Keeps::Tasks(1);
        Ok((prepared, self.set_by_hand()))
    }

    /// Returns commands that repeat settings besides knobs and scores: pins, disabled tools and classes. The last one
    /// is `Run`.
    fn set_by_hand(&self) -> Vec<Command> {
        let live = &self.live;
        let pins = live.learning.pins.iter().map(|(from, to, weight)| Command::PinWeight {
            from: from.clone(),
            to: to.clone(),
            weight,
        });
        let tools = || live.tools.values().filter(|tool| tool.present);
        let off = tools().filter(|tool| !tool.switched_on);
        let off = off.map(|tool| Command::SwitchTool { tool: tool.spec.name.clone(), on: false });
        let classed = tools().filter_map(|tool| {
            let class = tool.class.clone().filter(|class| class.by != ClassedBy::Declared)?;
            Some(Command::SetClass { tool: tool.spec.name.clone(), class: Some(class) })
        });
        pins.chain(off).chain(classed).chain([Command::Run]).collect()
    }
}

/// An armed fault as it continues after `done` tasks; `None`: it cannot fire any more.
fn from_here(fault: &FaultState, done: u32) -> Option<FaultSpec> {
    let mut spec = fault.spec.clone();
    let trigger = &mut spec.trigger;
    trigger.from_task =
        trigger.from_task.and_then(|task| task.checked_sub(done)).filter(|n| *n > 1);
    if let Some(task) = trigger.to_task {
        trigger.to_task = Some(task.checked_sub(done).filter(|left| *left > 0)?);
    }
    // Triggers that count calls have already counted some.
    for last in [&mut trigger.nth, &mut trigger.first, &mut trigger.to] {
        if let Some(n) = *last {
            *last = Some(n.checked_sub(fault.seen).filter(|left| *left > 0)?);
        }
    }
    trigger.from = trigger.from.and_then(|n| n.checked_sub(fault.seen)).filter(|n| *n > 1);
    if let Some(most) = trigger.most {
        trigger.most = Some(most.checked_sub(fault.chosen).filter(|left| *left > 0)?);
    }
    fault.armed.then_some(spec)
}
