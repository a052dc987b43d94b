//! The fold of programs.

use std::sync::Arc;

use super::Family;
use crate::event::{EffectRef, ProgramEvent};
use crate::id::TaskId;
use crate::state::{Blamed, ProgramState, State, What};

impl State {
    fn apply_program(&mut self, event: &ProgramEvent) {
        match event {
            ProgramEvent::ProgramWritten { task, number, text, from } => {
                let Some(program) = self.program_mut(*task, *number) else { return };
                program.text = Arc::clone(text);
                program.from = *from;
            }
            ProgramEvent::ProgramRefused { task, number, error, more } => {
                let Some(program) = self.program_mut(*task, *number) else { return };
                program.refused = [error].into_iter().chain(more).cloned().collect();
            }
            ProgramEvent::ProgramHeld { task, number, at } => {
                let Some(program) = self.program_mut(*task, *number) else { return };
                program.note(at);
            }
            ProgramEvent::ProgramAsked { task, number, extra, .. } => {
                let Some(program) = self.program_mut(*task, *number) else { return };
                program.extras.push(extra.clone());
            }
            ProgramEvent::ProgramEdited { task, number, text, .. } => {
                let Some(program) = self.program_mut(*task, *number) else { return };
                program.edited = Some(Arc::clone(text));
            }
            ProgramEvent::ProgramEnded { task, number, end, how } => {
                let Some(program) = self.program_mut(*task, *number) else { return };
                program.set(&end.set);
                program.end = Some(Arc::clone(end));
                program.how = Some(*how);
            }
            ProgramEvent::ProgramTakenBack { task, number, to, .. } => {
                let Some(program) = self.program_mut(*task, *number) else { return };
                program.take_back(*to);
            }
            ProgramEvent::ProgramParted { task, number, calls } => {
                let Some(program) = self.program_mut(*task, *number) else { return };
                program.left.extend_from_slice(calls);
            }
            ProgramEvent::ClockRead { task, millis } => {
                let last = self.task_mut(*task).and_then(|task| task.programs.last_mut());
                last.into_iter().for_each(|program| program.tell_time(*millis));
            }
            ProgramEvent::ToolBlamed { task, number, tool, by, path } => {
                let Some(program) = self.program_mut(*task, *number) else { return };
                program.blamed = Some(Blamed { tool: tool.clone(), by: *by, path: path.clone() });
            }
        }
    }

    /// A program of a task; a new one if this number is the next.
    fn program_mut(&mut self, task: TaskId, number: u32) -> Option<&mut ProgramState> {
        let programs = &mut self.task_mut(task)?.programs;
        if programs.last().is_none_or(|last| last.number < number) {
            programs.push(ProgramState::new(number));
        }
        programs.iter_mut().rev().find(|program| program.number == number)
    }

    /// A call belongs to the program at work.
    pub(super) fn call_of_program(&mut self, effect: EffectRef, task: TaskId) {
        if effect.line.is_none() {
            return;
        }
        let last = self.task_mut(task).and_then(|task| task.programs.last_mut());
        last.into_iter().for_each(|program| program.calls.push(effect.id));
    }
}

impl Family for ProgramEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        state.apply_program(self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            ProgramEvent::ProgramHeld { .. } | ProgramEvent::ClockRead { .. } => None,
            event => What::told(event.clone()),
        }
    }
}
