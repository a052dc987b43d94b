//! What was judged becomes experience for later plans, once a task: a store on a disk is slower than
//! an agent's step.

use jiff::Timestamp;

use super::core::Core;
use crate::{event::Event, experience::Use, id::CallId, knob::Knob, state::CallPhase};

impl Core {
    /// Writes the judged uses down. What a fault spoilt is left out where nothing is to be learned from
    /// faults, and everything while learning is frozen. A failure is said, and loses no session.
    pub fn remember(&mut self) {
        let judged = std::mem::take(&mut self.judged);
        if !self.state.knobs.is_on(Knob::Learn) || self.is_broken() {
            return;
        }
        let uses: Vec<Use> = judged.into_iter().filter_map(|call| self.past_use(call)).collect();
        let Some(memory) = self.memory.as_mut().filter(|_| !uses.is_empty()) else { return };
        if let Err(error) = memory.store.add_all(&uses) {
            self.emit(Event::Noticed {
                text: format!("uses of tools were not remembered: {error}"),
            });
        }
    }

    fn past_use(&self, call: CallId) -> Option<Use> {
        let call = self.state.call(call)?;
        if call.injected.is_some() && !self.state.knobs.is_on(Knob::LearnInjected) {
            return None;
        }
        let result = match &call.phase {
            CallPhase::Done { output } => output.text.clone(),
            CallPhase::Failed { error } => error.text.clone(),
            CallPhase::Requested | CallPhase::Running | CallPhase::Refused { .. } => return None,
        };
        Some(Use {
            query: self.state.task(call.task)?.task.text.clone(),
            tool: call.tool.clone(),
            parameters: call.arguments.clone(),
            result,
            helpful: call.helpful?,
            at: Timestamp::now(),
            source: self.state.workspace.clone(),
        })
    }
}
