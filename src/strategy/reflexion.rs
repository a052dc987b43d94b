//! Reflexion (Shinn et al. 2023): after a failed try, one ask reflects on the trajectory; what it
//! says joins the prompt of the next try.

use super::{Context, Ending, Trajectory, prompt};
use crate::domain::{chat::Role, error::ModelError, spec::Task};

/// How many reflections the next try is shown, the latest ones.
const KEPT: usize = 3;

const REFLECT: &str = "A try at a task failed. Say in two or three sentences what went wrong and what \
    to do differently next time: which tools to use or to avoid, and with which arguments. Do not \
    solve the task.";

/// Asks what to do differently.
///
/// # Errors
/// What the reflector's model failed with.
pub async fn reflect(
    ctx: &impl Context,
    task: &Task,
    trajectory: &Trajectory,
    ending: &Ending,
) -> Result<String, ModelError> {
    let request = prompt::about(Role::Reflector, REFLECT, task, trajectory, ending);
    let reply = ctx.ask(Role::Reflector, request).await?;
    Ok(reply.text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Adds a reflection and lets the oldest go.
pub fn keep(reflections: &mut Vec<String>, reflection: String) {
    reflections.push(reflection);
    let surplus = reflections.len().saturating_sub(KEPT);
    reflections.drain(..surplus);
}
