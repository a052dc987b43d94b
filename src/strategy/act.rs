//! The loop of ReAct and of ToolNet: think, call, observe, until the agent finishes or its steps
//! run out. The two differ only in their menus: ToolNet is ReAct that walks a graph (ToolNet, eq.
//! 1–4).

use std::sync::Arc;

use super::finish::Finish;
use super::{
    Base, CallSpec, Context, Ending, Trajectory, TrajectoryTurn, array, close, menu, prompt,
};
use crate::domain::{
    GraphEvent, Knob, MenuItem, MenuReason, ModelErrorKind, Outcome, Reply, Role, Task, TaskEvent,
    ToolCall, ToolName, markers,
};

/// The decision in a reply of the actor.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    Call(Vec<ToolCall>),
    Finish(Ending),
    /// Neither a call nor an answer.
    Nothing,
}

/// Makes one attempt at a task.
pub async fn act(
    ctx: &impl Context,
    base: Base,
    task: &Task,
    reflections: &[String],
) -> (Trajectory, Ending) {
    let close = async |trajectory: Trajectory, why: &str| {
        let ending = close::close(ctx, task, &trajectory, reflections, why).await;
        (trajectory, ending)
    };
    let mut trajectory = Trajectory::default();
    let mut at = ToolName::start();
    let mut is_stuck = false;
    let mut wider = None;
    for step in 1u32.. {
        if step as usize > ctx.state(|state| state.knobs.count(Knob::MaxSteps)) {
            break;
        }
        let menu = match wider.take() {
            Some(menu) => menu,
            None if is_stuck => ctx.state(|state| menu::whole_plan(state, base, &at)),
            None => menu::next(ctx, base, task, &at, &trajectory).await,
        };
        // If replanning is possible, the agent decides first whether it needs that.
        if ctx.state(|state| menu::is_used_up(state, &menu) && !state.may_widen()) {
            return close(trajectory, "the plan has no uses left").await;
        }
        array::cover(ctx, base, &menu);
        ctx.say(|task| {
            let (from, menu) = (at.clone(), Arc::clone(&menu));
            TaskEvent::StepStarted { task, step, from, menu }
        });
        let request = ctx.state(|state| {
            let (trajectory, menu, note, is_last) = (&trajectory, &*menu, "", false);
            let asked = prompt::ActorInput { task, menu, trajectory, reflections, note, is_last };
            prompt::actor(state, &asked)
        });
        let reply = match ctx.ask(Role::Actor, request).await {
            Ok(reply) => reply,
            Err(error) if error.kind == ModelErrorKind::OverBudget => {
                return close(trajectory, "the rest of the budget does not pay for another step")
                    .await;
            }
            Err(error) => return (trajectory, close::failed(&error)),
        };
        match decide(&reply) {
            Decision::Finish(ending)
                if ending.outcome == Outcome::GaveUp
                    && (has_more(ctx, &menu) || ctx.widen(&[&reply.text], Some(&[])).await) =>
            {
                is_stuck = true;
                let (calls, called) = (Vec::new(), Vec::new());
                trajectory.turns.push(TrajectoryTurn::of(&reply, calls, called));
            }
            Decision::Finish(ending) => {
                if ending.outcome == Outcome::GaveUp {
                    let mut tried = trajectory.clone();
                    tried.turns.push(TrajectoryTurn::of(&reply, Vec::new(), Vec::new()));
                    wider = menu::wider(ctx, base, task, &at, &tried, &menu).await;
                    if wider.is_some() {
                        trajectory = tried;
                        continue;
                    }
                }
                let offers = menu.iter().any(|item| item.why != MenuReason::Finish);
                let has_called = !offers || trajectory.calls().next().is_some();
                return (trajectory, ending.marked(&reply, has_called));
            }
            Decision::Nothing => {
                let (calls, called) = (Vec::new(), Vec::new());
                trajectory.turns.push(TrajectoryTurn::of(&reply, calls, called));
            }
            Decision::Call(calls) => {
                is_stuck = false;
                let called = ctx.call(CallSpec::Step(step), &calls).await;
                let from = at.clone();
                for ran in called.iter().filter(|called| called.observation.ran()) {
                    let explored =
                        menu.iter().any(|item| item.tool == ran.tool && is_new_way(base, item));
                    if explored {
                        let (from, to) = (from.clone(), ran.tool.clone());
                        ctx.say(|_| GraphEvent::EdgeExplored { from, to });
                    }
                    at = ran.tool.clone();
                }
                let calls = super::context::as_shown(calls, &called);
                trajectory.turns.push(TrajectoryTurn::of(&reply, calls, called));
            }
        }
    }
    if ctx.state(|state| state.has_plan()) {
        return close(trajectory, "the steps have run out").await;
    }
    (trajectory, Ending::without_answer(Outcome::OutOfSteps))
}

/// Whether the plan has uses left that were not on this menu.
fn has_more(ctx: &impl Context, menu: &[MenuItem]) -> bool {
    ctx.state(|state| {
        let plan = state.current_task().and_then(|task| task.budget.plan.as_ref());
        let mut planned =
            plan.into_iter().flat_map(|plan| &plan.tools).map(|planned| &planned.tool);
        planned.any(|tool| state.plan_allows(tool) && menu.iter().all(|item| item.tool != *tool))
    })
}

/// Whether the graph lacks an edge for this menu item.
fn is_new_way(base: Base, item: &MenuItem) -> bool {
    let planned = base.spec().walks && item.why == MenuReason::Planned;
    item.why == MenuReason::Explore || planned && item.weight.is_none()
}

/// Reads the actor's reply. Text without a call is an answer: models with tools reply so if they know the answer. An
/// answer beside calls was written without their results, which small models invent, so the calls are made and the
/// answer is ignored.
pub(super) fn decide(reply: &Reply) -> Decision {
    let is_finish = |call: &&ToolCall| call.tool.as_str() == markers::FINISH;
    let calls: Vec<_> = reply.calls.iter().filter(|call| !is_finish(call)).cloned().collect();
    if !calls.is_empty() {
        return Decision::Call(calls);
    }
    if let Some(finish) = reply.calls.iter().find(is_finish) {
        return match Finish::of(&finish.arguments) {
            Some(Finish::Answer(text)) => Decision::Finish(Ending::answered(text).of(reply)),
            Some(Finish::GivenUp) => Decision::Finish(Ending::without_answer(Outcome::GaveUp)),
            None => Decision::Nothing,
        };
    }
    let text = reply.text.trim();
    if text.is_empty() || reply.is_unread() {
        Decision::Nothing
    } else {
        Decision::Finish(Ending::answered(text).of(reply))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn reply(text: &str, calls: &[(&str, Value)]) -> Reply {
        let calls = calls.iter().enumerate().map(|(i, (tool, arguments))| ToolCall {
            id: i.to_string(),
            tool: ToolName::from(*tool),
            arguments: arguments.clone(),
        });
        Reply { calls: calls.collect(), ..Reply::of_text(text) }
    }

    #[test]
    fn replies_are_read_as_models_write_them() {
        let answered = |text: &str| Decision::Finish(Ending::answered(text));
        let gave_up = Decision::Finish(Ending::without_answer(Outcome::GaveUp));
        assert_eq!(decide(&reply("42", &[])), answered("42"));
        assert_eq!(decide(&reply("", &[("Finish", json!({"answer": 42}))])), answered("42"));
        assert_eq!(decide(&reply("", &[("Finish", json!("Havn"))])), answered("Havn"));
        assert_eq!(decide(&reply("", &[("Finish", json!({"answer": ""}))])), gave_up);
        assert_eq!(decide(&reply("", &[("Finish", json!({}))])), Decision::Nothing);
        assert_eq!(decide(&reply("", &[("Finish", json!({"a": 1, "b": 2}))])), Decision::Nothing);
        assert_eq!(decide(&reply("", &[("Finish", json!({"result": "42"}))])), answered("42"));
        let both = json!({"answer": "x", "gave_up": true});
        assert_eq!(decide(&reply("", &[("Finish", both)])), gave_up);
        assert_eq!(decide(&reply("  ", &[])), Decision::Nothing);
        let calls = reply("look", &[("a", json!({})), ("b", json!({}))]);
        assert_eq!(decide(&calls), Decision::Call(calls.calls.clone()));
        let early = reply("", &[("a", json!({})), ("Finish", json!({"answer": "invented"}))]);
        assert_eq!(decide(&early), Decision::Call(early.calls[..1].to_vec()));
    }
}
