//! A scenario's session without any output.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Expectations, Observed, ScenarioVerdict, check};
use crate::domain::{Event, Record, SessionEvent, State, state::Keeps, state::RECENT};
use crate::engine::{DOLLARS_REACHED, MODEL_UNUSABLE};
use crate::runner::{SessionStopper, follow};
use crate::session::{PreparedSession, SessionError};

/// A session that has ended.
pub struct QuietRun {
    pub state: State,
    observed: Observed,
    /// Why the session ended.
    ended: Option<String>,
}

/// The fold of the session's records.
struct Heard {
    state: State,
    observed: Observed,
    ended: Option<String>,
}

impl QuietRun {
    /// Runs a session on this thread until it ends or is stopped; `hear` gets each record.
    ///
    /// # Errors
    /// The session cannot start, or ended early.
    pub fn of(
        mut prepared: PreparedSession,
        expect: &Expectations,
        stop: &SessionStopper,
        mut hear: impl FnMut(&Record) + 'static,
    ) -> Result<Self, SessionError> {
        prepared.keeps = Keeps::Tasks(RECENT);
        let state = State::keeping(Keeps::Tasks(RECENT));
        let heard = Heard { state, observed: Observed::new(expect), ended: None };
        let heard = Rc::new(RefCell::new(heard));
        let hears = Rc::clone(&heard);
        let listener = move |record: &Record| {
            let Heard { state, observed, ended } = &mut *hears.borrow_mut();
            state.apply(record);
            observed.take(state, record);
            if let Event::Session(SessionEvent::SessionEnded { why, .. }) = &record.event {
                *ended = Some(why.clone());
            }
            hear(record);
            true
        };
        let state = follow(prepared, Vec::new(), stop, listener)?.state;
        let mut heard = heard.borrow_mut();
        let (observed, ended) = (std::mem::take(&mut heard.observed), heard.ended.take());
        Ok(Self { state, observed, ended })
    }

    /// Why the session ended for want of money or of a model, if it did: that says nothing about the agent.
    pub fn lacked(&self) -> Option<&str> {
        let lacks =
            |why: &&str| why.starts_with(DOLLARS_REACHED) || why.starts_with(MODEL_UNUSABLE);
        self.ended.as_deref().filter(lacks)
    }

    /// Checks these expectations. `name`: those of the scenario and of its file.
    pub fn verdict(&self, name: (String, String), expect: &Expectations) -> ScenarioVerdict {
        let checked = check(expect, &self.state, &self.observed);
        let is_done = self.state.tasks_done == self.state.tasks.len();
        let why = || self.ended.clone().unwrap_or_else(|| "the session did not end".to_owned());
        let early = (!is_done).then(why);
        ScenarioVerdict::new(name, early, checked, self.state.at as f64 / 1e6)
    }
}
