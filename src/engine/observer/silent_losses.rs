//! Reports facts about answers that nobody tells a watched agent: the limit cut an answer, or the endpoint left out
//! part of a request.

use std::collections::HashMap;
use std::sync::Arc;

use super::Observer;
use crate::domain::unread_input::{Former, bytes_of_tools, unread};
use crate::domain::{
    EffectId, Event, Finish, ModelCallEvent, ModelCallState, Origin, Record, Reply, RunEvent,
    RunId, SessionEvent, State, ToolDef,
};

#[derive(Default)]
pub(crate) struct Unsaid {
    talks: HashMap<RunId, Talk>,
    /// The tools that were measured last, and their size in bytes. Successive requests share them.
    tools: (Arc<[ToolDef]>, u64),
}

/// The counts of a conversation.
#[derive(Clone, Copy, Default)]
struct Talk {
    /// The last model call whose input was counted, and was read completely as far as known.
    last: Option<EffectId>,
    /// Tokens that models have written in the conversation.
    written: u64,
}

impl Unsaid {
    /// Finds the part of this call's request that the endpoint left out.
    fn unread(&mut self, state: &State, call: &ModelCallState, reply: &Reply) -> Option<RunEvent> {
        let (run, usage) = (state.run_of(call.task), reply.usage);
        let talk = self.talks.entry(run).or_default();
        let Talk { last, written } = *talk;
        talk.written = written.saturating_add(usage.tokens_out);
        let before = last.and_then(|last| state.model_call(last));
        let before = before.filter(|before| before.model == call.model);
        let former = before.and_then(|before| {
            let usage = before.reply()?.usage;
            Some(Former { request: &before.request, usage, written })
        });
        let found = unread(&call.request, reply, self.size(&call.request.tools), former);
        if let (None, true, Some(talk)) = (found, usage.is_plain(), self.talks.get_mut(&run)) {
            talk.last = Some(call.id);
        }
        let found = found?;
        Some(RunEvent::InputUnread { run, call: call.id, unread: found })
    }

    fn size(&mut self, tools: &Arc<[ToolDef]>) -> u64 {
        if !Arc::ptr_eq(&self.tools.0, tools) {
            self.tools = (Arc::clone(tools), bytes_of_tools(tools));
        }
        self.tools.1
    }
}

impl Observer for Unsaid {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        let Event::ModelCall(ModelCallEvent::ModelCallFinished { effect, reply, .. }) =
            &record.event
        else {
            return Vec::new();
        };
        let is_told = effect.origin == Origin::Live && state.is_of_guest(effect.id);
        let Some(call) = state.model_call(effect.id).filter(|_| is_told) else {
            return Vec::new();
        };
        let unread = self.unread(state, call, reply).map(Event::from);
        let is_cut = reply.finish == Finish::Length;
        let cut = is_cut.then(|| {
            let at = call.request.max_tokens.map(|most| format!(" of {most} tokens"));
            let at = at.unwrap_or_default();
            let text = format!("an answer of {} ended at its limit{at}", call.model);
            SessionEvent::Noticed { text }.into()
        });
        unread.into_iter().chain(cut).collect()
    }
}
