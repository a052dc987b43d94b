//! Programs (ATC): which one is held.

use crate::event::Boundary;
use crate::state::{ProgramState, State, TaskState, ToolCallState};

impl State {
    /// The program that is held before a line, or after its end, and its task; preferably that of the run that was last
    /// active.
    pub fn held_program(&self) -> Option<(&TaskState, &ProgramState)> {
        let is_held = |task: &&TaskState| {
            let at = |boundary| self.control.is_run_held_at(task.task.run, boundary);
            at(Boundary::ProgramLine) || at(Boundary::AfterProgram)
        };
        let mut others = self.at_work.tasks().filter_map(|task| self.task(task));
        let task = self.task_at_work().filter(is_held).or_else(|| others.find(is_held))?;
        Some((task, task.programs.last()?))
    }

    /// The program that can be taken back: one that is held, or whose last call is held after its end, and its task.
    pub fn reversible_program(&self) -> Option<(&TaskState, &ProgramState)> {
        self.held_program().or_else(|| {
            let task = self.task_at_work()?;
            let program = task.programs.last().filter(|program| program.how.is_none())?;
            let mut calls = program.calls.iter().filter_map(|id| self.tool_call(*id));
            let is_held = |call: &ToolCallState| self.control.is_held(call.lane);
            let last = program.calls.last().and_then(|id| self.tool_call(*id))?;
            (calls.all(|call| call.phase.is_over()) && is_held(last)).then_some((task, program))
        })
    }

    /// Whether a program is held before one of its lines, where its variables can be read and set.
    pub fn is_held_at_line(&self) -> bool {
        self.control.is_held_at(Boundary::ProgramLine)
    }
}
