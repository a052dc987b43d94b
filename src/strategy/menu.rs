//! Menus: the choices of a step.

use std::sync::Arc;

use indexmap::IndexSet;

use super::{Base, CallResult, Context, Look, Observation, Sought, Trajectory, array};
use crate::domain::{Knob, MenuItem, Offered, State, Task, ToolName};
use crate::papers::toolnet::{WeightedEdge, Weights};

/// The menu of the next step, after the texts by which tools are looked for were read.
pub async fn next(
    ctx: &impl Context,
    base: Base,
    task: &Task,
    at: &ToolName,
    trajectory: &Trajectory,
) -> Arc<[MenuItem]> {
    let walks = base.spec().walks;
    if walks || ctx.state(is_long) {
        ctx.read(&task.sought(), Sought::Task).await;
    }
    if let Some(thought) = trajectory.last_thought().filter(|_| walks) {
        ctx.read(thought, Sought::Need).await;
    }
    menu(ctx, base, task, at, trajectory)
}

/// Whether there are more tools than a menu holds.
fn is_long(state: &State) -> bool {
    state.offered_tools().nth(state.knobs.count(Knob::MenuMax)).is_some()
}

/// The menu of the next step, in the order in which the model sees it; `Finish` is always the last.
pub fn menu(
    ctx: &impl Look,
    base: Base,
    task: &Task,
    at: &ToolName,
    trajectory: &Trajectory,
) -> Arc<[MenuItem]> {
    let walks = base.spec().walks;
    let mut menu = match walks {
        true if at.as_str() == ToolName::START => first(ctx, task),
        true => successors(ctx, task, at, trajectory),
        false if ctx.state(State::has_plan) => planned(ctx),
        false => all(ctx, task),
    };
    menu.retain(|item| ctx.state(|state| state.plan_allows(&item.tool)));
    if menu.is_empty() {
        menu = planned(ctx);
    }
    let weigh = |state: &State| {
        let weights = Weights::of(&state.learning, &state.knobs);
        weights.weight(at.as_str(), ToolName::END)
    };
    let weight = if walks { ctx.state(weigh) } else { None };
    menu.push(MenuItem {
        tool: ToolName::end(),
        weight: weight.map(Into::into),
        why: Offered::Finish,
    });
    menu.into()
}

/// All tools with planned uses left, regardless of the agent's position; for an agent that finds no
/// way on.
pub fn whole_plan(ctx: &impl Look, base: Base, at: &ToolName) -> Arc<[MenuItem]> {
    let mut menu = planned(ctx);
    if base.spec().walks {
        weigh(ctx, at, &mut menu);
    }
    menu.push(MenuItem { tool: ToolName::end(), weight: None, why: Offered::Finish });
    menu.into()
}

/// The menu of a planner, after the task was read.
pub async fn next_of_planner(ctx: &impl Context, by_graph: bool, task: &Task) -> Arc<[MenuItem]> {
    if by_graph || ctx.state(is_long) {
        ctx.read(&task.sought(), Sought::Task).await;
    }
    for_planner(ctx, by_graph, task)
}

/// The menu of a planner: the budget plan with the weights of the graph, if there is a plan; else the
/// suggestions of the graph, every tool, or those that match the task.
pub fn for_planner(ctx: &impl Look, by_graph: bool, task: &Task) -> Arc<[MenuItem]> {
    let mut menu = match by_graph {
        _ if ctx.state(State::has_plan) => planned(ctx),
        true => first(ctx, task),
        false => all(ctx, task),
    };
    if by_graph {
        weigh(ctx, &ToolName::start(), &mut menu);
    }
    menu.into()
}

/// Adds the weights of the edges from `at`.
fn weigh(ctx: &impl Look, at: &ToolName, menu: &mut [MenuItem]) {
    ctx.state(|state| {
        let weights = Weights::of(&state.learning, &state.knobs);
        for item in menu {
            item.weight = weights.weight(at.as_str(), item.tool.as_str()).map(Into::into);
        }
    });
}

/// Whether a plan exists and offers nothing any more. Not checked if there never was a tool.
pub fn is_used_up(ctx: &impl Look, menu: &[MenuItem]) -> bool {
    ctx.state(State::has_plan) && menu.iter().all(|item| item.why == Offered::Finish)
}

/// The plan's remaining tools, in its order (BTP, algorithm 2).
fn planned(ctx: &impl Look) -> Vec<MenuItem> {
    ctx.state(|state| {
        let plan = state.current_task().and_then(|task| task.budget.plan.as_ref());
        let tools = plan.into_iter().flat_map(|plan| &plan.tools).map(|planned| &planned.tool);
        tools
            .filter(|tool| state.plan_allows(tool))
            .map(|tool| MenuItem { tool: tool.clone(), weight: None, why: Offered::Planned })
            .collect()
    })
}

/// ReAct: every tool, without weights. If a menu cannot hold all, those that match the task (as the
/// paper's baselines do with massive tools).
fn all(ctx: &impl Look, task: &Task) -> Vec<MenuItem> {
    let item = |tool: ToolName, why| MenuItem { tool, weight: None, why };
    let (most, every) = ctx.state(|state| {
        let most = state.knobs.count(Knob::MenuMax);
        let every = state.offered_tools().take(most + 1).map(|tool| tool.spec.name.clone());
        (most, every.collect::<Vec<_>>())
    });
    if every.len() <= most {
        return every.into_iter().map(|tool| item(tool, Offered::All)).collect();
    }
    let hits = ctx.retrieve(&task.sought(), most);
    hits.into_iter().map(|tool| item(tool, Offered::Retrieved)).collect()
}

/// ToolNet, first step: the top K tools for the task by retrieval. If fewer match, the heaviest of
/// the others fill the menu, so that learned weights help where words do not match.
fn first(ctx: &impl Look, task: &Task) -> Vec<MenuItem> {
    let k = ctx.state(|state| state.knobs.count(Knob::TopK));
    let hits = ctx.retrieve(&task.sought(), k);
    let mut menu = ctx.state(|state| {
        let weights = Weights::of(&state.learning, &state.knobs);
        let filled = heaviest(state, ToolName::START, k)
            .filter(|edge| !hits.contains(&edge.to))
            .take(k.saturating_sub(hits.len()))
            .map(|edge| MenuItem {
                tool: edge.to,
                weight: Some(edge.weight.into()),
                why: Offered::Filled,
            });
        let retrieved = hits.iter().map(|tool| MenuItem {
            tool: tool.clone(),
            weight: weights.weight(ToolName::START, tool.as_str()).map(Into::into),
            why: Offered::Retrieved,
        });
        retrieved.chain(filled).collect::<Vec<_>>()
    });
    menu.sort_by(|a, b| b.weight.unwrap_or(0.0.into()).total_cmp(&a.weight.unwrap_or(0.0.into())));
    menu
}

/// The heaviest successors that are offered.
fn heaviest(state: &State, from: &str, most: usize) -> impl Iterator<Item = WeightedEdge> {
    let off = state.tools.keys().filter(|tool| !state.offers(tool.as_str())).count();
    // `end` is in every row, and is no tool.
    let enough = most.saturating_add(off).saturating_add(1);
    let row = Weights::of(&state.learning, &state.knobs).top(from, enough);
    row.into_iter().filter(|edge| state.offers(edge.to.as_str())).take(most)
}

/// ToolNet, later steps: the successors of the last tool, the heaviest first, followed by offers
/// for exploration. Without these, a tool added today would never be tried, nor one that can stand
/// in for a broken tool. Of the array of the task only, so that an endpoint's cache stays valid, as
/// long as that has a way on.
fn successors(
    ctx: &impl Look,
    task: &Task,
    at: &ToolName,
    trajectory: &Trajectory,
) -> Vec<MenuItem> {
    let array = ctx.state(|state| state.current_task().and_then(|task| task.array.clone()));
    let ways = match &array {
        Some(inside) => ctx.state(|state| ways_inside(state, at, inside)),
        None => whole_row(ctx, at, task, trajectory),
    };
    let (mut menu, explore) = ctx.state(|state| {
        let weights = Weights::of(&state.learning, &state.knobs);
        let item = |tool: ToolName| {
            let weight = weights.weight(at.as_str(), tool.as_str())?;
            Some(MenuItem { tool, weight: Some(weight.into()), why: Offered::Successor })
        };
        let mut menu: Vec<_> = ways.into_iter().filter_map(item).collect();
        menu.sort_by(|a, b| {
            b.weight.unwrap_or(0.0.into()).total_cmp(&a.weight.unwrap_or(0.0.into()))
        });
        menu.truncate(state.knobs.count(Knob::MenuMax));
        (menu, state.knobs.count(Knob::Explore))
    });
    let offers = explored(ctx, at, task, trajectory, (&menu, explore));
    let item = |tool| MenuItem { tool, weight: None, why: Offered::Explore };
    menu.extend(offers.into_iter().map(item));
    menu
}

/// The tools of the array, and the successors that lead out of it if none inside is learned.
fn ways_inside(state: &State, at: &ToolName, inside: &[ToolName]) -> IndexSet<ToolName> {
    let known = |tool: &ToolName| inside.contains(tool);
    let most = state.knobs.count(Knob::MenuMax);
    let mut ways: Vec<_> = array::followers(state, &[(at, 1.0)], most).collect();
    if ways.iter().any(known) {
        ways.retain(known);
    } else {
        ways.truncate(state.knobs.count(Knob::TopK).div_ceil(2));
    }
    ways.extend(inside.iter().filter(|tool| state.offers(tool.as_str())).cloned());
    ways.into_iter().collect()
}

/// Every successor, as in the paper. If a menu cannot hold all: those that the graph has learned, then
/// those that match the last thought or the task, since the edges of all others weigh the same.
fn whole_row(
    ctx: &impl Look,
    at: &ToolName,
    task: &Task,
    trajectory: &Trajectory,
) -> IndexSet<ToolName> {
    let most = ctx.state(|state| state.knobs.count(Knob::MenuMax));
    let row = ctx.state(|state| heaviest(state, at.as_str(), most).map(|edge| edge.to).collect());
    if !ctx.state(is_long) {
        return row;
    }
    let known = [(at, 1.0)];
    let mut ways: IndexSet<_> = ctx.state(|state| array::followers(state, &known, most).collect());
    for text in trajectory.last_thought().into_iter().chain([&*task.sought()]) {
        ways.extend(ctx.retrieve(text, most));
    }
    ways.extend(row);
    ways.truncate(most);
    ways
}

/// Tools besides the successors: those that match the last thought, else the task; after a failure
/// in turn with those that match the description of the failed tool, since another may do the same.
/// What the agent asked for and was refused comes first.
/// Tools outside the array only if one is needed: the last call did not help, or one of them matches the
/// last thought best.
fn explored(
    ctx: &impl Look,
    at: &ToolName,
    task: &Task,
    trajectory: &Trajectory,
    (menu, explore): (&[MenuItem], usize),
) -> IndexSet<ToolName> {
    let sought = task.sought();
    let wanted = trajectory.last_thought().unwrap_or(&sought);
    let array = ctx.state(|state| state.current_task().and_then(|task| task.array.clone()));
    let inside = |tool: &ToolName| array.as_ref().is_none_or(|array| array.contains(tool));
    let reaches_out = is_stuck(ctx, trajectory)
        || ctx.retrieve(wanted, 1).first().is_some_and(|best| !inside(best));
    let is_new = |tool: &ToolName| {
        let fits = reaches_out || inside(tool);
        fits && tool != at && menu.iter().all(|item| item.tool != *tool)
    };
    let most = array.as_ref().map_or(0, |array| array.len()) + menu.len() + explore + 1;
    let matching = |text: &str| {
        let hits = ctx.retrieve(text, most);
        hits.into_iter().filter(is_new).take(explore).collect::<Vec<_>>()
    };
    let last = trajectory.calls().last();
    let has_failed =
        last.is_some_and(|called| matches!(called.observation, Observation::Failed(_)));
    let described = |state: &State| state.tools.get(at).map(|tool| tool.spec.description.clone());
    let failed = has_failed.then(|| ctx.state(described)).flatten();
    let mut stand_ins = failed.as_deref().into_iter().flat_map(&matching);
    let mut fitting = [wanted, &sought].into_iter().flat_map(&matching);
    let in_turn = std::iter::from_fn(|| {
        let next = [stand_ins.next(), fitting.next()];
        next.iter().any(Option::is_some).then_some(next)
    });
    let asked_for = refused(trajectory)
        .filter(|tool| is_new(tool) && ctx.state(|state| state.offers(tool.as_str())));
    let mut offers: IndexSet<ToolName> = IndexSet::new();
    for tool in asked_for.chain(in_turn.flatten().flatten()) {
        if offers.len() == explore {
            break;
        }
        offers.insert(tool);
    }
    offers
}

/// Tools that the agent just asked for, and that were not on its menu.
fn refused(trajectory: &Trajectory) -> impl Iterator<Item = ToolName> {
    let called = trajectory.turns.last().into_iter().flat_map(|turn| &turn.called);
    let refused = called.filter(|called| matches!(called.observation, Observation::Refused(_)));
    refused.map(|called| called.tool.clone())
}

/// Whether the last decision brought nothing: no call ran, or none of them helped.
fn is_stuck(ctx: &impl Look, trajectory: &Trajectory) -> bool {
    let Some(turn) = trajectory.turns.last() else { return false };
    let helped = |called: &CallResult| {
        let result = matches!(called.observation, Observation::Result(_) | Observation::More(_));
        result
            && ctx.state(|state| {
                state.tool_call(called.id).is_none_or(|call| call.helpful != Some(false))
            })
    };
    !turn.called.iter().any(helped)
}
