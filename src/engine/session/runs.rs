//! The engine's data on each run besides the state.

use super::{Session, parts::AgentRun};
use crate::domain::{KnownTool, RunEvent, RunId, Strategy, TaskId};

impl Session {
    /// Opens runs beside the first, each with its own strategy or that of the session.
    pub fn open_runs(&mut self, strategies: Vec<Option<Strategy>>) {
        for (number, strategy) in (RunId::FIRST.0 + 1..).zip(strategies) {
            self.emit(RunEvent::RunOpened { run: RunId(number), strategy, guest: None });
        }
    }

    /// The run with this number.
    pub fn run(&mut self, run: RunId) -> &mut AgentRun {
        self.runs.entry(run).or_default()
    }

    /// The run that works on this task.
    pub fn run_of(&mut self, task: TaskId) -> &mut AgentRun {
        let run = self.state.run_of(task);
        self.run(run)
    }

    /// The known facts about the candidates of this task.
    pub fn known_of(&self, task: TaskId) -> &[KnownTool] {
        self.runs.get(&self.state.run_of(task)).map_or(&[], |run| &run.known)
    }
}
