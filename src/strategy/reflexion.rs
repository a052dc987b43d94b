//! Reflexion (Shinn et al. 2023): after a failed attempt, one model call reflects on the
//! trajectory; its text joins the prompt of the next attempt.

use super::{Context, Ending, Trajectory, prompt};
use crate::domain::{ModelError, Prompt, Role, Task};

/// Latest reflections that the next attempt sees.
const KEPT: usize = 3;

/// Calls the reflector for advice on the next attempt.
///
/// # Errors
/// The error of the reflector's model.
pub async fn reflect(
    ctx: &impl Context,
    task: &Task,
    trajectory: &Trajectory,
    ending: &Ending,
) -> Result<String, ModelError> {
    let request = ctx.state(|state| {
        prompt::about(state, Role::Reflector, Prompt::Reflector, task, trajectory, ending)
    });
    let reply = ctx.ask(Role::Reflector, request).await?;
    Ok(reply.text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Adds a reflection and removes the oldest if there are too many.
pub fn keep(reflections: &mut Vec<String>, reflection: String) {
    reflections.push(reflection);
    let surplus = reflections.len().saturating_sub(KEPT);
    reflections.drain(..surplus);
}
