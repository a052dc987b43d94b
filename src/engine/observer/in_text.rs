//! Notices an endpoint that leaves calls in the text of its model, and tells the user which setting helps.

use std::collections::HashSet;

use super::Observer;
use crate::domain::repair::Repair;
use crate::domain::{
    Event, ModelCallEvent, ModelName, Origin, Record, SessionEvent, State, ToolMode,
};

/// Reports this once for each model, and once more if a call cannot be read.
#[derive(Default)]
pub(crate) struct InText {
    told: HashSet<(ModelName, bool)>,
}

impl Observer for InText {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        let Event::ModelCall(ModelCallEvent::ModelCallFinished { effect, reply, .. }) =
            &record.event
        else {
            return Vec::new();
        };
        let Some(repair) = reply.repairs.iter().find(|repair| repair.is_of_text()) else {
            return Vec::new();
        };
        let call = state.model_call(effect.id).filter(|_| effect.origin == Origin::Live);
        let Some(model) = call.map(|call| call.model.clone()) else { return Vec::new() };
        let known = state.models.known.get(&model);
        let is_native = known.is_some_and(|known| known.spec.mode == ToolMode::Native);
        if !is_native || !self.told.insert((model.clone(), reply.is_unread())) {
            return Vec::new();
        }
        let what = match repair {
            Repair::Unread { excerpt } => {
                format!("wrote an unreadable call instead of an answer: {excerpt}")
            }
            _ => "writes calls as text; they are read from there".to_owned(),
        };
        let text = format!(
            "{model} {what} · set `tools = \"text\"` for it, or give its server the model's chat template and \
             tool parser (llama.cpp: --jinja, vLLM: --tool-call-parser)"
        );
        vec![SessionEvent::Noticed { text }.into()]
    }
}
