//! The moment of a record at which a watched agent goes its own way. Pure.

use crate::domain::edit::Edit;
use crate::domain::{BreakpointSpec, EffectId, FaultSpec, Messages};

/// How a watched agent leaves the record that it runs over.
#[derive(Clone, Debug, Default)]
pub struct GuestFork {
    /// The number of the last event from which the record answers its conversation.
    pub at: u64,
    /// The changed part of a call of the record, by the call's number there.
    pub edit: Option<(EffectId, Edit)>,
    /// The model that its conversation asks from there on, by the endpoint's own name.
    pub model: Option<String>,
    /// Faults and breakpoints from there on.
    pub faults: Vec<FaultSpec>,
    pub breakpoints: Vec<(BreakpointSpec, bool)>,
}

/// The place of the moment in its conversation.
#[derive(Debug)]
pub struct ForkPoint {
    pub conversation: usize,
    /// The same conversation of this session, once it has begun.
    pub talk: Option<usize>,
    /// The number of requests that the record answers.
    pub requests: usize,
    /// Whether the calls of the last of them come before the moment.
    pub has_calls: bool,
    /// The changed prompt of the last of them.
    pub prompt: Option<Messages>,
    /// Whether its conversation has left the record.
    pub is_left: bool,
    /// Whether the session has come there.
    pub is_past: bool,
}

impl ForkPoint {
    /// Whether the session comes to the moment here, which happens once: a request of this place in this conversation
    /// arrives, or has its answer; or the conversation has left the record before.
    pub fn comes(&mut self, place: Option<(usize, usize)>, is_answered: bool) -> bool {
        let is_at =
            |(conversation, next)| conversation == self.conversation && next >= self.requests;
        let is_there = place.is_some_and(is_at) && !(is_answered && self.has_calls);
        let comes = (is_there || self.is_left) && !self.is_past;
        self.is_past |= comes;
        comes
    }
}
