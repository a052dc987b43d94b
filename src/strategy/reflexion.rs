//! Reflexion (Shinn et al. 2023): after a failed try, one model call reflects on the trajectory; what it
//! says joins the prompt of the next try.

use super::{Context, Ending, Trajectory, prompt};
use crate::domain::{ModelError, Prompt, Role, Task};

/// How many reflections the next try is shown, the latest ones.
const KEPT: usize = 3;

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
    let request = ctx.state(|state| {
        let system = state.prompts.text(Prompt::Reflector);
        prompt::about(Role::Reflector, system, task, trajectory, ending)
    });
    let reply = ctx.ask(Role::Reflector, request).await?;
    Ok(reply.text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Adds a reflection and lets the oldest go.
pub fn keep(reflections: &mut Vec<String>, reflection: String) {
    reflections.push(reflection);
    let surplus = reflections.len().saturating_sub(KEPT);
    reflections.drain(..surplus);
}
