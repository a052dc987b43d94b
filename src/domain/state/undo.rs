//! The changes of the user that can be undone, and the undone changes that can be redone.
//!
//! Both are stacks of changes. Undoing is itself a change, so that redoing is undoing the undo.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};

use crate::event::{BudgetEvent, By, ChangeEvent, Event, GraphEvent, Record, ToolVerdict};
use crate::{command::Command, id::TaskId, id::ToolName};

/// Key presses are one change while each follows the previous one within this time, in microseconds.
pub const PRESSES: u64 = 1_000_000;

/// A change that can be taken back.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Undoable {
    /// The event that it began with.
    pub n: u64,
    /// The event that it ended with; a later one than `n` if a key was pressed several times.
    pub last: u64,
    /// Time of the last event, in microseconds since the session was opened.
    pub at: u64,
    /// The whole change as one event.
    pub event: Event,
}

impl Undoable {
    /// The command that takes the change back.
    pub fn back(&self) -> Option<Command> {
        self.event.opposite()
    }

    /// The change together with a key press that belongs to it.
    fn joined(&self, record: &Record) -> Option<Self> {
        let event = joined(&self.event, &record.event)?;
        (record.at.saturating_sub(self.at) <= PRESSES).then(|| Self {
            n: self.n,
            last: record.n,
            at: record.at,
            event,
        })
    }
}

impl From<&Record> for Undoable {
    fn from(record: &Record) -> Self {
        let Record { n, at, event, .. } = record;
        Self { n: *n, last: *n, at: *at, event: event.clone() }
    }
}

impl Serialize for Undoable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut change = serializer.serialize_struct("Undoable", 5)?;
        change.serialize_field("n", &self.n)?;
        change.serialize_field("last", &self.last)?;
        change.serialize_field("at", &self.at)?;
        change.serialize_field("event", &self.event)?;
        change.serialize_field("back", &self.back())?;
        change.end()
    }
}

/// Changes that can be undone, and changes that can be redone. The oldest change is the first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Changes {
    pub undo: Vec<Undoable>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redo: Vec<Undoable>,
}

impl Changes {
    /// Notes a change of the user, an undo or a redo.
    pub(super) fn remember(&mut self, record: &Record) {
        if !record.event.is_undoable() {
            return;
        }
        match record.event.by().unwrap_or(By::Engine) {
            By::User => self.push(record),
            By::Undo(n) => {
                take(&mut self.undo, n);
                self.redo.push(Undoable::from(record));
            }
            By::Redo(n) => {
                take(&mut self.redo, n);
                self.undo.push(Undoable::from(record));
            }
            By::Engine => {}
        }
    }

    /// Adds a new change, which discards all undone ones. It may continue the change before it.
    fn push(&mut self, record: &Record) {
        let before = self.undo.last().filter(|_| self.redo.is_empty());
        let change = match before.and_then(|before| before.joined(record)) {
            Some(joined) => {
                self.undo.pop();
                joined
            }
            None => Undoable::from(record),
        };
        self.redo.clear();
        if !is_nothing(&change.event) {
            self.undo.push(change);
        }
    }

    fn both(&mut self) -> impl Iterator<Item = &mut Event> {
        self.undo.iter_mut().chain(&mut self.redo).map(|change| &mut change.event)
    }

    /// Keeps what the evaluator has added to a score that the user set: undo and redo must not remove it.
    pub(super) fn keep_learned(&mut self, verdict: &ToolVerdict) {
        for event in self.both() {
            if let Event::Graph(GraphEvent::ScoreSet { tool, score, was, .. }) = event
                && *tool == verdict.tool
            {
                *score += f64::from(verdict.score);
                *was += f64::from(verdict.score);
            }
        }
    }

    /// Notes that the agent has used a tool: undo and redo of its remaining uses must not give that use back.
    pub(super) fn keep_used(&mut self, at: TaskId, used: &ToolName) {
        for event in self.both() {
            if let Event::Budget(BudgetEvent::UsesSet { task, tool, uses, was, .. }) = event
                && (*task, &*tool) == (at, used)
            {
                *uses = uses.saturating_sub(1);
                *was = was.saturating_sub(1);
            }
        }
    }

    /// Discards changes of remaining uses in a task that has ended.
    pub(super) fn end_task(&mut self, ended: TaskId) {
        let is_over = |change: &Undoable| match &change.event {
            Event::Budget(BudgetEvent::UsesSet { task, .. }) => *task == ended,
            _ => false,
        };
        self.undo.retain(|change| !is_over(change));
        self.redo.retain(|change| !is_over(change));
    }
}

/// Removes the change that began with this event. In a session that runs again times differ, so one change there may be
/// several here.
fn take(changes: &mut Vec<Undoable>, n: u64) {
    let Some(at) = changes.iter().position(|change| change.n == n) else { return };
    let taken = changes.remove(at);
    while changes.get(at).is_some_and(|later| joined(&taken.event, &later.event).is_some()) {
        changes.remove(at);
    }
}

/// Two changes as one, if the user turned the same thing by a key.
pub(super) fn joined(first: &Event, then: &Event) -> Option<Event> {
    match (first, then) {
        (
            Event::Change(ChangeEvent::KnobTurned { knob, was, by: By::User, .. }),
            Event::Change(ChangeEvent::KnobTurned { knob: same, value, by, .. }),
        ) if knob == same => {
            let (knob, was, value, by) = (*knob, *was, *value, *by);
            Some(ChangeEvent::KnobTurned { knob, value, was, by }.into())
        }
        (
            Event::Graph(GraphEvent::ScoreSet { tool, was, by: By::User, .. }),
            Event::Graph(GraphEvent::ScoreSet { tool: same, score, by, .. }),
        ) if tool == same => {
            let (tool, was, score, by) = (tool.clone(), *was, *score, *by);
            Some(GraphEvent::ScoreSet { tool, score, was, by }.into())
        }
        (
            Event::Budget(BudgetEvent::UsesSet { task, tool, was, by: By::User, .. }),
            Event::Budget(BudgetEvent::UsesSet { task: too, tool: same, uses, by, .. }),
        ) if (task, tool) == (too, same) => {
            let (task, tool, uses, was, by) = (*task, tool.clone(), *uses, *was, *by);
            Some(BudgetEvent::UsesSet { task, tool, uses, was, by }.into())
        }
        _ => None,
    }
}

/// Whether all is as before, so that there is nothing to undo.
fn is_nothing(event: &Event) -> bool {
    match event {
        Event::Change(ChangeEvent::KnobTurned { value, was, .. }) => value == was,
        Event::Graph(GraphEvent::ScoreSet { score, was, .. }) => score == was,
        Event::Budget(BudgetEvent::UsesSet { uses, was, .. }) => uses == was,
        _ => false,
    }
}
