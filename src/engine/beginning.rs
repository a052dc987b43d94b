//! How a session begins: from nothing, over a record, after a past, or as a fork.

use std::path::PathBuf;

use crate::domain::call_policy::CallPolicy;
use crate::domain::state::{Keeps, RECENT};
use crate::domain::{Command, Event, ReaderEvent, Record, State};
use crate::store::journal::{JournalError, JournalReader};

/// How a session begins.
#[derive(Clone, Debug, Default)]
pub enum Beginning {
    /// From nothing.
    #[default]
    New,
    /// Over the records of an earlier session: its effects and interventions are used as long as they fit. A fork uses
    /// those up to the event with this number, and is live from there.
    Over { of: RecordSource, until: Option<u64> },
    /// After the past of an interrupted session, up to the tasks that were at work (see [`crate::resumable`]).
    Continued { past: Past, rest: Option<Rest> },
    /// From a moment of an earlier session: after its past, up to the tasks that were at work then, and over the records
    /// from there on.
    Forked { past: Past, of: RecordSource, point: Box<ForkPoint> },
}

/// The moment at which a session leaves the one that it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkPoint {
    /// The number of the last event that is repeated. A call that had started by then ends as recorded.
    pub at: u64,
    /// The source of the answers to calls that come later.
    pub calls: CallPolicy,
    /// The changes there, in their order.
    pub commands: Vec<Command>,
}

/// The records of an earlier session that this one repeats. Those of a long session stay in its journal.
#[derive(Clone, Debug)]
pub enum RecordSource {
    Held(Vec<Record>),
    Journal {
        path: PathBuf,
        /// The records that a session needs for its start.
        facts: Vec<Record>,
        /// The number of the last record that is left out.
        after: u64,
    },
}

impl From<Vec<Record>> for RecordSource {
    fn from(records: Vec<Record>) -> Self {
        Self::Held(records)
    }
}

impl RecordSource {
    /// Whether a session needs this record for its start, wherever it is.
    pub fn is_fact(record: &Record) -> bool {
        matches!(record.event, Event::Run(_) | Event::Reader(ReaderEvent::HeadsLoaded { .. }))
    }

    /// The records that the start needs.
    pub fn facts(&self) -> &[Record] {
        match self {
            Self::Held(records) => records,
            Self::Journal { facts, .. } => facts,
        }
    }
}

impl IntoIterator for RecordSource {
    type Item = Record;
    type IntoIter = Box<dyn Iterator<Item = Record>>;

    /// The records in their order, up to one that cannot be read any more.
    fn into_iter(self) -> Self::IntoIter {
        match self {
            Self::Held(records) => Box::new(records.into_iter()),
            Self::Journal { path, after, .. } => {
                let read = JournalReader::open(&path).into_iter().flatten();
                let read = read.map_while(Result::ok);
                Box::new(read.skip_while(move |record| record.n <= after))
            }
        }
    }
}

/// How a session continues where it was interrupted. Without it, the tasks that were at work begin again.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// The records of those tasks (see [`crate::Division`]).
    pub records: Vec<Record>,
    /// Whether calls with an unknown outcome are made again without asking.
    pub repeats_unknown: bool,
}

/// The records of an earlier session that this one takes over as its own. Those of a long session stay in its journal.
#[derive(Clone, Debug, Default)]
pub struct Past {
    source: PastSource,
    /// The state after these records, with the details of its last tasks.
    state: Box<State>,
}

#[derive(Clone, Debug)]
enum PastSource {
    Held(Vec<Record>),
    /// The first records of this journal.
    Journal(PathBuf, u64),
}

impl Default for PastSource {
    fn default() -> Self {
        Self::Held(Vec::new())
    }
}

impl From<Vec<Record>> for Past {
    fn from(records: Vec<Record>) -> Self {
        let mut state = Box::new(State::keeping(Keeps::Tasks(RECENT)));
        records.iter().for_each(|record| state.apply(record));
        Self { source: PastSource::Held(records), state }
    }
}

impl Past {
    /// The records of a journal that this state is the fold of.
    pub fn of_journal(path: PathBuf, state: State) -> Self {
        Self { source: PastSource::Journal(path, state.n), state: Box::new(state) }
    }

    /// The state after these records, with the details of its last tasks.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The records in memory; those that stay in a journal are left out.
    pub fn held(&self) -> &[Record] {
        match &self.source {
            PastSource::Held(records) => records,
            PastSource::Journal(..) => &[],
        }
    }

    /// Takes each record, in order.
    ///
    /// # Errors
    /// The journal cannot be read any more.
    pub fn each(self, mut take: impl FnMut(Record)) -> Result<(), JournalError> {
        match self.source {
            PastSource::Held(records) => records.into_iter().for_each(take),
            PastSource::Journal(path, count) => {
                for record in JournalReader::open(&path)?.take_while(is_of(count)) {
                    take(record?);
                }
            }
        }
        Ok(())
    }
}

/// Whether a record is one of the first `count`; a fault is one, too.
fn is_of(count: u64) -> impl FnMut(&Result<Record, JournalError>) -> bool {
    move |read| read.as_ref().map_or(true, |record| record.n <= count)
}

impl Beginning {
    /// A beginning after this past, or from nothing if it has no records.
    pub fn after(past: Vec<Record>) -> Self {
        match past.is_empty() {
            true => Self::New,
            false => Self::Continued { past: past.into(), rest: None },
        }
    }

    /// The records that the start needs of an earlier session over which this one runs.
    pub fn facts(&self) -> &[Record] {
        match self {
            Self::Over { of, .. } | Self::Forked { of, .. } => of.facts(),
            Self::New | Self::Continued { .. } => &[],
        }
    }

    /// The past that the session takes over, if it has one.
    pub fn past(&self) -> Option<&Past> {
        match self {
            Self::Continued { past, .. } | Self::Forked { past, .. } => Some(past),
            Self::New | Self::Over { .. } => None,
        }
    }
}
