//! Notices an endpoint that accepts the tools of a request and does not show them to the model, as with a chat template
//! without tools. The model then answers from memory, and nothing else tells why.

use std::collections::HashSet;

use super::Observer;
use crate::domain::{
    Event, ModelCallEvent, ModelName, Origin, Record, SessionEvent, State, hidden_tools::ignored,
};

/// Reports this once for each model.
#[derive(Default)]
pub(crate) struct HiddenTools {
    told: HashSet<ModelName>,
}

impl Observer for HiddenTools {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        let Event::ModelCall(ModelCallEvent::ModelCallFinished { effect, reply, .. }) =
            &record.event
        else {
            return Vec::new();
        };
        // A watched agent has no such setting; `unsaid.rs` reports on its endpoint.
        let is_own = effect.origin == Origin::Live && !state.is_of_guest(effect.id);
        let call = state.model_call(effect.id).filter(|_| is_own);
        let Some(call) = call.filter(|call| !self.told.contains(&call.model)) else {
            return Vec::new();
        };
        let Some(sent) = ignored(&call.request, reply) else { return Vec::new() };
        self.told.insert(call.model.clone());
        let text = format!(
            "the endpoint of {} seems to ignore tools: it counted {} tokens, about {sent} were sent; \
             set `tools = \"text\"` for this model",
            call.model, reply.usage.tokens_in
        );
        vec![SessionEvent::Noticed { text }.into()]
    }
}
