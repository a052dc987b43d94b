//! The closing summary (BTP, algorithm 2, line 13): when no further call is possible or allowed,
//! one model call writes the best answer from the results. Its cost was reserved from the start.

use super::{Context, Ending, Trajectory, act, prompt};
use crate::domain::markers::FINISH;
use crate::domain::{
    BudgetEvent, MenuItem, MenuReason, ModelError, ModelErrorKind, Outcome, Prompt, Role, Task,
    ToolDef, ToolName,
};

/// Has a model sum up the task, and ends it.
pub async fn close(
    ctx: &impl Context,
    task: &Task,
    trajectory: &Trajectory,
    reflections: &[String],
    why: &str,
) -> Ending {
    ctx.say(|task| BudgetEvent::SummaryStarted { task, why: why.to_owned() });
    let finish = MenuItem { tool: ToolName::end(), weight: None, why: MenuReason::Finish };
    let request = ctx.state(|state| {
        let note = state.prompts.text(Prompt::ActorClose);
        let (menu, is_last) = (&[finish], true);
        let asked = prompt::ActorInput { task, menu, trajectory, reflections, note, is_last };
        prompt::actor(state, &asked)
    });
    // The same tools as before, for the prompt cache. A model that nevertheless calls one of them is called again
    // without them.
    let mut alone = request.clone();
    let is_finish = |tool: &&ToolDef| tool.name.as_str() == FINISH;
    alone.tools = alone.tools.iter().filter(is_finish).cloned().collect();
    alone.allowed.clear();
    for request in [request, alone] {
        match ctx.ask(Role::Actor, request).await {
            Ok(reply) => match act::decide(&reply) {
                act::Decision::Finish(ending) => return ending,
                act::Decision::Call(_) => {}
                act::Decision::Nothing => break,
            },
            Err(error) => return failed(&error),
        }
    }
    Ending::without_answer(Outcome::GaveUp)
}

/// The ending of a task whose model call failed.
pub fn failed(error: &ModelError) -> Ending {
    Ending::without_answer(match error.kind {
        ModelErrorKind::OverBudget => Outcome::OutOfBudget,
        ModelErrorKind::Connection
        | ModelErrorKind::Timeout
        | ModelErrorKind::RateLimited
        | ModelErrorKind::Auth
        | ModelErrorKind::Quota
        | ModelErrorKind::ContextOverflow
        | ModelErrorKind::Endpoint
        | ModelErrorKind::Refused
        | ModelErrorKind::Filtered
        | ModelErrorKind::BadAnswer
        | ModelErrorKind::TooLong
        | ModelErrorKind::Cancelled => Outcome::Failed,
    })
}
