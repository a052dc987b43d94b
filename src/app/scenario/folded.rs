//! The expectations of a session, observed while its records come.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Expectations, Observed, ScenarioVerdict, TaskSums, check};
use crate::domain::{Event, Record, SessionEvent, State, state::Keeps, state::RECENT};

/// A session's course so far, and its end. Copies are the same one.
#[derive(Clone)]
pub struct FoldedChecks(Rc<RefCell<Heard>>);

struct Heard {
    state: State,
    observed: Observed,
    ended: Option<String>,
}

impl FoldedChecks {
    pub fn new(expect: &Expectations) -> Self {
        let state = State::keeping(Keeps::Tasks(RECENT));
        Self(Rc::new(RefCell::new(Heard { state, observed: Observed::new(expect), ended: None })))
    }

    /// Takes the next record.
    pub fn take(&self, record: &Record) {
        let Heard { state, observed, ended } = &mut *self.0.borrow_mut();
        state.apply(record);
        observed.take(state, record);
        if let Event::Session(SessionEvent::SessionEnded { why, .. }) = &record.event {
            *ended = Some(why.clone());
        }
    }

    /// Why the session ended, if it did.
    pub fn ended(&self) -> Option<String> {
        self.0.borrow().ended.clone()
    }

    /// The calls, tokens, credits and dollars of the session with this last state.
    pub fn sums(&self, state: &State) -> TaskSums {
        self.0.borrow().observed.sums_of(state)
    }

    /// Checks these expectations at the session's last state. `name`: those of the scenario and of its file.
    pub fn verdict(
        &self,
        name: (String, String),
        expect: &Expectations,
        state: &State,
    ) -> ScenarioVerdict {
        let checked = check(expect, state, &self.0.borrow().observed);
        let is_done = state.tasks_done == state.tasks.len();
        let why = || self.ended().unwrap_or_else(|| "the session did not end".to_owned());
        let early = (!is_done).then(why);
        ScenarioVerdict::new(name, early, checked, state.at as f64 / 1e6)
    }

    /// Whether a session with this last state meets these expectations.
    pub fn passed(&self, expect: &Expectations, state: &State) -> bool {
        self.verdict(Default::default(), expect, state).passed
    }
}
