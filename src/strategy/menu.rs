//! Menus: the choices of a step.

use std::{borrow::Cow, sync::Arc};

use indexmap::IndexSet;

use super::{Base, CallResult, Context, Observation, Sought, Trajectory, array};
use crate::domain::{InTask, Knob, MenuItem, MenuReason, Task, ToolName, ToolState};
use crate::papers::toolnet::{WeightedEdge, Weights};

/// The tools that the texts of a decision have found, each list best first.
#[derive(Clone, Debug, Default)]
pub struct FoundTools(pub Vec<(Sought, Vec<ToolName>)>);

impl FoundTools {
    /// The tools found by the text of this kind; `None` without such a text.
    fn by(&self, sought: Sought) -> Option<&[ToolName]> {
        let found = self.0.iter().find(|(kind, _)| *kind == sought);
        found.map(|(_, tools)| &**tools)
    }

    /// The tools found by the task.
    fn by_task(&self) -> &[ToolName] {
        self.by(Sought::Task).unwrap_or_default()
    }
}

/// The texts by which tools are searched before a decision, each of a different kind. An agent that walks the graph
/// also searches with its last thought, and after a failure with the failed tool's description, to find replacements.
pub fn texts<'a>(
    state: &InTask<'_>,
    walks: bool,
    task: &'a Task,
    at: &ToolName,
    trajectory: &'a Trajectory,
) -> Vec<(Cow<'a, str>, Sought)> {
    let mut texts = texts_of_planner(state, walks, task);
    if walks {
        let thought = trajectory.last_thought();
        texts.extend(thought.map(|thought| (Cow::Borrowed(thought), Sought::Need)));
        let last = trajectory.calls().last();
        let failed = last.filter(|it| matches!(it.observation, Observation::Failed(_)));
        let failed = failed.and_then(|_| state.tools.get(at));
        let described = |tool: &ToolState| (tool.spec.description.clone().into(), Sought::Tool);
        texts.extend(failed.map(described));
    }
    texts
}

/// The number of tools retrieved by each text: enough for every part of a menu.
pub fn most_found(state: &InTask<'_>) -> usize {
    let array = state.current_task().and_then(|task| task.array.as_ref());
    let [top, most, explore] =
        [Knob::TopK, Knob::MenuMax, Knob::Explore].map(|knob| state.knobs.count(knob));
    top + array.map_or(0, |array| array.len()) + most + explore + 1
}

/// Searches for tools by these texts.
async fn find(ctx: &impl Context, texts: Vec<(Cow<'_, str>, Sought)>) -> FoundTools {
    let most = ctx.state(most_found);
    let mut found = FoundTools::default();
    for (text, sought) in texts {
        found.0.push((sought, ctx.retrieve(&text, sought, most).await));
    }
    found
}

/// The menu of the next step.
pub async fn next(
    ctx: &impl Context,
    base: Base,
    task: &Task,
    at: &ToolName,
    trajectory: &Trajectory,
) -> Arc<[MenuItem]> {
    let walks = base.spec().walks;
    let texts = ctx.state(|state| texts(state, walks, task, at, trajectory));
    let found = find(ctx, texts).await;
    ctx.state(|state| menu(state, base, at, trajectory, &found))
}

/// A wider menu for an agent that walks the graph and gave up at this one: with more of the tools that match its words
/// or the task. `None` if there are no others, or if a plan determines the offer.
pub async fn wider(
    ctx: &impl Context,
    base: Base,
    task: &Task,
    at: &ToolName,
    trajectory: &Trajectory,
    menu: &[MenuItem],
) -> Option<Arc<[MenuItem]>> {
    if !ctx.state(|state| grows(state, base)) {
        return None;
    }
    let wider = next(ctx, base, task, at, trajectory).await;
    let is_new = |item: &MenuItem| menu.iter().all(|old| old.tool != item.tool);
    wider.iter().any(is_new).then_some(wider)
}

/// Whether an agent that gives up gets a wider menu: it walks the graph of more tools than a menu holds, without a plan.
pub fn grows(state: &InTask<'_>, base: Base) -> bool {
    base.spec().walks && !state.has_plan() && is_long(state)
}

/// Whether there are more tools than a menu holds.
fn is_long(state: &InTask<'_>) -> bool {
    state.offered_tools().nth(state.knobs.count(Knob::MenuMax)).is_some()
}

/// The menu of the next step, in the order in which the model sees it; `Finish` is always the last.
pub fn menu(
    state: &InTask<'_>,
    base: Base,
    at: &ToolName,
    trajectory: &Trajectory,
    found: &FoundTools,
) -> Arc<[MenuItem]> {
    let walks = base.spec().walks;
    let mut menu = match walks {
        true if at.as_str() == ToolName::START && !trajectory.gave_up() => first(state, found),
        true => successors(state, at, trajectory, found),
        false if state.has_plan() => planned(state),
        false => all(state, found),
    };
    menu.retain(|item| state.plan_allows(&item.tool));
    if menu.is_empty() {
        menu = planned(state);
    }
    let weights = Weights::of(&state.learning, &state.knobs);
    let weight = walks.then(|| weights.weight(at.as_str(), ToolName::END)).flatten();
    menu.push(item(&ToolName::end(), weight, MenuReason::Finish));
    menu.into()
}

/// All tools with planned uses left, regardless of the agent's position; for an agent that finds no path.
pub fn whole_plan(state: &InTask<'_>, base: Base, at: &ToolName) -> Arc<[MenuItem]> {
    let mut menu = planned(state);
    if base.spec().walks {
        weigh(state, at, &mut menu);
    }
    menu.push(item(&ToolName::end(), None, MenuReason::Finish));
    menu.into()
}

/// The texts by which tools are searched before a planner's decision.
pub fn texts_of_planner<'a>(
    state: &InTask<'_>,
    by_graph: bool,
    task: &'a Task,
) -> Vec<(Cow<'a, str>, Sought)> {
    let is_sought = by_graph || is_long(state);
    is_sought.then(|| (task.sought(), Sought::Task)).into_iter().collect()
}

/// The menu of a planner.
pub async fn next_of_planner(ctx: &impl Context, by_graph: bool, task: &Task) -> Arc<[MenuItem]> {
    let texts = ctx.state(|state| texts_of_planner(state, by_graph, task));
    let found = find(ctx, texts).await;
    ctx.state(|state| for_planner(state, by_graph, &found))
}

/// The menu of a planner: the budget plan with the weights of the graph, if there is a plan; else the
/// suggestions of the graph, every tool, or those that match the task.
pub fn for_planner(state: &InTask<'_>, by_graph: bool, found: &FoundTools) -> Arc<[MenuItem]> {
    let mut menu = match by_graph {
        _ if state.has_plan() => planned(state),
        true => first(state, found),
        false => all(state, found),
    };
    if by_graph {
        weigh(state, &ToolName::start(), &mut menu);
    }
    menu.into()
}

/// Adds the weights of the edges from `at`.
fn weigh(state: &InTask<'_>, at: &ToolName, menu: &mut [MenuItem]) {
    let weights = Weights::of(&state.learning, &state.knobs);
    let tools: Vec<_> = menu.iter().map(|item| item.tool.as_str()).collect();
    let edges = weights.some(at.as_str(), &tools);
    for (item, edge) in menu.iter_mut().zip(edges) {
        item.weight = edge.map(|edge| edge.weight.into());
    }
}

/// Whether a plan exists and offers nothing any more. False if there never was a tool.
pub fn is_used_up(state: &InTask<'_>, menu: &[MenuItem]) -> bool {
    state.has_plan() && menu.iter().all(|item| item.why == MenuReason::Finish)
}

/// The plan's remaining tools, in its order (BTP, algorithm 2).
fn planned(state: &InTask<'_>) -> Vec<MenuItem> {
    let plan = state.current_task().and_then(|task| task.budget.plan.as_ref());
    let tools = plan.into_iter().flat_map(|plan| &plan.tools).map(|planned| &planned.tool);
    let allowed = tools.filter(|tool| state.plan_allows(tool));
    allowed.map(|tool| item(tool, None, MenuReason::Planned)).collect()
}

fn item(tool: &ToolName, weight: Option<f64>, why: MenuReason) -> MenuItem {
    MenuItem { tool: tool.clone(), weight: weight.map(Into::into), why }
}

/// ReAct: every tool, without weights. If a menu cannot hold all, those that match the task (as the
/// paper's baselines do with massive tools).
fn all(state: &InTask<'_>, found: &FoundTools) -> Vec<MenuItem> {
    if is_long(state) {
        let hits = found.by_task().iter().take(state.knobs.count(Knob::MenuMax));
        return hits.map(|tool| item(tool, None, MenuReason::Retrieved)).collect();
    }
    state.offered_tools().map(|tool| item(&tool.spec.name, None, MenuReason::All)).collect()
}

/// ToolNet, first step: the top K tools for the task by retrieval. If fewer match, the heaviest of
/// the others fill the menu, so that learned weights help where words do not match.
fn first(state: &InTask<'_>, found: &FoundTools) -> Vec<MenuItem> {
    let k = state.knobs.count(Knob::TopK);
    let hits = &found.by_task()[..k.min(found.by_task().len())];
    let filled = heaviest(state, ToolName::START, k)
        .filter(|edge| !hits.contains(&edge.to))
        .take(k.saturating_sub(hits.len()))
        .map(|edge| item(&edge.to, Some(edge.weight), MenuReason::Filled));
    let retrieved = hits.iter().map(|tool| item(tool, None, MenuReason::Retrieved));
    let mut menu: Vec<_> = retrieved.collect();
    weigh(state, &ToolName::start(), &mut menu);
    menu.extend(filled);
    by_weight(&mut menu);
    menu
}

/// The heaviest first; equals stay in order.
fn by_weight(menu: &mut [MenuItem]) {
    let weight = |item: &MenuItem| item.weight.unwrap_or(0.0.into());
    menu.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
}

/// The heaviest successors that are offered.
fn heaviest(state: &InTask<'_>, from: &str, most: usize) -> impl Iterator<Item = WeightedEdge> {
    let off = state.tools.keys().filter(|tool| !state.offers(tool.as_str())).count();
    // `end` is in every row, and is not a tool.
    let enough = most.saturating_add(off).saturating_add(1);
    let row = Weights::of(&state.learning, &state.knobs).top(from, enough);
    row.into_iter().filter(|edge| state.offers(edge.to.as_str())).take(most)
}

/// ToolNet, later steps: the successors of the last tool, the heaviest first, followed by offers for exploration.
/// Without these, a tool added today would never be tried, nor one that can replace a broken tool. Only tools in the
/// task's array are offered, so that an endpoint's cache stays valid, as long as the array has a path.
fn successors(
    state: &InTask<'_>,
    at: &ToolName,
    trajectory: &Trajectory,
    found: &FoundTools,
) -> Vec<MenuItem> {
    let array = state.current_task().and_then(|task| task.array.as_deref());
    let ways = match array {
        Some(inside) => ways_inside(state, at, inside),
        None => whole_row(state, at, found),
    };
    let mut menu: Vec<_> =
        ways.iter().map(|tool| item(tool, None, MenuReason::Successor)).collect();
    weigh(state, at, &mut menu);
    menu.retain(|item| item.weight.is_some());
    by_weight(&mut menu);
    menu.truncate(state.knobs.count(Knob::MenuMax));
    let offers = explored(state, at, trajectory, found, &menu).into_iter();
    let offers = offers.take(offers_besides(state, trajectory));
    menu.extend(offers.map(|tool| item(tool, None, MenuReason::Explore)));
    menu
}

/// The number of tools offered besides the successors: more if the agent found no suitable one among them.
fn offers_besides(state: &InTask<'_>, trajectory: &Trajectory) -> usize {
    let explore = state.knobs.count(Knob::Explore);
    if trajectory.gave_up() { explore + state.knobs.count(Knob::TopK) } else { explore }
}

/// The tools of the array, and the successors outside it if none inside is learned.
fn ways_inside(state: &InTask<'_>, at: &ToolName, inside: &[ToolName]) -> IndexSet<ToolName> {
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

/// Every successor, as in the paper. If a menu cannot hold all: the learned ones, then those that match the last
/// thought or the task, since the edges of all others weigh the same.
fn whole_row(state: &InTask<'_>, at: &ToolName, found: &FoundTools) -> IndexSet<ToolName> {
    let most = state.knobs.count(Knob::MenuMax);
    let row = heaviest(state, at.as_str(), most).map(|edge| edge.to);
    if !is_long(state) {
        return row.collect();
    }
    let mut ways: IndexSet<_> = array::followers(state, &[(at, 1.0)], most).collect();
    for hits in [found.by(Sought::Need), found.by(Sought::Task)].into_iter().flatten() {
        ways.extend(hits.iter().take(most).cloned());
    }
    ways.extend(row);
    ways.truncate(most);
    ways
}

/// Tools besides the successors: those that match the last thought, else the task; after a failure alternately with
/// those that match the description of the failed tool. Tools that the agent requested and was refused come first.
/// Tools outside the array only if one is needed: the last call did not help, or one of them matches the last thought
/// best.
fn explored<'a>(
    state: &InTask<'_>,
    at: &ToolName,
    trajectory: &'a Trajectory,
    found: &'a FoundTools,
    menu: &[MenuItem],
) -> IndexSet<&'a ToolName> {
    let explore = offers_besides(state, trajectory);
    let wanted = found.by(Sought::Need).unwrap_or(found.by_task());
    let array = state.current_task().and_then(|task| task.array.as_deref());
    let inside = |tool: &ToolName| array.is_none_or(|array| array.contains(tool));
    let reaches_out =
        is_stuck(state, trajectory) || wanted.first().is_some_and(|best| !inside(best));
    let is_new = |tool: &ToolName| {
        let fits = reaches_out || inside(tool);
        fits && tool != at && menu.iter().all(|item| item.tool != *tool)
    };
    let most = array.map_or(0, <[_]>::len) + menu.len() + explore + 1;
    let matching =
        |hits: &'a [ToolName]| hits.iter().take(most).filter(|tool| is_new(tool)).take(explore);
    let mut stand_ins = found.by(Sought::Tool).into_iter().flat_map(matching);
    let mut fitting = [wanted, found.by_task()].into_iter().flat_map(matching);
    let in_turn = std::iter::from_fn(|| {
        let next = [stand_ins.next(), fitting.next()];
        next.iter().any(Option::is_some).then_some(next)
    });
    let asked_for = refused(trajectory).filter(|tool| is_new(tool) && state.offers(tool.as_str()));
    asked_for.chain(in_turn.flatten().flatten()).collect()
}

/// Tools that the agent just requested, and that were not on its menu.
fn refused(trajectory: &Trajectory) -> impl Iterator<Item = &ToolName> {
    let called = trajectory.turns.last().into_iter().flat_map(|turn| &turn.called);
    let refused = called.filter(|called| matches!(called.observation, Observation::Refused(_)));
    refused.map(|called| &called.tool)
}

/// Whether the last decision had no effect: no call ran, or none of them helped.
fn is_stuck(state: &InTask<'_>, trajectory: &Trajectory) -> bool {
    let Some(turn) = trajectory.turns.last() else { return false };
    let helped = |called: &CallResult| {
        let result = matches!(called.observation, Observation::Result(_) | Observation::More(_));
        let call = state.tool_call(called.id);
        result && call.is_none_or(|call| call.helpful != Some(false))
    };
    !turn.called.iter().any(helped)
}
