//! Observations of a session for its check. They are summed up during the session, since a state forgets old tasks.

use std::collections::{BTreeMap, HashSet};

use super::expect::{Expectations, TaskRef};
use super::expected_call::{ComparedCalls, ExpectedCall};
use crate::domain::chance::{Chance, canonical};
use crate::domain::words::counted;
use crate::domain::{
    EffectClass, EffectRef, Event, FaultKind, Lap, Origin, Outcome, Record, RunEvent, RunId, State,
    TaskEvent, TaskState, ToolCallEvent, ToolName,
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
    /// The calls with arguments that expectations name, by their text.
    called: BTreeMap<String, ExpectedCall>,
    /// Tasks of a watched agent that ended without an answer because the agent or the session ended.
    stopped: u64,
    /// Whether a watched agent has ended.
    has_ended: bool,
    keeps_laps: bool,
    keeps_conversations: bool,
}

/// A conversation of a watched agent so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// Text of the first question.
    pub begins: String,
    /// The task of each question.
    pub questions: Vec<EndedTask>,
}

/// Calls, tokens, credits and US dollars of tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskSums {
    /// Calls of each tool that was called.
    pub used: BTreeMap<ToolName, u64>,
    /// Calls of each tool for which arguments are expected, by the text of the expected call.
    pub compared: BTreeMap<String, ComparedCalls>,
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
    /// Whether the end of the agent or of the session stopped it, or a person.
    pub is_stopped: bool,
    pub answer: Option<String>,
    pub correct: Option<bool>,
    pub sums: TaskSums,
}

impl Observed {
    /// Empty observations, for the check of these expectations.
    pub fn new(expect: &Expectations) -> Self {
        let named = expect.tasks.iter().map(|task| task.task.clone()).collect();
        let called = expect.limits().flat_map(|(_, limits)| limits.called().map(|(_, it)| it));
        let called = called.filter(|it| matches!(it, ExpectedCall::With { .. }));
        Self {
            called: called.map(|it| (it.to_string(), it.clone())).collect(),
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
            observed.task(state, task);
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
                self.task(state, task);
                self.laps.extend(state.laps.last().filter(|_| self.keeps_laps).cloned());
            }
            Event::Task(TaskEvent::TasksQueued { tasks, .. }) if self.keeps_conversations => {
                for task in tasks {
                    let known = self.conversations.entry(task.run);
                    known.or_insert_with(|| Conversation {
                        begins: task.text.clone(),
                        questions: Vec::new(),
                    });
                }
            }
            Event::ToolCall(
                ToolCallEvent::ToolCallFinished { effect, .. }
                | ToolCallEvent::ToolCallFailed { effect, .. },
            ) => self.write(state, *effect),
            Event::Run(RunEvent::AgentEnded { .. }) => self.has_ended = true,
            _ => {}
        }
    }

    /// Adds a task that has ended, also to its conversation.
    fn task(&mut self, state: &State, task: &TaskState) {
        let report = TaskReport::of(state, task);
        let mut sums = TaskSums::of(&report, task.model_calls.len() as u64);
        let calls = task.tool_calls.iter().filter_map(|call| state.tool_call(*call));
        for call in calls.filter(|call| call.started.is_some()) {
            for (text, expected) in &self.called {
                if let ExpectedCall::With { tool, args } = expected
                    && *tool == call.tool
                {
                    let compared = sums.compared.entry(text.clone()).or_default();
                    compared.take(args, call.own.as_ref().unwrap_or(&call.arguments));
                }
            }
        }
        let ended = EndedTask {
            name: report.name.clone(),
            has_answered: report.outcome == Some(Outcome::Answered),
            is_stopped: report.outcome == Some(Outcome::Stopped),
            answer: report.answer.clone(),
            correct: report.correct,
            sums,
        };
        self.sums.add(&ended.sums);
        self.answered += u64::from(ended.has_answered);
        let is_guest = state.runs.get(&task.task.run).is_some_and(|run| run.guest.is_some());
        self.stopped += u64::from(ended.is_stopped && is_guest);
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
        if let Some(known) = self.conversations.get_mut(&task.task.run) {
            known.questions.push(ended.clone());
        }
        if is_named {
            self.tasks.insert(number, ended);
        }
    }

    /// Tasks of a watched agent that were stopped because a person ended the session. The agent cannot help it.
    pub fn cut_off(&self) -> u64 {
        if self.has_ended { 0 } else { self.stopped }
    }

    /// Whether this question to a watched agent is such a task.
    pub fn is_cut_off(&self, question: &EndedTask) -> bool {
        question.is_stopped && !self.has_ended
    }

    /// All questions of a conversation together as one task, with the last answer.
    pub fn whole(&self, conversation: &Conversation) -> EndedTask {
        let questions = &conversation.questions;
        let last = questions.iter().rfind(|it| !self.is_cut_off(it)).or(questions.last());
        let mut whole =
            EndedTask { sums: TaskSums::default(), ..last.cloned().unwrap_or_default() };
        questions.iter().for_each(|question| whole.sums.add(&question.sums));
        whole
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
            compared: BTreeMap::new(),
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
        for (called, more) in &more.compared {
            self.compared.entry(called.clone()).or_default().add(more);
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

    /// The number of these calls, and the text of what was found.
    pub fn of_calls(&self, called: &ExpectedCall) -> (u64, String) {
        match called {
            ExpectedCall::Tool(tool) => {
                let calls = self.used.get(tool).copied().unwrap_or_default();
                (calls, counted(calls, "call"))
            }
            ExpectedCall::With { .. } => {
                let compared = self.compared.get(&called.to_string()).cloned().unwrap_or_default();
                (compared.calls, compared.found())
            }
        }
    }
}

/// Whether a fault of this kind replaces the call, so that the tool does nothing.
fn replaces(kind: &FaultKind) -> bool {
    *kind == FaultKind::Timeout || kind.tool_outcome(Chance::new(0)).is_some()
}
