//! A run that works on its tasks with its strategy.

use std::cell::Cell;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{context::Context, embedding, handle::Handle, reading};
use crate::domain::{
    Boundary, Lane, Outcome as TaskOutcome, RunId, Strategy, Task, TaskEvent, TaskId,
};
use crate::strategy::{self, Ending, Sought};

/// The most events that a session may be ahead of its screen when a task begins. Keys act on what the screen shows,
/// which must not be old; and events that wait to be shown take memory.
const AHEAD: u64 = 2048;

/// Works through the tasks of a run.
pub(super) async fn work(
    handle: Handle,
    run: RunId,
    stay: bool,
    keep_going: bool,
    mut taken: Option<watch::Receiver<u64>>,
) {
    loop {
        handle.write(|session| session.queue_parts_for(run));
        if stay {
            handle.until(|session| session.state().next_task_of(run).is_some()).await;
        }
        if handle.read(|session| session.state().next_task_of(run).is_none()) {
            return;
        }
        handle.write(|session| session.lanes_mut().open(run));
        handle.checkpoint(Lane::Run(run), Boundary::BeforeTask).await;
        let task = handle.write(|session| session.take_next(run));
        work_on(&handle, run, task).await;
        handle.write(|session| {
            session.lanes_mut().close(run);
            session.settle();
            let outcome = session.state().task(task).and_then(|task| task.outcome());
            let is_lost = outcome != Some(TaskOutcome::Answered);
            session.end_if_unusable(run, is_lost && !keep_going);
        });
        // A task without any wait must not delay a command, nor the end of the session.
        tokio::task::yield_now().await;
        if let Some(taken) = &mut taken {
            let seen = handle.read(|session| session.state().n).saturating_sub(AHEAD);
            // Without a screen there is no delay.
            let _ = taken.wait_for(|taken| *taken >= seen).await;
        }
    }
}

/// Works on one task, from `TaskStarted` to `TaskFinished`.
async fn work_on(handle: &Handle, run: RunId, id: TaskId) {
    let skip = CancellationToken::new();
    let found = handle.write(|session| {
        session.run(run).skip = skip.clone();
        session.emit(TaskEvent::TaskStarted { task: id });
        session.end_faults();
        let task = session.state().task(id)?;
        Some((task.task.clone(), task.strategy?))
    });
    let (ending, correct) = tokio::select! {
        biased;
        () = skip.cancelled() => (Ending::without_answer(TaskOutcome::Stopped), None),
        ended = attempt(handle, run, id, found) => ended,
    };
    if skip.is_cancelled() {
        handle.write(|session| session.drop_effects(run, "the task was skipped"));
        handle.verdicts(run).await;
    }
    handle.write(|session| {
        let Ending { outcome, answer, caveats } = ending;
        session.emit(TaskEvent::TaskFinished { task: id, outcome, answer, correct, caveats });
        session.sync_beside();
    });
}

/// Works on a task up to its end. Returns whether the answer is right. A task that does not exist has nothing to run.
async fn attempt(
    handle: &Handle,
    run: RunId,
    id: TaskId,
    found: Option<(Task, Strategy)>,
) -> (Ending, Option<bool>) {
    let Some((task, strategy)) = found else {
        return (Ending::without_answer(TaskOutcome::Failed), None);
    };
    if strategy.btp {
        reading::read(handle, id, &task.sought(), Sought::Task).await;
        embedding::embed(handle, id).await;
        handle.write(|session| session.plan_task(id));
    }
    let context = Context { handle: handle.clone(), run, task: id, empty: Cell::default() };
    let ending = strategy::perform(&context, strategy, &task).await;
    strategy::grade::grade(&context, &task, &ending).await;
    // Every result is judged before its task ends.
    handle.verdicts(run).await;
    let correct = handle.read(|session| ending.is_correct(&session.state().in_task(id), &task));
    (ending, correct)
}
