//! Marks of calls: facts that nobody tells an agent, such as cut answers, unread input, useless caches, and missing
//! messages and results.

use strum::IntoStaticStr;

use crate::chat::Finish;
use crate::error::ToolErrorKind;
use crate::event::{LostPrefix, Origin};
use crate::id::EffectId;
use crate::state::model_calls::Rewritten;
use crate::state::{ModelCallState, State, ToolCallPhase, ToolCallState};
use crate::unread_input::Unread;

/// Mark of a call: a fact that nobody tells the agent.
#[derive(Clone, Copy, Debug, PartialEq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CallMark<'a> {
    /// The answer ended too early: at the limit of tokens, or by a filter.
    CutAnswer(&'a Finish),
    /// The endpoint left out part of the request.
    DroppedInput(Unread),
    /// The request does not begin with the one before it.
    LostPrefix { lost: &'a LostPrefix, uncached: Option<Uncached> },
    /// The agent dropped part of its past.
    Rewritten(&'a Rewritten),
    /// The agent never sent the result of this tool call.
    NoResult,
}

/// Tokens of the earlier request that an endpoint did not find in its cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncached {
    pub tokens: u64,
    /// Tokens of the request before.
    pub of: u64,
}

impl CallMark<'_> {
    /// Returns the name of the mark in reports.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

impl State {
    /// The marks of a model call or a tool call.
    pub fn marks(&self, call: EffectId) -> Vec<CallMark<'_>> {
        if let Some(call) = self.model_call(call) {
            return self.marks_of_model_call(call);
        }
        let lost = self.tool_call(call).filter(|call| call.has_no_result());
        lost.map(|_| CallMark::NoResult).into_iter().collect()
    }

    fn marks_of_model_call<'a>(&'a self, call: &'a ModelCallState) -> Vec<CallMark<'a>> {
        let rewritten = call.rewritten.as_ref().map(CallMark::Rewritten);
        let lost = call.lost.as_deref().map(|lost| {
            let uncached = self.uncached(call, lost);
            CallMark::LostPrefix { lost, uncached }
        });
        let cut = call.reply().filter(|reply| reply.finish.is_cut());
        let cut = cut.map(|reply| CallMark::CutAnswer(&reply.finish));
        let unread = call.unread.map(CallMark::DroppedInput);
        [rewritten, lost, unread, cut].into_iter().flatten().collect()
    }

    /// Tokens of the earlier request that the endpoint did not have in its cache; `None`: no cache is reported.
    fn uncached(&self, call: &ModelCallState, lost: &LostPrefix) -> Option<Uncached> {
        let before = self.model_call(lost.after)?.reply()?.usage;
        let now = call.reply()?.usage;
        let has_cache = [before, now].iter().any(|usage| usage.cached > 0 || usage.written > 0);
        let is_known = has_cache && !before.estimated && !now.estimated;
        let (tokens, of) = (before.tokens_in.saturating_sub(now.cached), before.tokens_in);
        (is_known && tokens > 0).then_some(Uncached { tokens, of })
    }

    /// Whether the earlier request has lost its prefix at the same field.
    pub(in crate::state) fn is_lost_again(&self, lost: &LostPrefix) -> bool {
        let before = self.model_call(lost.after).and_then(|call| call.lost.as_deref());
        before.is_some_and(|before| before.field == lost.field)
    }
}

impl ToolCallState {
    /// Whether a watched agent never sent the result of the call.
    pub fn has_no_result(&self) -> bool {
        let is_lost = matches!(&self.phase,
            ToolCallPhase::Failed { error } if error.kind == ToolErrorKind::Unavailable);
        is_lost && self.wire_id.is_some() && self.origin == Origin::Live
    }
}
