//! Forgetting: a session of any length drops the details of tasks that ended long ago. Sums over all tasks stay.

use std::sync::Arc;

use crate::event::Event;
use crate::id::{EffectId, TaskId};
use crate::state::{EffectIndex, Keeps, LISTED, State, TEXTS, TaskState, index, next_number};

/// Number of scores kept of each tool.
const SCORES: usize = 256;
/// Number of task summaries that are kept.
const LAPS: usize = 512;

impl State {
    /// Forgets the data of ended tasks beyond those that are kept.
    pub(super) fn forget(&mut self) {
        let (Keeps::Details(most) | Keeps::Tasks(most)) = self.keeps else { return };
        self.learning.history.values_mut().for_each(|points| points.forget_all_but(SCORES));
        self.laps.forget_all_but(LAPS);
        self.forget_before(self.first_kept(most));
        let listed = match self.keeps {
            Keeps::Tasks(_) => 0,
            _ => self.listed(),
        };
        let first = TaskId(next_number(self.bare.saturating_sub(listed)));
        self.tasks.forget_while(|task| task.id < first);
    }

    /// The first of the ended tasks whose details are kept: at most this many, with at most [`TEXTS`] bytes.
    fn first_kept(&self, most: usize) -> usize {
        let ended = self.ended_before();
        let mut first = ended.saturating_sub(most).max(self.bare);
        let bytes_of = |at| self.tasks.get(at).map_or(0, |task| task.text_bytes as usize);
        let mut bytes: usize = (first..ended).map(bytes_of).sum();
        while bytes > TEXTS && first + 1 < ended {
            bytes -= bytes_of(first);
            first += 1;
        }
        first
    }

    /// Adds the texts that an event brings to those of its task.
    pub(super) fn weigh(&mut self, event: &Event) {
        let bytes = event.kept_bytes();
        if bytes == 0 {
            return;
        }
        let effect = event.effect().and_then(|effect| self.effect(effect.id));
        if let Some(task) = effect.map(|effect| effect.task).and_then(|id| self.task_mut(id)) {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            task.text_bytes = task.text_bytes.saturating_add(bytes);
        }
    }

    /// A copy without the details of tasks that have ended.
    pub fn without_details(&self) -> Self {
        let mut bare = self.clone();
        bare.forget_recalled();
        bare.forget_before(bare.ended_before());
        bare
    }

    /// Number of leading tasks that have all ended.
    fn ended_before(&self) -> usize {
        let open = self.at_work.first().and_then(|task| index(task.0));
        open.unwrap_or(self.tasks_done)
    }

    /// Whether all ended tasks whose details are to be kept still have them.
    pub fn has_recent(&self) -> bool {
        match self.keeps {
            Keeps::All => self.bare == 0,
            Keeps::Details(most) | Keeps::Tasks(most) => {
                self.bare <= self.ended_before().saturating_sub(most)
            }
        }
    }

    /// Number of leading tasks whose details are gone.
    pub fn bare(&self) -> usize {
        self.bare
    }

    /// The tasks that have no details any more and are still listed, in the order of their numbers.
    pub fn bare_tasks(&self) -> impl ExactSizeIterator<Item = &Arc<TaskState>> {
        self.tasks.iter().take(self.bare.saturating_sub(self.tasks.gone()))
    }

    /// A copy without the details of ended tasks, and without the `bare_tasks` themselves.
    pub fn without_tasks(&self) -> Self {
        let mut rest = self.without_details();
        let first = TaskId(next_number(self.bare));
        rest.tasks.forget_while(|task| task.id < first);
        rest
    }

    /// Number of tasks without details that stay listed.
    pub fn listed(&self) -> usize {
        // Conversations of watched agents are sums over all their tasks.
        if self.watched.is_some() { usize::MAX } else { LISTED }
    }

    /// Puts back the last tasks that a copy left out. From here on the state keeps data as `keeps` says.
    pub fn with_tasks(mut self, bare: Vec<Arc<TaskState>>, keeps: Keeps) -> Self {
        self.tasks.put_back(bare);
        self.keeps = keeps;
        self
    }

    /// Forgets the details of the tasks before this place.
    fn forget_before(&mut self, oldest: usize) {
        if oldest <= self.bare {
            return;
        }
        let first = TaskId(next_number(oldest));
        let is_old = |task: TaskId| task < first;
        for at in self.bare..oldest {
            if let Some(task) = self.tasks.get_mut(at) {
                *task = Arc::new(task.bared());
            }
        }
        self.bare = oldest;
        self.model_calls.forget_while(|call| is_old(call.task));
        self.tool_calls.forget_while(|call| is_old(call.task));
        let kept = self.tool_calls.iter().next().map(|call| call.id);
        self.by_hand.retain(|call| kept.is_some_and(|first| *call >= first));
        self.embeddings.forget_while(|embedding| is_old(embedding.task));
        let (models, tools) = (self.model_calls.gone(), self.tool_calls.gone());
        let embeddings = self.embeddings.gone();
        self.effects.forget_while(|place| match *place {
            EffectIndex::ModelCall(at) => at < models,
            EffectIndex::ToolCall(at) => at < tools,
            EffectIndex::Embedding(at) => at < embeddings,
        });
        // A line between tasks goes with the task before it.
        self.transcript.forget_while(|line| line.task.is_none_or(is_old));
    }

    /// Copies the details of a task from a state that has them. They are only for viewing, and not part of the fold.
    pub fn recall(&mut self, id: TaskId, from: &State) {
        let Some(at) = index(id.0) else { return };
        let Some(task) = from.tasks.get(at).filter(|task| !task.is_bare) else { return };
        self.tasks.recall(at, Arc::clone(task));
        for call in task.model_calls.iter().chain(&task.tool_calls) {
            self.recall_effect(*call, from);
        }
        let next = from.tasks.get(at + 1).filter(|next| next.started.is_some());
        let end = next.map_or(from.transcript.len(), |next| next.first_line);
        // Lines before the first task belong to no other task.
        let begin = if at == 0 { 0 } else { task.first_line };
        for place in begin..end.min(self.transcript.gone()) {
            if let Some(line) = from.transcript.get(place) {
                self.transcript.recall(place, line.clone());
            }
        }
    }

    fn recall_effect(&mut self, id: EffectId, from: &State) {
        let Some((at, place)) = index(id.0).zip(from.place(id)) else { return };
        self.effects.recall(at, place);
        match place {
            EffectIndex::ModelCall(at) => {
                let call = from.model_calls.get(at).cloned();
                call.into_iter().for_each(|call| self.model_calls.recall(at, call));
            }
            EffectIndex::ToolCall(at) => {
                let call = from.tool_calls.get(at).cloned();
                call.into_iter().for_each(|call| self.tool_calls.recall(at, call));
            }
            EffectIndex::Embedding(_) => {}
        }
    }

    /// Lists tasks again that were no longer listed. They are only for viewing, and not part of the fold.
    pub fn list_again(&mut self, tasks: &[Arc<TaskState>]) {
        for task in tasks {
            if let Some(at) = index(task.id.0).filter(|at| self.tasks.get(*at).is_none()) {
                self.tasks.recall(at, Arc::clone(task));
            }
        }
    }

    /// The number of tasks whose details were recalled, and of those that were listed again.
    pub fn recalled(&self) -> (usize, usize) {
        let tasks = self.tasks.recalled();
        let listed = tasks.len();
        (tasks.filter(|task| !task.is_bare).count(), listed)
    }

    /// Forgets all recalled items.
    pub fn forget_recalled(&mut self) {
        self.tasks.forget_recalled();
        self.effects.forget_recalled();
        self.model_calls.forget_recalled();
        self.tool_calls.forget_recalled();
        self.transcript.forget_recalled();
    }
}
