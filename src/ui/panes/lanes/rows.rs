//! The lanes of a task: its model calls and tool calls in the order of the wire, and those of its sub-agents below the
//! call that began them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use crate::domain::{
    EffectId, EffectState, Hold, Lane, ModelCallState, RunId, State, TaskId, TaskState,
    ToolCallState,
};
use crate::hits::Target;
use crate::panes::calls::track::without;

/// The most agents below each other that are drawn.
const DEEPEST: usize = 6;
/// The shortest text by which a sub-agent is recognised in its parent's call.
const TELLING: usize = 12;
/// The most microseconds between the ends of calls whose results came in one request.
const TOGETHER: u64 = 100_000;

/// An effect with a lane.
#[derive(Clone, Copy, Debug)]
pub enum LaneCall<'a> {
    Model(&'a ModelCallState),
    Tool(&'a ToolCallState),
}

/// A lane.
#[derive(Clone, Debug)]
pub struct LaneRow<'a> {
    pub call: LaneCall<'a>,
    /// Number of agents above the call's own.
    pub nested: usize,
    /// The calls of its answer, with this one; empty for a model call.
    pub answer: Rc<[&'a ToolCallState]>,
}

/// All lanes of a task.
#[derive(Clone, Debug)]
pub struct LaneRows<'a> {
    pub state: &'a State,
    pub rows: Vec<LaneRow<'a>>,
    /// The task, and those of its sub-agents.
    pub tasks: Vec<&'a TaskState>,
}

/// The task whose lanes have those of this one: of the agent above all others.
pub fn root_of<'a>(state: &'a State, task: &'a TaskState) -> &'a TaskState {
    let mut root = task;
    for _ in 0..DEEPEST {
        let guest = state.runs.get(&root.task.run).and_then(|run| run.guest.as_ref());
        let Some(parent) = guest.and_then(|guest| guest.parent) else { return root };
        let began = |it: &&TaskState| it.task.run == parent && it.started <= root.started;
        match state.tasks.iter().rev().map(|it| &**it).filter(|it| it.started.is_some()).find(began)
        {
            Some(above) if above.id != root.id => root = above,
            _ => return root,
        }
    }
    root
}

impl<'a> LaneRows<'a> {
    /// `with_models`: model calls have lanes too.
    pub fn of(state: &'a State, task: &'a TaskState, with_models: bool) -> Self {
        Self::with(state, task, &below(state), with_models)
    }

    /// The same with the [sub-agents](below), which are found once for many tasks.
    pub fn with(
        state: &'a State,
        task: &'a TaskState,
        below: &BTreeMap<RunId, Vec<&'a TaskState>>,
        with_models: bool,
    ) -> Self {
        let mut all = Self { state, rows: Vec::new(), tasks: Vec::new() };
        all.add(task, 0, below, &mut BTreeSet::new());
        if !with_models {
            all.rows.retain(|row| matches!(row.call, LaneCall::Tool(_)));
        }
        all
    }

    fn add(
        &mut self,
        task: &'a TaskState,
        nested: usize,
        below: &BTreeMap<RunId, Vec<&'a TaskState>>,
        done: &mut BTreeSet<TaskId>,
    ) {
        if nested > DEEPEST || !done.insert(task.id) {
            return;
        }
        self.tasks.push(task);
        let state = self.state;
        let mut calls: Vec<EffectId> =
            task.model_calls.iter().chain(&task.tool_calls).copied().collect();
        calls.extend(state.calls_by_hand(task.id));
        calls.sort_unstable();
        calls.dedup();
        let mut of_answer: BTreeMap<EffectId, Vec<&ToolCallState>> = BTreeMap::new();
        for call in calls.iter().filter_map(|id| state.tool_call(*id)) {
            of_answer.entry(call.parent.unwrap_or(call.id)).or_default().push(call);
        }
        let of_answer: BTreeMap<EffectId, Rc<[&ToolCallState]>> =
            of_answer.into_iter().map(|(parent, calls)| (parent, calls.into())).collect();
        let begun = begun_by(state, task, below.get(&task.task.run).map_or(&[], Vec::as_slice));
        for id in calls {
            if let Some(call) = state.model_call(id) {
                let call = LaneCall::Model(call);
                self.rows.push(LaneRow { call, nested, answer: Rc::default() });
            }
            let Some(call) = state.tool_call(id) else { continue };
            let answer = of_answer.get(&call.parent.unwrap_or(id)).cloned().unwrap_or_default();
            self.rows.push(LaneRow { call: LaneCall::Tool(call), nested, answer });
            for sub in begun.get(&id).into_iter().flatten() {
                self.add(sub, nested + 1, below, done);
            }
        }
    }

    /// The row of an effect.
    pub fn row_of(&self, id: EffectId) -> Option<usize> {
        self.rows.iter().position(|row| row.effect().id == id)
    }

    /// When something was held and nothing ran: start and end, in order, without overlaps, in microseconds.
    pub fn gaps(&self, now: u64) -> Vec<(u64, u64)> {
        let state = self.state;
        let mut held: Vec<_> = self.tasks.iter().flat_map(|task| task.held.clone()).collect();
        for hold in &state.control.held {
            let is_of_tasks =
                |run| self.tasks.iter().any(|it| state.at_work.of(run) == Some(it.id));
            match hold.lane {
                Lane::Run(run) if is_of_tasks(run) => held.push((hold.since, now)),
                Lane::Run(_) | Lane::Effect(_) => {}
            }
        }
        let has_held = |row: &LaneRow<'_>| !row.effect().holds.is_empty();
        if held.is_empty() && state.control.held.is_empty() && !self.rows.iter().any(has_held) {
            return held;
        }
        let mut ran = Vec::new();
        for row in &self.rows {
            let own = row.held(state, now);
            let effect = row.effect();
            if let Some(started) = effect.started {
                let whole = vec![(started, effect.ended.unwrap_or(now))];
                ran.extend(without(whole, own.clone()));
            }
            held.extend(own);
        }
        without(held, ran)
    }

    /// First request and last end, in microseconds of the session; to now while anything is open.
    pub fn span(&self, now: u64) -> (u64, u64) {
        let effects = || self.rows.iter().map(LaneRow::effect);
        let is_open = self.tasks.iter().any(|task| task.outcome().is_none());
        let start = effects().map(|it| it.requested).min().unwrap_or(now);
        let end = effects().map(|it| it.ended.unwrap_or(now)).max().unwrap_or(now);
        let end = if is_open { end.max(now) } else { end };
        (start, end.max(start.saturating_add(1)))
    }
}

impl<'a> LaneRow<'a> {
    pub fn effect(&self) -> &'a EffectState {
        match self.call {
            LaneCall::Model(call) => &call.effect,
            LaneCall::Tool(call) => &call.effect,
        }
    }

    /// The place of a tool call among those of its answer.
    pub fn place(&self) -> usize {
        self.answer.iter().position(|it| it.id == self.effect().id).unwrap_or(0)
    }

    /// The other calls of its answer.
    fn siblings(&self) -> impl Iterator<Item = &'a ToolCallState> {
        let own = self.effect().id;
        self.answer.iter().copied().filter(move |it| it.id != own)
    }

    pub fn target(&self) -> Target {
        Target::Call(self.effect().id)
    }

    pub fn hold<'s>(&self, state: &'s State) -> Option<&'s Hold> {
        state.control.hold_of(self.effect().lane)
    }

    /// The held call of the same answer for which this one waits: an agent gets all calls of an answer at once.
    pub fn waits_for(&self, state: &State) -> Option<EffectId> {
        if self.effect().is_over() || self.hold(state).is_some() {
            return None;
        }
        let held = |it: &&ToolCallState| it.started.is_none() && state.control.is_held(it.lane);
        self.siblings().find(held).map(|it| it.id)
    }

    /// When the call was held, or waited for a held call of its answer: start and end, in microseconds.
    pub fn held(&self, state: &State, now: u64) -> Vec<(u64, u64)> {
        let own = self.effect();
        let mut held = own.holds.clone();
        held.extend(self.hold(state).map(|hold| (hold.since, now)));
        for other in self.siblings() {
            let until = |end: u64| other.started.is_none_or(|started| end <= started);
            held.extend(other.holds.iter().copied().filter(|(_, end)| until(*end)));
            let hold = state.control.hold_of(other.lane).filter(|_| other.started.is_none());
            held.extend(hold.map(|hold| (hold.since, now)));
        }
        held.retain(|(from, to)| from < to);
        held.sort_unstable();
        held
    }

    /// How long the agent or toolyard had the call, without held time, in microseconds.
    pub fn took(&self, state: &State, now: u64) -> u64 {
        let own = self.effect();
        let (from, to) = (own.started.unwrap_or(own.requested), own.ended.unwrap_or(now));
        let mut free = to.saturating_sub(from);
        let mut done = from;
        for (begin, end) in self.held(state, now) {
            let (begin, end) = (begin.max(done), end.min(to));
            free = free.saturating_sub(end.saturating_sub(begin));
            done = done.max(end);
        }
        free
    }

    /// Whether the results of all calls of the answer came at the same time.
    pub fn is_back_together(&self) -> bool {
        let ends = || {
            let own = [self.effect().ended].into_iter();
            own.chain(self.siblings().map(|it| it.ended))
        };
        let (first, last) = (ends().min().flatten(), ends().max().flatten());
        let relayed = |it: &ToolCallState| it.relayed.is_some() || it.injected.is_some();
        let is_apart = self.answer.iter().any(|it| relayed(it));
        let near = first.zip(last).is_some_and(|(first, last)| last - first < TOGETHER);
        self.answer.len() > 1 && !is_apart && near
    }
}

/// The tasks of sub-agents, by the runs that began them.
pub fn below(state: &State) -> BTreeMap<RunId, Vec<&TaskState>> {
    let parent = |run: &RunId| state.runs.get(run)?.guest.as_ref()?.parent;
    let mut below: BTreeMap<RunId, Vec<&TaskState>> = BTreeMap::new();
    if state.runs.keys().all(|run| parent(run).is_none()) {
        return below;
    }
    for task in state.tasks.iter().filter(|task| task.started.is_some()) {
        if let Some(parent) = parent(&task.task.run) {
            below.entry(parent).or_default().push(task);
        }
    }
    below
}

/// The sub-agents' tasks that each call of a task has begun: of the calls that were open, the last one with the first
/// words of the sub-agent in its arguments, else the last one.
fn begun_by<'a>(
    state: &'a State,
    task: &'a TaskState,
    subs: &[&'a TaskState],
) -> BTreeMap<EffectId, Vec<&'a TaskState>> {
    let mut begun: BTreeMap<EffectId, Vec<&TaskState>> = BTreeMap::new();
    for sub in subs {
        let Some(started) = sub.started else { continue };
        let calls = task.tool_calls.iter().rev().filter_map(|id| state.tool_call(*id));
        let is_open = |call: &&ToolCallState| {
            call.requested <= started && call.ended.is_none_or(|ended| ended >= started)
        };
        let open: Vec<_> = calls.filter(is_open).collect();
        let has_words = |call: &&&ToolCallState| has_text(&call.arguments, sub.task.text.trim());
        let call = open.iter().find(has_words).or(open.first());
        call.into_iter().for_each(|call| begun.entry(call.id).or_default().push(sub));
    }
    begun
}

/// Whether a text of these arguments has this text, or is part of it.
fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => {
            let own = own.trim();
            own.len().min(text.len()) >= TELLING && (own.contains(text) || text.contains(own))
        }
        Value::Array(items) => items.iter().any(|item| has_text(item, text)),
        Value::Object(fields) => fields.values().any(|item| has_text(item, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
