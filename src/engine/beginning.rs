//! How a session begins: from nothing, over a record, after a past, or as a fork.

use crate::domain::Record;

/// How a session begins.
#[derive(Clone, Debug, Default)]
pub enum Beginning {
    /// From nothing.
    #[default]
    New,
    /// Over the records of an earlier session: its effects and interventions are used as long as they fit.
    Again(Vec<Record>),
    /// Over the records of an earlier session up to the event with this number, and live from there.
    Forked { of: Vec<Record>, at: u64 },
    /// After the past of an interrupted session, up to the tasks that were at work (see [`crate::resumable`]).
    Continued { past: Vec<Record>, rest: Option<Rest> },
}

/// How a session continues where it was interrupted. Without it, the tasks that were at work begin again.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// The records of those tasks (see [`crate::Interrupted`]).
    pub records: Vec<Record>,
    /// Whether calls with an unknown outcome are made again without asking.
    pub repeats_unknown: bool,
}

impl Beginning {
    /// A beginning after this past, or from nothing if it has no records.
    pub fn after(past: Vec<Record>) -> Self {
        match past.is_empty() {
            true => Self::New,
            false => Self::Continued { past, rest: None },
        }
    }

    /// The records of the earlier session, in order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        let (first, rest) = match self {
            Self::New => (&[][..], None),
            Self::Again(of) | Self::Forked { of, .. } => (&of[..], None),
            Self::Continued { past, rest } => (&past[..], rest.as_ref()),
        };
        first.iter().chain(rest.into_iter().flat_map(|rest| &rest.records))
    }

    /// The records that the session takes over as its own.
    pub fn past(&self) -> &[Record] {
        match self {
            Self::Continued { past, .. } => past,
            Self::New | Self::Again(_) | Self::Forked { .. } => &[],
        }
    }
}
