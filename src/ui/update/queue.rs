//! The queue of tasks, and a further question after an answer.

use crate::domain::{Command, Matter, State, TaskId, TaskState};
use crate::popups::{Confirm, TaskEntry};
use crate::request::{Requests, World, send};
use crate::view::View;

/// The task that keys mean: the selected one, else the running one.
fn meant<'a>(state: &'a State, view: &View) -> Option<&'a TaskState> {
    view.task.map_or_else(|| state.shown_task(), |task| state.task(task))
}

/// Why the selected task cannot be moved.
pub fn not_waiting(state: &State, view: &View) -> Option<&'static str> {
    let waits = meant(state, view).is_some_and(|task| state.is_queued(task.id));
    (!waits).then_some("select a waiting task")
}

pub fn run_next(world: &World<'_>, view: &mut View) -> Requests {
    let Some(task) = meant(world.live, view).map(|task| task.id) else { return Vec::new() };
    view.task = world.live.next_task().map(|next| next.id);
    send(Command::RunNext { task })
}

/// Moves the selected task; it stays selected.
pub fn move_by(world: &World<'_>, view: &mut View, by: i32) -> Requests {
    let live = world.live;
    let Some(task) = meant(live, view).map(|task| task.id) else { return Vec::new() };
    let to = TaskId(task.0.saturating_add_signed(by));
    if live.is_queued(to) {
        view.task = Some(to);
    }
    send(Command::MoveTaskBy { task, by })
}

pub fn not_removable(state: &State, view: &View) -> Option<&'static str> {
    let task = meant(state, view);
    let over = task.is_none_or(|task| task.outcome().is_some());
    let ended = over.then_some("this task has ended: select a waiting or running one");
    state.cannot(Matter::Tasks).or(ended)
}

/// Removes a task from the queue; asks before ending the running one.
pub fn remove(state: &State, view: &mut View) -> Requests {
    let Some(task) = meant(state, view) else { return Vec::new() };
    if state.is_queued(task.id) {
        return send(Command::RemoveTasks { first: task.id, tasks: vec![task.task.clone()] });
    }
    view.open(Confirm::skip(state, task.id))
}

/// Why no further question can be asked.
pub fn no_answer(state: &State, view: &View) -> Option<&'static str> {
    let answered = answered(state, view).is_some();
    (!answered).then_some("no task has an answer to follow up on yet")
}

/// The selected task, else the last one that has an answer.
fn answered<'a>(state: &'a State, view: &View) -> Option<&'a TaskState> {
    let has_answer = |task: &&TaskState| task.answer.is_some();
    let last = || state.tasks.iter().rev().map(|task| &**task).find(has_answer);
    meant(state, view).filter(has_answer).or_else(last)
}

pub fn follow_up(world: &World<'_>, view: &mut View) -> Requests {
    match answered(world.live, view) {
        Some(task) => view.open(TaskEntry::after(task)),
        None => Vec::new(),
    }
}
