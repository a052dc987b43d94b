//! The fold of tasks, from the queue to their end.

use std::sync::Arc;

use super::Family;
use crate::event::{By, Outcome, TaskEvent};
use crate::id::{TaskId, ToolName};
use crate::spec::Task;
use crate::state::{State, TaskState, What, index, next_number};
use crate::strategy::Base;

impl State {
    fn apply_task(&mut self, at: u64, event: &TaskEvent) {
        match event {
            TaskEvent::TasksQueued { first, tasks, .. } => {
                self.queue_from(*first, |waiting| {
                    waiting.splice(..0, tasks.iter().cloned());
                });
            }
            TaskEvent::TasksRemoved { first, tasks, .. } => {
                self.queue_from(*first, |waiting| {
                    waiting.drain(..tasks.len().min(waiting.len()));
                });
            }
            TaskEvent::TaskMoved { task, to, .. } => {
                let (first, last) = (task.min(to), task.max(to));
                let by = last.0.saturating_sub(first.0) as usize;
                self.queue_from(*first, |waiting| match waiting.get_mut(..=by) {
                    Some(part) if to > task => part.rotate_left(1),
                    Some(part) => part.rotate_right(1),
                    None => {}
                });
            }
            TaskEvent::TaskSkipped { .. } => {}
            TaskEvent::TaskStarted { task } => {
                let run = self.run_of(*task);
                self.at_work.begin(run, *task);
                let (chosen, line) = (self.strategy_of(run), self.transcript.len());
                let Some(task) = self.task_mut(*task) else { return };
                let is_probe = task.task.probe.is_some();
                let strategy = if is_probe { Base::Atc.into() } else { chosen };
                task.start(at, strategy);
                task.first_line = line;
                if task.task.in_graph {
                    let steps = task.task.chain.iter();
                    let calls: Vec<_> =
                        steps.filter_map(|step| step.tools.first().cloned()).collect();
                    self.learning.leave_out(&calls);
                }
            }
            TaskEvent::TryStarted { task, number, reflections } => {
                if let Some(task) = self.task_mut(*task) {
                    task.retry(*number, reflections);
                }
            }
            TaskEvent::StepStarted { task, step, from, menu } => {
                self.at_work.note(*task);
                if let Some(task) = self.task_mut(*task) {
                    task.step(*step, from, menu);
                }
            }
            TaskEvent::AnswerGraded { task, right, why } => {
                if let Some(task) = self.task_mut(*task) {
                    let grading = task.grading.get_or_insert_default();
                    (grading.right, grading.why) = (*right, why.clone());
                }
            }
            TaskEvent::ToolArraySet { task, tools, kept, lost } => {
                let before = match self.task(*task).and_then(|task| task.defined.clone()) {
                    None if *kept => Some(self.in_task(*task).kept_tools()),
                    before => before,
                };
                self.defined = if *kept { joined(&self.defined, tools) } else { Arc::clone(tools) };
                // Tasks with the same definitions share them.
                let same = |own: Arc<[ToolName]>| match own == self.defined {
                    true => Arc::clone(&self.defined),
                    false => own,
                };
                let defined = before.map(|before| same(joined(&before, tools)));
                if let Some(task) = self.task_mut(*task) {
                    task.set_array(tools, defined, lost.as_ref());
                }
            }
            TaskEvent::TaskFinished { task, outcome, answer, correct, caveats } => {
                self.resume_lanes(*task);
                self.control.changes.end_task(*task);
                self.at_work.end(*task);
                self.followed.finish(*task, *outcome == Outcome::Answered && answer.is_some());
                self.learning.put_back();
                self.tasks_done += 1;
                self.tasks_judged += usize::from(correct.is_some());
                self.tasks_right += usize::from(*correct == Some(true));
                let n = self.n;
                if let Some(task) = self.task_mut(*task) {
                    task.finish(at, *outcome, answer.as_deref(), *correct);
                    task.caveats.clone_from(caveats);
                    task.ended_by = n;
                }
                if let Some(tally) = self.pair_tally(*task) {
                    self.pairs.add(&tally);
                }
                if let Some(lap) = self.lap(*task) {
                    self.laps.push(lap);
                }
            }
        }
    }
}

impl State {
    /// Clears the user's individual holds of the lanes of a task that ends.
    fn resume_lanes(&mut self, task: TaskId) {
        let run = self.run_of(task);
        let mut paused = std::mem::take(&mut self.control.paused_lanes);
        paused.retain(|lane| self.run_of_lane(*lane) != run);
        self.control.paused_lanes = paused;
    }

    /// Changes the part of the queue from this number on. A number that belongs neither to a waiting task nor to the
    /// next new one changes nothing.
    fn queue_from(&mut self, first: TaskId, change: impl FnOnce(&mut Vec<Task>)) {
        let Some(at) = index(first.0) else { return };
        if at < self.tasks_started() || at > self.tasks.len() {
            return;
        }
        let waiting = self.tasks.split_off(at);
        let mut tasks = waiting.into_iter().map(|task| task.task.clone()).collect();
        change(&mut tasks);
        for task in tasks {
            let id = TaskId(next_number(self.tasks.len()));
            self.tasks.push(Arc::new(TaskState::new(id, task)));
        }
    }
}

/// The tools, followed by those of the others that are not among them.
fn joined(tools: &Arc<[ToolName]>, others: &[ToolName]) -> Arc<[ToolName]> {
    let new: Vec<_> = others.iter().filter(|tool| !tools.contains(tool)).collect();
    match new.is_empty() {
        true => Arc::clone(tools),
        false => tools.iter().chain(new).cloned().collect(),
    }
}

impl Family for TaskEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_task(at, self);
    }

    fn line(&self, state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            TaskEvent::TaskStarted { task } => Some((Some(*task), What::TaskStarted)),
            TaskEvent::TryStarted { task, number, .. } => {
                Some((Some(*task), What::TryStarted { number: *number }))
            }
            // A watched agent decides its steps by itself: its model calls are the lines.
            TaskEvent::StepStarted { .. } if state.watched.is_some() => None,
            TaskEvent::StepStarted { task, .. } => {
                let steps = state.task(*task).map_or(0, |task| task.steps.len());
                let index = u32::try_from(steps.saturating_sub(1)).unwrap_or(u32::MAX);
                Some((Some(*task), What::Step { index }))
            }
            TaskEvent::ToolArraySet { lost: Some(_), .. } => What::told(self.clone()),
            TaskEvent::ToolArraySet { lost: None, .. } => None,
            TaskEvent::TaskFinished { task, .. } => Some((Some(*task), What::TaskFinished)),
            // A run takes its next task.
            TaskEvent::TaskMoved { by: By::Engine, .. }
            | TaskEvent::TasksQueued { by: By::Engine, .. }
            | TaskEvent::AnswerGraded { .. } => None,
            TaskEvent::TasksQueued { .. }
            | TaskEvent::TasksRemoved { .. }
            | TaskEvent::TaskMoved { .. }
            | TaskEvent::TaskSkipped { .. } => What::told(self.clone()),
        }
    }
}
