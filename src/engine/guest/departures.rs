//! The end of an agent, and of conversations that agents have left: what is open has no result, and tasks are stopped.

use std::time::Duration;

use tokio::time::timeout;

use super::call_ends::leave_calls;
use super::conversation_data::SharedTalks;
use crate::domain::{Outcome, RunEvent, SessionEvent, TaskId};
use crate::handle::Handle;
use crate::session::Session;

/// The time in which effects in flight end by themselves, as their connections break.
const SETTLING: Duration = Duration::from_secs(3);

/// The notice of the first conversation that is taken for left.
const LEFT: &str =
    "a conversation waits for results that its agent has not sent for long: shown as stopped";

/// Number of conversations at work that are never taken for left, however long they are idle.
const AT_WORK: usize = 128;
/// Number of requests and answers of others after which a conversation counts as left.
const IDLE: u64 = 4096;

/// Stops the conversations that agents have left while a call was open: a session of any length keeps few of them at
/// work. A conversation that goes on after all begins another task.
pub async fn leave_idle(handle: Handle, talks: SharedTalks) {
    let left = handle.write(|session| {
        let mut talks = talks.borrow_mut();
        talks.forget_answers(|call| session.state().model_call(call).is_none());
        talks.lose_idle((AT_WORK, IDLE), |task, talk| {
            let asks = session.state().model_calls_in_flight().any(|call| call.task == task);
            let is_free = !asks && !lanes(session, task).any(|held| held);
            if is_free {
                leave_calls(session, talk);
                // The client of an answer that nobody took does not come back.
                talk.pending.drain(..).for_each(|(_, relay)| relay.give_up());
            }
            is_free
        })
    });
    if !left.is_empty() && talks.borrow_mut().told.insert(LEFT.to_owned()) {
        handle.emit(SessionEvent::Noticed { text: LEFT.to_owned() });
    }
    for task in &left {
        handle.until(|session| lanes(session, *task).next().is_none()).await;
        stop_idle(&handle, &talks, &[*task]);
    }
}

/// Ends what an agent has left open, and reports its end. What is held ends when it is let go.
pub async fn leave(handle: Handle, talks: SharedTalks, code: Option<i32>) {
    let tasks =
        handle.write(|session| talks.borrow_mut().lose_results(|talk| leave_calls(session, talk)));
    let settled = |session: &Session| {
        let is_held = |task: &TaskId| lanes(session, *task).all(|held| held);
        let talks = talks.borrow();
        tasks.iter().all(is_held) && !talks.has_answer_to_give() && talks.copies == 0
    };
    let _ = timeout(SETTLING, handle.until(settled)).await;
    stop_idle(&handle, &talks, &tasks);
    handle.emit(RunEvent::AgentEnded { code });
    for task in &tasks {
        handle.until(|session| lanes(session, *task).next().is_none()).await;
        stop_idle(&handle, &talks, &[*task]);
    }
}

/// Whether each effect in flight of a task is held.
fn lanes(session: &Session, task: TaskId) -> impl Iterator<Item = bool> {
    let state = session.state();
    let own = state.effects_in_flight().filter(move |effect| effect.task == task);
    own.map(|effect| state.control.is_held(effect.reference().lane()))
}

/// Stops the tasks without an effect in flight. An answer that came before the agent's end ends its task by itself.
fn stop_idle(handle: &Handle, talks: &SharedTalks, tasks: &[TaskId]) {
    handle.write(|session| {
        for task in tasks {
            let mut talks = talks.borrow_mut();
            let is_idle = lanes(session, *task).next().is_none();
            if let Some(talk) = talks.at_work_on(*task).filter(|_| is_idle) {
                match talk.answer.take() {
                    Some(answer) => talk.finish(session, Outcome::Answered, Some(answer)),
                    None => talk.finish(session, Outcome::Stopped, None),
                }
            }
        }
        session.settle();
    });
}
