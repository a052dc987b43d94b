//! The moment of a journal at which a fork begins: found without keeping what comes before it.

use std::collections::HashMap;
use std::path::Path;

use super::fork_edit::EditedPart;
use super::fork_spec::ForkSpec;
use super::repetition::misplaced;
use crate::domain::state::{Keeps, RECENT};
use crate::domain::{EffectId, Event, Opening, Record, SessionEvent, State, TaskEvent};
use crate::engine::{Division, RecordSource};
use crate::store::journal::{Header, JournalReader};

/// A moment of a session.
pub(super) struct Moment {
    pub header: Header,
    pub opening: Option<Opening>,
    /// The number of its event.
    pub at: u64,
    /// The call of its event.
    pub call: Option<EffectId>,
    /// The state there.
    pub state: State,
    /// The state before the tasks that were at work then.
    pub past: State,
    /// The records up to it that a session needs for its start.
    pub facts: Vec<Record>,
}

/// The reading of the journal up to the moment.
struct Search {
    opening: Option<Opening>,
    facts: Vec<Record>,
    call: Option<EffectId>,
    /// The number of the first event of a task.
    begun: Option<u64>,
    last: u64,
    /// The state where no task was at work last.
    idle: State,
    /// The records since then.
    since: Vec<Record>,
    division: Division,
}

impl Search {
    fn new() -> Self {
        Self {
            opening: None,
            facts: Vec::new(),
            call: None,
            begun: None,
            last: 0,
            idle: State::keeping(Keeps::Tasks(RECENT)),
            since: Vec::new(),
            division: Division::default(),
        }
    }

    /// Takes the next record; those behind the moment only say how far the journal goes.
    fn take(&mut self, record: Record, at: u64) {
        self.last = record.n;
        if matches!(record.event, Event::Task(TaskEvent::TaskStarted { .. })) {
            self.begun.get_or_insert(record.n);
        }
        if record.n > at {
            return;
        }
        self.call = record.event.effect().map(|effect| effect.id);
        if let Event::Session(SessionEvent::SessionOpened { opening }) = &record.event {
            self.opening.get_or_insert_with(|| (**opening).clone());
        }
        if RecordSource::is_fact(&record) {
            self.facts.push(record.clone());
        }
        self.division.take(&record.event);
        self.since.push(record);
        // What the end of a session writes is not divided from what comes before it.
        if self.division.is_between_tasks() {
            self.since.drain(..).for_each(|record| self.idle.apply(&record));
            self.division = Division::default();
        }
    }
}

impl Moment {
    /// Finds the moment of an event or a call; with a part of that call, the moment at which that part is known.
    ///
    /// # Errors
    /// The journal cannot be read, or has no such moment.
    pub fn find(path: &Path, fork: &ForkSpec, part: Option<EditedPart>) -> Result<Self, String> {
        let open = || JournalReader::open(path).map_err(|error| error.to_string());
        let at = match (part, fork.call) {
            (None, None) => fork.at,
            (part, call) => known_at(open()?, (fork.at, call), part)?,
        };
        let mut search = Search::new();
        let mut reader = open()?;
        for record in reader.by_ref() {
            search.take(record.map_err(|error| error.to_string())?, at);
            // What is wrong is said with the range of what is right.
            if search.last >= at && search.begun.is_some_and(|begun| begun <= at) {
                break;
            }
        }
        let remark = reader.remark().map(|remark| format!(" ({remark})")).unwrap_or_default();
        if let Some(why) = misplaced(at, search.begun, search.last) {
            return Err(format!("{why}{remark}"));
        }
        let Search { opening, facts, call, idle, since, division, .. } = search;
        let parts = division.range();
        let mut past = idle;
        let (before, rest) = since.split_at(parts.start);
        before.iter().for_each(|record| past.apply(record));
        let mut state = past.clone();
        rest.iter().take(parts.len()).for_each(|record| state.apply(record));
        let at = state.n;
        Ok(Self { header: reader.header, opening, at, call, state, past, facts })
    }
}

/// The event with which a part of a call is known: of this call, else of the one of this event. Without a part, that of
/// its request.
fn known_at(
    reader: JournalReader,
    (at, meant): (u64, Option<EffectId>),
    part: Option<EditedPart>,
) -> Result<u64, String> {
    let (mut calls, mut sought, mut last) = (HashMap::new(), None, 0);
    for record in reader {
        let record = record.map_err(|error| error.to_string())?;
        last = record.n;
        let is_event = meant.is_none() && last == at;
        let Some(id) = record.event.effect().map(|effect| effect.id) else {
            if is_event {
                return Err(format!("event {at}, {}, is not one of a call", record.event.kind()));
            }
            continue;
        };
        let is_of = (
            matches!(record.event, Event::ToolCall(_)),
            matches!(record.event, Event::ModelCall(_)),
        );
        let call = calls.entry(id).or_insert(CallPlace { requested: last, ended: None, is_of });
        if record.event.is_end() {
            call.ended = Some(last);
        }
        if is_event || meant == Some(id) {
            sought = Some(id);
        }
        if sought != Some(id) {
            continue;
        }
        let Some(part) = part else { return Ok(call.requested) };
        let (fits, what) = match part.is_of_tool {
            true => (call.is_of.0, "a tool call"),
            false => (call.is_of.1, "a model call"),
        };
        if !fits {
            return Err(format!("call {id} is not {what}"));
        }
        let place = if part.is_outcome { call.ended } else { Some(call.requested) };
        if let Some(place) = place {
            return Ok(place);
        }
    }
    Err(match (sought, meant) {
        (Some(id), _) => format!("call {id} has no outcome in it that could change"),
        (None, Some(id)) => format!("there is no call {id}"),
        (None, None) => format!("there is no event {at}; the last is {last}"),
    })
}

/// Where a call is in a journal.
struct CallPlace {
    requested: u64,
    ended: Option<u64>,
    /// Whether it is one of a tool, and of a model.
    is_of: (bool, bool),
}
