//! Observations of a session for its check. They are summed up during the session, since a state forgets old tasks.

use std::collections::{BTreeMap, HashSet};

use super::expect::{Expectations, TaskRef};
use crate::domain::chance::{Chance, canonical};
use crate::domain::{
    EffectClass, EffectRef, Event, FaultKind, Lap, Origin, Outcome, Record, RunId, State,
    TaskEvent, ToolCallEvent, ToolName,
};
use crate::report::TaskReport;

/// The most repeated writes that are named.
const NAMED: usize = 3;

/// Sums over a session so far.
#[derive(Debug, Default)]
pub struct Observed {
    /// Sums over ended tasks.
    sums: TaskSums,
    /// Tasks that ended with an answer.
    pub answered: u64,
    /// Tasks whose answer is right.
    pub right: u64,
    /// Tasks that can be scored.
    pub judged: u64,
    /// The tasks that expectations name, by their numbers.
    pub tasks: BTreeMap<u32, EndedTask>,
    /// Conversations of a watched agent, if expectations name some.
    pub conversations: BTreeMap<RunId, Conversation>,
    /// Short summaries of all tasks, if the agent must recover.
    pub laps: Vec<Lap>,
    /// Hashes of the writes so far.
    writes: HashSet<u64>,
    /// The first repeated writes.
    pub repeated: Vec<String>,
    /// Number of repeated writes.
    pub repeats: u64,
    /// The tasks that expectations name, in their form.
    named: Vec<TaskRef>,
    keeps_laps: bool,
    keeps_conversations: bool,
}

/// A conversation of a watched agent so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// Text of the first message.
    pub begins: String,
    /// All messages together as one task, with the last answer.
    pub whole: EndedTask,
}

/// Calls, tokens, credits and US dollars of tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskSums {
    /// Calls of each tool that was called.
    pub used: BTreeMap<ToolName, u64>,
    pub model_calls: u64,
    pub tokens: u64,
    pub credits: f64,
    /// A lower bound if the price of a model call is unknown.
    pub dollars: f64,
    pub is_unpriced: bool,
}

/// A task that has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndedTask {
    pub name: String,
    pub has_answered: bool,
    pub answer: Option<String>,
    pub correct: Option<bool>,
    pub sums: TaskSums,
}

impl Observed {
    /// Empty observations, for the check of these expectations.
    pub fn new(expect: &Expectations) -> Self {
        let named = expect.tasks.iter().map(|task| task.task.clone()).collect();
        Self {
            named,
            keeps_laps: expect.recovered.is_some(),
            keeps_conversations: !expect.conversations.is_empty(),
            ..Self::default()
        }
    }

    /// Observations of a session whose state has the details of all its tasks.
    pub fn of(state: &State) -> Self {
        let mut observed = Self::default();
        for task in state.tasks.iter().take(state.tasks_done) {
            observed.task(&TaskReport::of(state, task), task.model_calls.len() as u64);
        }
        for call in &state.tool_calls {
            observed.write(state, call.reference());
        }
        observed
    }

    /// Takes in an event that the state has folded.
    pub fn take(&mut self, state: &State, record: &Record) {
        match &record.event {
            Event::Task(TaskEvent::TaskFinished { task, .. }) => {
                let Some(task) = state.task(*task) else { return };
                let model_calls = task.model_calls.len() as u64;
                self.converse(&TaskReport::of(state, task), task.task.run, model_calls);
                self.task(&TaskReport::of(state, task), model_calls);
                self.laps.extend(state.laps.last().filter(|_| self.keeps_laps).cloned());
            }
            Event::Task(TaskEvent::TasksQueued { tasks, .. }) if self.keeps_conversations => {
                for task in tasks {
                    let known = self.conversations.entry(task.run);
                    known.or_insert_with(|| Conversation {
                        begins: task.text.clone(),
                        whole: EndedTask::default(),
                    });
                }
            }
            Event::ToolCall(
                ToolCallEvent::ToolCallFinished { effect, .. }
                | ToolCallEvent::ToolCallFailed { effect, .. },
            ) => self.write(state, *effect),
            _ => {}
        }
    }

    /// Adds a task to its conversation.
    fn converse(&mut self, report: &TaskReport, run: RunId, model_calls: u64) {
        if let Some(known) = self.conversations.get_mut(&run) {
            let whole = &mut known.whole;
            whole.has_answered = report.outcome == Some(Outcome::Answered);
            whole.answer.clone_from(&report.answer);
            whole.sums.add(&TaskSums::of(report, model_calls));
        }
    }

    fn task(&mut self, report: &TaskReport, model_calls: u64) {
        let sums = TaskSums::of(report, model_calls);
        self.sums.add(&sums);
        self.answered += u64::from(report.outcome == Some(Outcome::Answered));
        self.right += u64::from(report.correct == Some(true));
        self.judged += u64::from(report.can_be_scored());
        let number = report.n.0;
        let is_named = self.named.iter().any(|named| match named {
            TaskRef::Number(known) => *known == number,
            // Among several tasks of one name, the first counts.
            TaskRef::Name(name) => {
                *name == report.name && self.tasks.values().all(|task| task.name != *name)
            }
        });
        if is_named {
            let task = EndedTask {
                name: report.name.clone(),
                has_answered: report.outcome == Some(Outcome::Answered),
                answer: report.answer.clone(),
                correct: report.correct,
                sums,
            };
            self.tasks.insert(number, task);
        }
    }

    /// Notes a call that may have changed something. A failed call may have, too.
    fn write(&mut self, state: &State, effect: EffectRef) {
        if !matches!(effect.class, EffectClass::Write | EffectClass::Unknown) {
            return;
        }
        let Some(call) = state.tool_call(effect.id) else { return };
        let injected = call.injected.and_then(|fault| state.faults.get(&fault));
        let was_made = match effect.origin {
            Origin::Live => true,
            Origin::Injected => injected.is_none_or(|fault| !replaces(&fault.spec.kind)),
            _ => false,
        };
        if call.started.is_none() || call.is_by_hand() || !was_made {
            return;
        }
        let key = format!("{} {}", call.tool, canonical(&call.arguments));
        if self.writes.insert(Chance::new(0).with(key.as_bytes()).bits()) {
            return;
        }
        self.repeats += 1;
        if self.repeated.len() < NAMED {
            self.repeated.push(key);
        }
    }

    /// Returns the sums of the session. Some model calls, such as those that class tools, belong to no task.
    pub fn sums_of(&self, state: &State) -> TaskSums {
        let totals = state.totals();
        TaskSums {
            model_calls: totals.model_calls as u64,
            dollars: *totals.dollars.unwrap_or_default(),
            is_unpriced: totals.unpriced > 0,
            ..self.sums.clone()
        }
    }

    /// Whether any call may have changed something.
    pub fn has_writes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// A task that expectations name.
    pub fn named(&self, task: &TaskRef) -> Option<&EndedTask> {
        match task {
            TaskRef::Number(number) => self.tasks.get(number),
            TaskRef::Name(name) => self.tasks.values().find(|task| task.name == *name),
        }
    }
}

impl TaskSums {
    fn of(report: &TaskReport, model_calls: u64) -> Self {
        let mut used: BTreeMap<ToolName, u64> = BTreeMap::new();
        for tool in &report.tools {
            *used.entry(tool.clone()).or_default() += 1;
        }
        let grading = report.grading.as_ref();
        Self {
            used,
            model_calls,
            tokens: report.tokens_in.saturating_add(report.tokens_out),
            credits: report.cost,
            dollars: report.dollars.unwrap_or(0.0)
                + grading.map_or(0.0, |grading| *grading.dollars),
            is_unpriced: report.dollars.is_none()
                || grading.is_some_and(|grading| grading.unpriced > 0),
        }
    }

    fn add(&mut self, more: &Self) {
        for (tool, calls) in &more.used {
            *self.used.entry(tool.clone()).or_default() += calls;
        }
        self.model_calls += more.model_calls;
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.credits += more.credits;
        self.dollars += more.dollars;
        self.is_unpriced |= more.is_unpriced;
    }

    /// Calls of all tools.
    pub fn calls(&self) -> u64 {
        self.used.values().sum()
    }
}

/// Whether a fault of this kind replaces the call, so that the tool does nothing.
fn replaces(kind: &FaultKind) -> bool {
    *kind == FaultKind::Timeout || kind.tool_outcome(Chance::new(0)).is_some()
}
