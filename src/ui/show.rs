//! A session on the screen, with the source of its records. While a replay is looked at, a live session goes on
//! behind it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tokio::sync::mpsc::UnboundedSender;

use super::screen::Screen;
use super::source::{Read, Records, Source};
use super::view::Tone;
use crate::domain::{Command, Mode};

/// A session on the screen.
pub struct Show {
    pub screen: Screen,
    pub records: Records,
    /// The other end of `records` is gone: the session is over.
    pub silent: bool,
    /// Where commands go; `None` for a replay.
    pub commands: Option<UnboundedSender<Command>>,
    /// `None` for a replay.
    opened: Option<Timestamp>,
    /// Its journal, if it has one.
    pub journal: Option<PathBuf>,
}

impl Show {
    pub fn new(screen: Screen, source: Source) -> Self {
        Self {
            screen,
            records: source.records,
            silent: false,
            opened: source.commands.as_ref().and_then(|_| source.opened.parse().ok()),
            commands: source.commands,
            journal: source.journal,
        }
    }

    /// Whether this is its journal.
    pub fn is_of(&self, path: &Path) -> bool {
        let own = self.journal.as_ref().and_then(|own| own.canonicalize().ok());
        own.is_some_and(|own| path.canonicalize().is_ok_and(|path| path == own))
    }

    /// Folds what happened. Nothing at all means that nothing will any more.
    pub fn receive(&mut self, batch: Vec<Read>) {
        self.silent = batch.is_empty();
        for read in batch {
            match read {
                Read::Begin(state, journal) => self.screen.begin(*state, journal),
                Read::Record(record) => self.screen.receive(record),
            }
        }
        if self.silent
            && let Some((tone, text)) = self.records.remark()
        {
            self.screen.tell(*tone, text.as_str());
        }
        let ended = self.screen.live().control.mode == Mode::Ended;
        if self.silent && self.commands.is_some() && !ended {
            self.screen.break_off();
        }
    }

    pub fn send(&mut self, command: Command) {
        let name = command.name();
        let sent = self.commands.as_ref().is_some_and(|commands| commands.send(command).is_ok());
        if !sent {
            self.screen.tell(Tone::Bad, format!("cannot {name}: the session is over"));
        }
    }

    /// Microseconds since the session was opened; in a replay, when its last event was.
    pub fn now(&self) -> u64 {
        let at = self.screen.live().at;
        let Some(opened) = self.opened else { return at };
        let since = Timestamp::now().duration_since(opened).as_micros();
        // A clock that was set back must not make times negative.
        u64::try_from(since).unwrap_or(at).max(at)
    }
}

/// Waits for records of a session that is not shown.
pub async fn unseen(show: &mut Option<Show>, most: usize) -> Vec<Read> {
    match show {
        Some(show) if !show.silent => show.records.take(most).await,
        _ => std::future::pending().await,
    }
}
