//! What was judged becomes experience for later plans, once a task: a store on a disk is slower than
//! an agent's step.

use jiff::Timestamp;

use super::core::Core;
use crate::{
    domain::{event::Event, id::EffectId, knob::Knob, state::ToolCallPhase},
    store::experience::Use,
};

impl Core {
    /// Writes down what has ended.
    pub fn remember(&mut self) {
        self.remember_uses();
        self.remember_runs();
    }

    /// Says what came of whose tasks in earlier sessions of this workspace.
    pub fn load_pairs(&mut self) {
        let Some(memory) = &self.memory else { return };
        match memory.store.pairs(&self.state.workspace) {
            Ok(pairs) if pairs.is_empty() => {}
            Ok(pairs) => self.emit(Event::PairsLoaded { pairs }),
            Err(error) => self.emit(Event::Noticed {
                text: format!("what came of earlier sessions could not be read: {error}"),
            }),
        }
    }

    /// Writes down what came of the tasks that have ended. That is counting and no learning, so it goes
    /// on while learning is frozen.
    fn remember_runs(&mut self) {
        let ended = self.runs_kept..self.state.tasks_done;
        self.runs_kept = ended.end;
        if self.is_broken() {
            return;
        }
        let ids = self.state.tasks.get(ended).unwrap_or_default().iter().map(|task| task.id);
        let runs: Vec<_> = ids.filter_map(|id| self.state.pair_tally(id)).collect();
        for run in runs {
            let Some(memory) = &mut self.memory else { return };
            let kept = memory.store.add_run(&self.state.workspace, Timestamp::now(), &run);
            if let Err(error) = kept {
                let text = format!("what came of the task was not remembered: {error}");
                self.emit(Event::Noticed { text });
            }
        }
    }

    /// Writes the judged uses down. What a fault spoilt is left out where nothing is to be learned from
    /// faults, and everything while learning is frozen. A failure is said, and loses no session.
    fn remember_uses(&mut self) {
        let judged = std::mem::take(&mut self.judged);
        if !self.state.knobs.is_on(Knob::Learn) || self.is_broken() {
            return;
        }
        let misled = self.misled(&judged);
        let mut uses: Vec<Use> = Vec::with_capacity(judged.len());
        for call in judged {
            let Some(mut past) = self.past_use(call) else { continue };
            past.helpful &= misled != Some(call);
            uses.push(past);
        }
        let Some(memory) = self.memory.as_mut().filter(|_| !uses.is_empty()) else { return };
        if let Err(error) = memory.store.add_all(&uses) {
            self.emit(Event::Noticed {
                text: format!("uses of tools were not remembered: {error}"),
            });
        }
    }

    /// The result that a wrong answer was made of: the last one that seemed to help. Rules see only that
    /// there is a result, and so a tool that finds something wrong would pass for a good one for ever. A
    /// judge that is a model has read it, and is believed.
    fn misled(&self, judged: &[EffectId]) -> Option<EffectId> {
        let rules = self.state.knobs.count(Knob::Judge) == 0;
        let seemed = |call: &&EffectId| {
            self.state.call(**call).is_some_and(|call| call.helpful == Some(true))
        };
        let last = *judged.iter().rev().find(seemed).filter(|_| rules)?;
        let task = self.state.task(self.state.call(last)?.task)?;
        (task.correct == Some(false) && task.answer.is_some()).then_some(last)
    }

    fn past_use(&self, call: EffectId) -> Option<Use> {
        let call = self.state.call(call)?;
        if call.injected.is_some() && !self.state.knobs.is_on(Knob::LearnInjected) {
            return None;
        }
        let result = match &call.phase {
            ToolCallPhase::Done { output } => output.text.clone(),
            ToolCallPhase::Failed { error } => error.text.clone(),
            ToolCallPhase::Requested | ToolCallPhase::Running | ToolCallPhase::Refused { .. } => {
                return None;
            }
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
