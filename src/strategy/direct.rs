//! The baseline without tools: one model call, and its text is the answer.

use super::{Context, Ending, Trajectory, close, prompt};
use crate::domain::{Outcome, Role, Task};

/// Makes one attempt at a task.
pub async fn answer(
    ctx: &impl Context,
    task: &Task,
    reflections: &[String],
) -> (Trajectory, Ending) {
    let request = ctx.state(|state| prompt::direct(state, task, reflections));
    let ending = match ctx.ask(Role::Actor, request).await {
        Ok(reply) if reply.text.trim().is_empty() => Ending::without_answer(Outcome::GaveUp),
        Ok(reply) => Ending::answered(reply.text.trim()).of(&reply),
        Err(error) => close::failed(&error),
    };
    (Trajectory::default(), ending)
}
