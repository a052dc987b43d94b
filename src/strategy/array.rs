//! The array of tools that the requests of one task define. Endpoints cache a prompt from its beginning, where the
//! tools are: an array that changes with every menu is paid in full at every step. So the array is fixed with the first
//! menu, and holds the tools that can follow it. A menu is a part of it, listed at the end of the messages.
//!
//! Where the model's price of cached tokens makes it cheaper, the requests of a task begin with the definitions of earlier
//! tasks, to which it adds its own: then most tasks have the same beginning.

use indexmap::{IndexMap, IndexSet};

use super::{Base, Context, prompt};
use crate::domain::{
    CacheBreak, InTask, Knob, MenuItem, MenuReason, Prompt, Role, TaskEvent, TaskState, ToolName,
    tokens,
};
use crate::papers::toolnet::{Prefix, Weights};

/// Makes sure that the next requests define every tool of this menu.
pub fn cover(ctx: &impl Context, base: Base, menu: &[MenuItem]) {
    if !ctx.state(|state| state.knobs.is_on(Knob::FixTools)) {
        return;
    }
    let changed = ctx.state(|state| {
        let (tools, lost) = change(state, base, menu)?;
        let task = state.current_task()?;
        let kept = match task.array {
            Some(_) => task.defined.is_some(),
            None => keeping_costs_less(state, &tools),
        };
        let defined = task.defined.as_deref().unwrap_or_default();
        let is_new = !kept || tools.iter().any(|tool| !defined.contains(tool));
        Some((tools, kept, lost.filter(|_| is_new)))
    });
    if let Some((tools, kept, lost)) = changed {
        let tools = tools.into_iter().collect();
        ctx.say(|task| TaskEvent::ToolArraySet { task, tools, kept, lost });
    }
}

/// The tools that often follow these in the learned graph, the most likely first: the weight of the path to a tool,
/// times the weight from there. Edges no heavier than an even share carry no information.
pub fn followers(
    state: &InTask<'_>,
    tools: &[(&ToolName, f64)],
    most: usize,
) -> impl Iterator<Item = ToolName> {
    let weights = Weights::of(&state.learning, &state.knobs);
    let mut likely: IndexMap<ToolName, f64> = IndexMap::new();
    for (from, way) in tools {
        let even = 1.0 / weights.successors_len(from.as_str()).max(1) as f64;
        // More than requested, since some are on the menu or not offered.
        for next in weights.top(from.as_str(), most + tools.len()) {
            let is_known = tools.iter().any(|(tool, _)| **tool == next.to);
            if next.weight > even * SHARE && !is_known && state.plan_allows(&next.to) {
                *likely.entry(next.to).or_default() += way * next.weight;
            }
        }
    }
    likely.sort_by(|_, a, _, b| b.total_cmp(a));
    likely.into_keys().take(most)
}

/// The multiple of an even share from which an edge counts as learned, against rounding.
const SHARE: f64 = 1.001;

/// Whether to begin with the definitions of earlier tasks costs less, by the actor's price of cached tokens. False for an
/// endpoint that was seen to cache nothing.
fn keeping_costs_less(state: &InTask<'_>, some: &IndexSet<ToolName>) -> bool {
    let cached = || {
        let actor = state.models.of(Role::Actor)?;
        let [new, cached] = [actor.spec.price_in?, actor.spec.price_cached?].map(f64::from);
        let has_cache = actor.tally.cached > 0 || actor.tally.calls < FEW;
        (has_cache && new > 0.0).then(|| cached / new)
    };
    let Some(cached) = cached() else { return false };
    let kept = state.kept_tools();
    let missing: Vec<_> = some.iter().filter(|tool| !kept.contains(tool)).collect();
    if kept.len() + missing.len() > MANY {
        return false;
    }
    let laps = state.laps.iter();
    let steps: usize = laps.map(|lap| lap.tried.len() + 1).sum();
    let system = tokens::count(state.prompts.text(Prompt::Actor));
    let [kept, missing] =
        [prompt::tokens_of(state, kept.iter()), prompt::tokens_of(state, missing)];
    let window = state.models.of(Role::Actor).and_then(|actor| actor.spec.context);
    if window.is_some_and(|window| (kept + missing) * SHARE_OF_WINDOW > window) {
        return false;
    }
    let prefix = Prefix {
        kept: kept as f64,
        missing: missing as f64,
        some: prompt::tokens_of(state, some) as f64,
        system: system as f64,
        steps: if steps > 0 { steps as f64 / state.laps.iter().len() as f64 } else { STEPS },
        cached,
    };
    prefix.keeping_costs_less()
}

/// The most tools that are kept: OpenAI's endpoints refuse more in a request.
const MANY: usize = 128;
/// The part of the model's window that definitions may fill is one divided by this.
const SHARE_OF_WINDOW: u64 = 4;
/// Model calls after which an endpoint that has cached nothing counts as one without a cache.
const FEW: u32 = 12;
/// Steps of a task, assumed before any task has ended.
const STEPS: f64 = 3.0;

/// The new array, if a change is needed, and its cost.
fn change(
    state: &InTask<'_>,
    base: Base,
    menu: &[MenuItem],
) -> Option<(IndexSet<ToolName>, Option<CacheBreak>)> {
    let task = state.current_task()?;
    let offered = || menu.iter().filter(|item| item.why != MenuReason::Finish);
    let walks = base.spec().walks && !state.has_plan();
    let likely = |items: &[&MenuItem]| {
        let from: Vec<_> =
            items.iter().map(|item| (&item.tool, item.weight.map_or(0.0, f64::from))).collect();
        followers(state, &from, items.len().div_ceil(2)).collect::<Vec<_>>()
    };
    let is_there = |tool: &&ToolName| state.tools.contains_key(*tool);
    let before = task.array.as_deref();
    let missing: Vec<_> =
        offered().filter(|item| before.is_none_or(|before| !before.contains(&item.tool))).collect();
    let known = before.unwrap_or_default();
    if before.is_some() && missing.is_empty() && known.iter().all(|tool| is_there(&tool)) {
        return None;
    }
    let mut tools: IndexSet<_> = known.iter().filter(is_there).cloned().collect();
    tools.extend(missing.iter().map(|item| item.tool.clone()));
    if before.is_none() {
        let plan = task.budget.plan.iter().flat_map(|plan| &plan.tools);
        tools.extend(plan.map(|planned| planned.tool.clone()));
    }
    if walks {
        tools.extend(likely(&missing));
    }
    let most = state.knobs.count(Knob::MenuMax);
    if before.is_some() && state.has_plan() && state.offered_tools().nth(most).is_none() {
        // A plan that was widened is often widened again; an array with every tool never changes again.
        tools.extend(state.offered_tools().map(|tool| tool.spec.name.clone()));
    }
    let mut excess = tools.len().saturating_sub(most);
    tools.retain(|tool| {
        let stays = excess == 0 || offered().any(|item| item.tool == *tool);
        excess -= usize::from(!stays);
        stays
    });
    if before.is_none() {
        // The same order in every task, so that requests of two tasks may begin alike.
        tools.sort_by_key(|tool| state.tools.get_index_of(tool));
    }
    Some((tools, before.and_then(|_| lost(state, task))))
}

/// The cost of a cache break: the endpoint must read the agent's last request again, but for kept definitions before the
/// change. `None` before the first request.
fn lost(state: &InTask<'_>, task: &TaskState) -> Option<CacheBreak> {
    let mut calls = task.model_calls.iter().rev().filter_map(|call| state.model_call(*call));
    let last = calls.find(|call| call.role == Role::Actor)?;
    let kept = task.defined.iter().flat_map(|defined| defined.iter());
    let tokens = last.usage()?.tokens_in.saturating_sub(prompt::tokens_of(state, kept));
    let spec = &state.models.known.get(&last.model)?.spec;
    let dollars = spec.saved_by_cache(tokens).map(Into::into);
    Some(CacheBreak { tokens, dollars })
}
