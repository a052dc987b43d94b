//! What breakpoints look at, besides the calls.

use std::collections::BTreeMap;

use crate::domain::BreakpointId;
use crate::domain::breakpoint::Place;
use crate::domain::expression::Answer;

/// What the engine knows of breakpoints besides the state.
#[derive(Debug, Default)]
pub(super) struct Breakpoints {
    /// A person can go on from a stop; without one, hits are only counted.
    pub has_user: bool,
    /// The last value of each breakpoint on a value; `None`: it had none.
    pub values: BTreeMap<BreakpointId, Option<Answer>>,
}

/// What an event has changed: the place between calls at which it happened, and perhaps values.
#[derive(Debug)]
pub(super) struct Change {
    pub place: Option<Place>,
    /// A program has ended.
    pub ends_program: bool,
}
