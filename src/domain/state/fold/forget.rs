//! What a session of any length forgets: the details of tasks that ended long ago. Sums over all tasks stay.

use crate::domain::id::TaskId;
use crate::domain::state::{Place, State, next_number};

/// Scores of a tool that are kept.
const SCORES: usize = 256;

impl State {
    /// Forgets the tasks before the last ones that are kept, with their calls and lines.
    pub(super) fn forget(&mut self) {
        let Some(keeps) = self.keeps else { return };
        self.learning.history.values_mut().for_each(|points| points.forget_all_but(SCORES));
        let oldest = self.tasks_done.saturating_sub(keeps);
        if oldest <= self.tasks.gone() {
            return;
        }
        let oldest = TaskId(next_number(oldest));
        let is_old = |task: TaskId| task < oldest;
        self.tasks.forget_while(|task| is_old(task.id));
        self.model_calls.forget_while(|call| is_old(call.task));
        self.tool_calls.forget_while(|call| is_old(call.task));
        self.embeddings.forget_while(|embedding| is_old(embedding.task));
        let (models, tools) = (self.model_calls.gone(), self.tool_calls.gone());
        let embeddings = self.embeddings.gone();
        self.effects.forget_while(|place| match *place {
            Place::ModelCall(at) => at < models,
            Place::ToolCall(at) => at < tools,
            Place::Embedding(at) => at < embeddings,
        });
        // What was told between tasks goes with the task before it.
        self.transcript.forget_while(|line| line.task.is_none_or(is_old));
    }
}
