//! Programs (ATC): which one is held.

use crate::domain::event::Boundary;
use crate::domain::state::{ProgramState, State, TaskState};

impl State {
    /// The program that is held before a line, or after its end, and its task.
    pub fn held_program(&self) -> Option<(&TaskState, &ProgramState)> {
        let is_held = [Boundary::ProgramLine, Boundary::AfterProgram]
            .iter()
            .any(|boundary| self.control.is_held_at(*boundary));
        let task = self.current_task().filter(|_| is_held)?;
        Some((task, task.programs.last()?))
    }

    /// Whether a program is held before one of its lines, where its variables can be asked for and set.
    pub fn is_held_at_line(&self) -> bool {
        self.control.is_held_at(Boundary::ProgramLine)
    }
}
