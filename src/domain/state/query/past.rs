//! Results that the model of a watched agent has read, and the cost of changing one.

use crate::chat::{Message, Request};
use crate::event::CacheBreak;
use crate::id::EffectId;
use crate::state::State;

impl State {
    /// Estimates the tokens that the endpoint has to read again if this result changes. `None`: the result is not in
    /// the past of a watched agent's model.
    pub fn cost_of_past(&self, id: EffectId) -> Option<CacheBreak> {
        let call = self.tool_call(id).filter(|call| call.is_over() && !call.is_skipped)?;
        let (wire_id, run) = (call.wire_id.as_deref()?, self.run_of(call.task));
        let text = call.observation()?;
        if self.control.is_held(call.lane) {
            return None;
        }
        let mut calls = self.model_calls.iter().rev();
        let last = calls.find(|it| self.run_of(it.task) == run && it.usage().is_some())?;
        let messages = &last.request.messages;
        let is_it =
            |message: &Message| matches!(message, Message::Tool { id, .. } if id == wire_id);
        // Ids may repeat.
        let is_whole = |message: &Message| is_it(message) && message.text() == text;
        let at = messages.iter().position(is_whole).or_else(|| messages.iter().position(is_it))?;
        let after: usize = messages.iter().skip(at).map(size).sum();
        let share = after as f64 / whole(&last.request).max(1) as f64;
        let tokens = (last.usage()?.tokens_in as f64 * share).round() as u64;
        let spec = &self.models.known.get(&last.model)?.spec;
        Some(CacheBreak { tokens, dollars: spec.saved_by_cache(tokens).map(Into::into) })
    }
}

/// Approximate size of a request in bytes.
fn whole(request: &Request) -> usize {
    let tools = request.tools.iter().map(|tool| {
        tool.name.as_str().len() + tool.description.len() + tool.parameters.to_string().len()
    });
    tools.sum::<usize>() + request.messages.iter().map(size).sum::<usize>()
}

fn size(message: &Message) -> usize {
    let calls = match message {
        Message::Assistant { calls, .. } => calls.as_slice(),
        _ => &[],
    };
    let calls =
        calls.iter().map(|call| call.tool.as_str().len() + call.arguments.to_string().len());
    message.text().len() + calls.sum::<usize>()
}
