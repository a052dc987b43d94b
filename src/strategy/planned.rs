//! Plan, work, solve: the planner writes down everything that is to be called, workers call it as soon
//! as what they need is there, and the solver makes the answer (ReWOO, Xu et al. 2023; concurrent
//! workers). Two asks whatever the number of calls, and no call waits for another one that it does not
//! need.

use std::sync::Arc;

use super::{
    Base, Context, Ending, Strategy, Trajectory, classify, close, menu,
    prompt::planned::{self as prompt, LLM, Refused, UNKNOWN},
    work,
};
use crate::{
    blueprint::{self, Blueprint},
    chat::Role,
    event::{MenuItem, Outcome},
    id::ToolName,
    spec::Task,
    state::State,
};

/// How often the planner is asked, at most: the second time with what was wrong.
const ASKED: usize = 2;

/// One try at a task.
pub async fn act(
    ctx: &impl Context,
    strategy: Strategy,
    task: &Task,
    reflections: &[String],
) -> (Trajectory, Ending) {
    let menu = menu::for_planner(ctx, strategy.toolnet, task);
    if strategy.base == Base::Workers {
        classify::classify(ctx, &menu).await;
    }
    ctx.step_started(1, &ToolName::start(), menu.clone());
    let blueprint = match plan(ctx, strategy, task, reflections, &menu).await {
        Ok(blueprint) => blueprint,
        Err(ending) => return (Trajectory::default(), ending),
    };
    let (trajectory, worklog) = work::work(ctx, strategy.base, task, &blueprint, &menu).await;
    if ctx.state(State::has_plan) {
        ctx.closing("the evidence is in".to_owned());
    }
    (trajectory, solve(ctx, task, reflections, &worklog).await)
}

/// The planner's blueprint. One that cannot be used is shown, and asked for once more with the reason.
async fn plan(
    ctx: &impl Context,
    strategy: Strategy,
    task: &Task,
    reflections: &[String],
    menu: &[MenuItem],
) -> Result<Arc<Blueprint>, Ending> {
    let mut refused: Option<Refused> = None;
    for _ in 0..ASKED {
        let asked = prompt::Asked { strategy, task, menu, reflections, refused: refused.as_ref() };
        let request = ctx.state(|state| prompt::planner(state, &asked));
        let reply = match ctx.ask(Role::Planner, request).await {
            Ok(reply) => reply,
            Err(error) => return Err(close::failed(&error)),
        };
        match read(&reply.text, menu) {
            Ok(blueprint) => {
                let blueprint = Arc::new(blueprint);
                ctx.blueprint_drawn(Arc::clone(&blueprint));
                return Ok(blueprint);
            }
            Err(why) => {
                ctx.blueprint_refused(why.clone());
                refused = Some(Refused { text: reply.text.clone(), why });
            }
        }
    }
    Err(Ending::without_answer(Outcome::Failed))
}

fn read(text: &str, menu: &[MenuItem]) -> Result<Blueprint, String> {
    let blueprint = blueprint::parse(text).map_err(|why| why.to_string())?;
    let model = ToolName::from(LLM);
    let tools = menu.iter().map(|item| &item.tool).chain([&model]);
    blueprint.check(tools).map_err(|faults| faults.to_string())?;
    Ok(blueprint)
}

/// The solver's answer, from all plans and all evidence.
async fn solve(ctx: &impl Context, task: &Task, reflections: &[String], worklog: &str) -> Ending {
    let request = ctx.state(|state| prompt::solver(state, task, reflections, worklog));
    match ctx.ask(Role::Solver, request).await {
        Ok(reply) => answer(&reply.text),
        Err(error) => close::failed(&error),
    }
}

/// Reads the solver's reply: models like to say that an answer is one.
fn answer(text: &str) -> Ending {
    let text = text.trim();
    let said = ["Answer:", "answer:", "ANSWER:", "**Answer:**"];
    let text = said.iter().find_map(|said| text.strip_prefix(said)).unwrap_or(text).trim();
    let bare = text.trim_end_matches('.').to_lowercase();
    if bare.is_empty() || bare == UNKNOWN {
        Ending::without_answer(Outcome::GaveUp)
    } else {
        Ending::answered(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_solvers_write_them() {
        for text in ["Lumenport", " Answer: Lumenport\n", "**Answer:** Lumenport"] {
            assert_eq!(answer(text), Ending::answered("Lumenport"), "{text:?}");
        }
        for text in ["", "unknown", "Answer: Unknown."] {
            assert_eq!(answer(text), Ending::without_answer(Outcome::GaveUp), "{text:?}");
        }
    }
}
