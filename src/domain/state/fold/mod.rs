//! The fold: what each family of events does to the state, and how an event finds its family. The parts
//! of the state know nothing of this.

use crate::event::{By, Event, Record, TaskEvent};
use crate::id::TaskId;
use crate::state::undo::{PRESSES, joined};
use crate::state::{State, TranscriptLine, What};

mod breakpoints;
mod budget;
mod consent;
mod control;
mod edits;
mod effects;
mod embeddings;
mod faults;
mod forget;
mod learning;
mod model_calls;
mod probes;
mod problems;
mod programs;
mod reader;
mod runs;
mod search;
mod servers;
mod session;
mod tasks;
mod tool_calls;
mod tools;
mod work;

impl State {
    /// The state after these events.
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut state = State::default();
        for record in records {
            state.apply(record);
        }
        state
    }

    /// Folds one event.
    pub fn apply(&mut self, record: &Record) {
        self.n = record.n;
        self.at = record.at;
        record.event.fold(self, record.at);
        self.weigh(&record.event);
        self.unknown_fields += record.newer.as_ref().map_or(0, |newer| newer.fields.len() as u64);
        self.control.changes.remember(record);
        let is_edit = self.is_edit(record);
        self.landmarks.remember(record.n, &record.event, is_edit);
        self.note_overrun(record);
        self.note_problems(&record.event);
        self.transcribe(record);
        if let Event::Task(TaskEvent::TaskFinished { .. }) = &record.event {
            self.forget();
        }
    }

    /// Whether a person's change counts as an edit: the settings of a session before its first task do not, and quick
    /// presses of a key count once.
    fn is_edit(&self, record: &Record) -> bool {
        let has_begun = !self.at_work.is_empty() || self.tasks_done > 0;
        let change = self.control.changes.undo.last().filter(|change| change.last == record.n);
        has_begun && change.is_none_or(|change| change.n == record.n)
    }

    fn transcribe(&mut self, record: &Record) {
        if let Some((task, what)) = record.event.line(self) {
            self.add_line(record, task, what);
        }
        if let Some(newer) = &record.newer {
            self.add_line(record, None, What::Newer { fields: newer.fields.clone() });
        }
    }

    fn add_line(&mut self, record: &Record, task: Option<TaskId>, mut what: What) {
        let task = task.or_else(|| self.at_work.shown());
        if let Some((at, joined)) = self.pressed_again(record, &what) {
            self.transcript.split_off(at);
            what = joined;
        }
        self.transcript.push(TranscriptLine { n: record.n, at: record.at, task, what });
    }

    /// The place of the line that this key press continues, and both as one line. The budget plan that the earlier
    /// press led to is part of that.
    fn pressed_again(&self, record: &Record, what: &What) -> Option<(usize, What)> {
        let What::Told { event } = what else { return None };
        let lines = &self.transcript;
        let last = lines.len().checked_sub(1)?;
        let at = match lines.get(last)?.what {
            What::BudgetPlanned { .. } => last.checked_sub(1)?,
            _ => last,
        };
        let line = lines.get(at)?;
        let What::Told { event: before } = &line.what else { return None };
        let is_quick = record.at.saturating_sub(line.at) <= PRESSES;
        let is_press = is_quick && event.by() == Some(By::User);
        let event = joined(before, event).filter(|_| is_press)?;
        Some((at, What::Told { event: Box::new(event) }))
    }
}

/// Effect of a family of events on the state of a session.
trait Family {
    /// Changes the state by an event that happened at this moment, in microseconds since the session was
    /// opened.
    fn fold(&self, state: &mut State, at: u64);

    /// The line of the transcript that the event makes, if any, with its task if that is not the one at
    /// work. The state has folded the event.
    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        None
    }
}

impl Event {
    /// Changes the state by this event.
    fn fold(&self, state: &mut State, at: u64) {
        match self.family() {
            Some(family) => family.fold(state, at),
            None => state.unknown_events += 1,
        }
    }

    /// The line of the transcript that the event makes, if any.
    fn line(&self, state: &State) -> Option<(Option<TaskId>, What)> {
        match self.family() {
            Some(family) => family.line(state),
            None => What::told(self.clone()),
        }
    }

    /// `None` for a kind that this version does not know.
    fn family(&self) -> Option<&dyn Family> {
        Some(match self {
            Event::Session(event) => event,
            Event::Task(event) => event,
            Event::Run(event) => event,
            Event::ModelCall(event) => event,
            Event::ToolCall(event) => event,
            Event::Embedding(event) => event,
            Event::Fault(event) => event,
            Event::Budget(event) => event,
            Event::Plan(event) => event,
            Event::Program(event) => event,
            Event::Probe(event) => event,
            Event::Reader(event) => event,
            Event::Search(event) => event,
            Event::Graph(event) => event,
            Event::Change(event) => event,
            Event::Control(event) => event,
            Event::Breakpoint(event) => event,
            Event::Edit(event) => event,
            Event::Consent(event) => event,
            Event::Server(event) => event,
            Event::Unknown { .. } => return None,
        })
    }
}
