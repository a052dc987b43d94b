//! What the engine knows of each run besides the state.

use tokio_util::sync::CancellationToken;

use super::{Session, breakpoints::AskedOf};
use crate::domain::{Embedding, KnownTool, RunEvent, RunId, Strategy, TaskId, ToolName};
use crate::program::Child;

/// One agent at work.
#[derive(Default)]
pub struct Run {
    /// Ends its current task.
    pub skip: CancellationToken,
    /// Runs its programs; warm once one was run, and lent to the program at work.
    pub interpreter: Option<Child>,
    /// What a person has asked of its program, as far as that knows of it.
    pub asked: Option<AskedOf>,
    /// The embedding of its task, where that is known.
    pub meaning: Option<Embedding>,
    /// What is known of the candidates of its task.
    pub known: Vec<KnownTool>,
    /// Why a model cannot be used, where nobody can repair it.
    pub unusable: Option<String>,
}

impl Run {
    pub fn is_known(&self, tool: &ToolName) -> bool {
        self.known.iter().any(|known| known.tool == *tool)
    }
}

impl Session {
    /// Opens runs beside the first, each with its own strategy or that of the session.
    pub fn open_runs(&mut self, strategies: Vec<Option<Strategy>>) {
        for (number, strategy) in (RunId::FIRST.0 + 1..).zip(strategies) {
            self.emit(RunEvent::RunOpened { run: RunId(number), strategy });
        }
    }

    /// The run with this number.
    pub fn run(&mut self, run: RunId) -> &mut Run {
        self.runs.entry(run).or_default()
    }

    /// The run that works on this task.
    pub fn run_of(&mut self, task: TaskId) -> &mut Run {
        let run = self.state.run_of(task);
        self.run(run)
    }

    /// What is known of the candidates of this task.
    pub fn known_of(&self, task: TaskId) -> &[KnownTool] {
        self.runs.get(&self.state.run_of(task)).map_or(&[], |run| &run.known)
    }
}
