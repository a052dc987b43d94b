//! What breakpoints look at, besides the calls.

use std::collections::BTreeMap;

use crate::domain::breakpoint::Place;
use crate::domain::expression::Answer;
use crate::domain::{BreakpointId, TaskId};

/// What the engine knows of breakpoints besides the state.
#[derive(Debug, Default)]
pub(super) struct Breakpoints {
    /// A person can go on from a stop; without one, hits are only counted.
    pub has_user: bool,
    /// The last value of each breakpoint on a value; `None`: it had none.
    pub values: BTreeMap<BreakpointId, Option<Answer>>,
    /// What a person has asked of the program at work, as far as it knows of that.
    pub asked: Option<AskedOf>,
}

/// A program, and how often a person has asked something of it, or edited it.
pub(super) type AskedOf = (TaskId, u32, usize);

/// What an event has changed: the place between calls at which it happened, and perhaps values.
#[derive(Debug)]
pub(super) struct Change {
    pub place: Option<Place>,
    /// A program has ended.
    pub ends_program: bool,
}
