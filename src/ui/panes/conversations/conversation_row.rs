//! A conversation as a row: its status, its usage, and the last words.

use std::collections::{BTreeMap, HashMap};

use ratatui::style::Style;

use crate::domain::{
    EffectId, Hold, ModelCallPhase, Outcome, RunId, State, TaskId, TaskPhase, TaskState,
    ToolCallState,
};
use crate::panes::inline_json;
use crate::symbols::{DONE, FAILED, HELD, LEADS, REFUSED, RUNNING, WAITING};
use crate::theme::Theme;

/// The most characters of the last words.
const WORDS: usize = 400;

/// A run with the sums of its tasks.
#[derive(Clone, Debug)]
pub(super) struct Talk<'a> {
    pub run: RunId,
    /// How many conversations are above this one in the tree.
    pub depth: usize,
    /// The last task that has started, else the first task; `None` if there are no tasks.
    pub task: Option<&'a TaskState>,
    pub model_calls: usize,
    pub tool_calls: usize,
    pub tokens: u64,
    pub dollars: f64,
    pub unpriced: u32,
    pub listed: bool,
}

/// The status of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    Held,
    /// A model call runs.
    Running,
    /// The agent has its reply and has not sent the next request.
    Agent,
    Over(Outcome),
    /// No task has started.
    Queued,
}

impl Stands {
    /// Whether a running task waits for its watched agent: no model call of the task runs.
    pub fn is_of_agent(state: &State, task: &TaskState) -> bool {
        let asks = || state.model_calls_in_flight().any(|call| call.task == task.id);
        state.watched.is_some() && !asks()
    }

    pub fn look(self, theme: &Theme) -> (&'static str, &'static str, Style) {
        match self {
            Stands::Held => (HELD, "held", theme.paused),
            Stands::Running => (RUNNING, "running", theme.running),
            Stands::Agent => (WAITING, "agent's turn", theme.text),
            Stands::Over(Outcome::Answered) => (DONE, "answered", theme.good),
            Stands::Over(Outcome::Stopped) => (REFUSED, "stopped", theme.dim),
            Stands::Over(Outcome::Failed) => (FAILED, "failed", theme.bad),
            Stands::Over(outcome) => (FAILED, outcome.name(), theme.warn),
            Stands::Queued => (WAITING, "queued", theme.dim),
        }
    }
}

/// All conversations, each below the conversation that began it.
pub(super) fn all(state: &State) -> Vec<Talk<'_>> {
    let mut talks: BTreeMap<RunId, Talk<'_>> =
        runs(state).map(|run| (run, Talk::new(run))).collect();
    let flying = in_flight(state);
    for task in state.tasks.iter() {
        if let Some(talk) = talks.get_mut(&task.task.run) {
            talk.add(task, flying.get(&task.id).copied().unwrap_or_default());
        }
    }
    let mut below: BTreeMap<Option<RunId>, Vec<RunId>> = BTreeMap::new();
    for run in talks.keys() {
        below
            .entry(parent(state, *run).filter(|it| talks.contains_key(it)))
            .or_default()
            .push(*run);
    }
    let mut ordered = Vec::with_capacity(talks.len());
    let mut next: Vec<(RunId, usize)> = Vec::new();
    let mut open = |parent: Option<RunId>, depth, next: &mut Vec<(RunId, usize)>| {
        let children = below.remove(&parent).unwrap_or_default();
        next.extend(children.into_iter().rev().map(|run| (run, depth)));
    };
    open(None, 0, &mut next);
    while let Some((run, depth)) = next.pop() {
        ordered.extend(talks.remove(&run).map(|talk| Talk { depth, ..talk }));
        open(Some(run), depth + 1, &mut next);
    }
    // In a damaged journal a conversation can be its own parent.
    ordered.extend(talks.into_values());
    ordered
}

/// The numbers of model calls and tool calls in flight of each task. There may be hundreds of tasks at work.
fn in_flight(state: &State) -> HashMap<TaskId, (usize, usize)> {
    let mut flying: HashMap<_, (usize, usize)> = HashMap::new();
    state.model_calls_in_flight().for_each(|call| flying.entry(call.task).or_default().0 += 1);
    state.tool_calls_in_flight().for_each(|call| flying.entry(call.task).or_default().1 += 1);
    flying
}

/// The conversations; without watched agents all runs.
fn runs(state: &State) -> Box<dyn Iterator<Item = RunId> + '_> {
    match state.watched {
        Some(_) => Box::new(state.runs.keys().copied()),
        None => Box::new(state.all_runs()),
    }
}

fn parent(state: &State, run: RunId) -> Option<RunId> {
    state.runs.get(&run)?.guest.as_ref()?.parent
}

impl<'a> Talk<'a> {
    fn new(run: RunId) -> Self {
        Self {
            run,
            depth: 0,
            task: None,
            model_calls: 0,
            tool_calls: 0,
            tokens: 0,
            dollars: 0.0,
            unpriced: 0,
            listed: false,
        }
    }

    fn add(&mut self, task: &'a TaskState, (asked, called): (usize, usize)) {
        if self.task.is_none() || task.phase != TaskPhase::Queued {
            self.task = Some(task);
        }
        // Like all panes, counts only calls that have ended.
        self.model_calls += task.model_calls.len().saturating_sub(asked);
        self.tool_calls += task.tool_calls.len().saturating_sub(called);
        self.tokens = self.tokens.saturating_add(task.tokens());
        self.dollars += *task.dollars;
        self.unpriced = self.unpriced.saturating_add(task.unpriced);
        self.listed |= task.listed;
    }

    /// The first hold on one of the conversation's lanes.
    fn hold<'s>(&self, state: &'s State) -> Option<&'s Hold> {
        state.control.held.iter().find(|hold| state.run_of_lane(hold.lane) == self.run)
    }

    pub fn stands(&self, state: &State) -> Stands {
        if self.hold(state).is_some() {
            return Stands::Held;
        }
        match self.task {
            Some(TaskState { phase: TaskPhase::Done { outcome }, .. }) => Stands::Over(*outcome),
            Some(task) if task.phase == TaskPhase::Running => {
                if Stands::is_of_agent(state, task) {
                    Stands::Agent
                } else {
                    Stands::Running
                }
            }
            Some(_) | None => Stands::Queued,
        }
    }

    /// The hold or the running calls, else the answer, or the last reply or error.
    pub fn words(&self, state: &State) -> String {
        let Some(task) = self.task else { return String::new() };
        if let Some(hold) = self.hold(state) {
            return format!("held {}", hold.boundary.name());
        }
        if let Some(call) = state.model_calls_in_flight().rfind(|call| call.task == task.id) {
            return match call.partial.trim() {
                "" => call.model.to_string(),
                partial => start(partial),
            };
        }
        let calls = state.tool_calls_in_flight().filter(|call| call.task == task.id);
        let calls: Vec<String> = calls.map(called).collect();
        if !calls.is_empty() {
            return calls.join(" · ");
        }
        task.answer.as_deref().map(start).or_else(|| said(state, task)).unwrap_or_default()
    }
}

/// `→ get_weather(city: "Lisbon")`
fn called(call: &ToolCallState) -> String {
    let arguments = inline_json::arguments(call.shown_arguments(), WORDS);
    format!("{LEADS} {}({arguments})", call.tool)
}

/// The reply or error of a task's last model call; `None` while the call is unfinished.
fn said(state: &State, task: &TaskState) -> Option<String> {
    let last = |id: &EffectId| state.model_call(*id);
    match &task.model_calls.iter().rev().find_map(last)?.phase {
        ModelCallPhase::Done { reply } => Some(start(reply.said())),
        ModelCallPhase::Failed { error } => Some(start(&error.text)),
        ModelCallPhase::Requested | ModelCallPhase::Running => None,
    }
}

/// The beginning, on one line.
fn start(text: &str) -> String {
    let words = crate::text::start(text, WORDS).split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}
