//! A session on the screen, with the source of its records. While a replay is looked at, a live session goes on
//! behind it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::agent_output::AgentLines;
use super::scenario::{SaveScenario, SavedScenario};
use super::screen::Screen;
use super::source::Seat;
use super::source::{JournalItem, Records, SessionSource};
use super::sweep::{StartSweep, Sweep, SweepNews};
use super::twin::{ReadOrigin, StartTwin, TwinKind, TwinNews};
use super::view::{ReadOnly, Tone};
use crate::domain::seat::{SeatNews, SeatRequest};
use crate::domain::{Command, Mode};
use crate::papers::sweep::Scope;

/// A session on the screen.
pub struct Show {
    pub screen: Screen,
    pub records: Records,
    /// Whether the other end of `records` is gone: the session is over.
    pub silent: bool,
    /// Where commands go; `None` for a replay.
    pub commands: Option<UnboundedSender<Command>>,
    /// Seat of this screen among those that share the session.
    pub seat: Option<Seat>,
    /// `None` for a replay.
    opened: Option<Timestamp>,
    /// Journal of the session, if it has one.
    pub journal: Option<PathBuf>,
    /// Runs a twin of the session; `None` for a replay.
    twins: Option<StartTwin>,
    /// Reads the session from which this one came.
    origin: Option<ReadOrigin>,
    /// News of the twin that runs.
    pub twin: Option<UnboundedReceiver<TwinNews>>,
    /// Tries knobs beside the session; `None` for a replay.
    sweeps: Option<StartSweep>,
    /// News of the sweep that runs.
    pub sweep: Option<UnboundedReceiver<SweepNews>>,
    scenarios: SaveScenario,
}

impl Show {
    pub fn new(mut screen: Screen, source: SessionSource) -> Self {
        screen.view.seat = source.seat.as_ref().map(|seat| seat.kind);
        screen.view.agent = source.output.map(AgentLines::new);
        screen.view.has_origin = source.origin.is_some();
        Self {
            screen,
            records: source.records,
            silent: false,
            opened: source.opened.and_then(|opened| opened.parse().ok()),
            commands: source.commands,
            seat: source.seat,
            journal: source.journal,
            twins: source.twins,
            origin: source.origin,
            twin: None,
            sweeps: source.sweeps,
            sweep: None,
            scenarios: source.scenarios,
        }
    }

    /// Whether this is the journal of the session.
    pub fn is_of(&self, path: &Path) -> bool {
        let own = self.journal.as_ref().and_then(|own| own.canonicalize().ok());
        own.is_some_and(|own| path.canonicalize().is_ok_and(|path| path == own))
    }

    /// Folds new records. An empty batch means that no more will come.
    pub fn receive(&mut self, batch: Vec<JournalItem>) {
        self.silent = batch.is_empty();
        for read in batch {
            match read {
                JournalItem::Begin(state, journal) => self.screen.begin(*state, journal),
                JournalItem::Record(record) => self.screen.receive(record),
            }
        }
        let ended = self.screen.live().control.mode == Mode::Ended;
        if self.silent && self.commands.is_some() && !ended {
            self.screen.break_off();
        }
        if self.silent
            && let Some((tone, text)) = self.records.remark()
        {
            self.screen.tell(*tone, text.as_str());
        }
    }

    pub fn start_twin(&mut self, kind: TwinKind) {
        let started = match (kind, &mut self.twins, &mut self.origin) {
            (TwinKind::Origin, _, Some(read)) => read(),
            (TwinKind::Origin, _, None) => Err("its journal is not there".to_owned()),
            (_, Some(start), _) => start(kind, self.screen.live()),
            (_, None, _) => Err("only the screen that started the session can run one".to_owned()),
        };
        match started {
            Ok(news) => {
                self.twin = Some(news);
                self.screen.begin_twin(kind);
            }
            Err(why) => self.screen.tell(Tone::Bad, format!("no twin: {why}")),
        }
    }

    /// Ends the twin: its session ends once nobody receives its news.
    pub fn end_twin(&mut self) {
        self.twin = None;
        self.screen.end_twin();
    }

    pub fn start_sweep(&mut self, scope: Scope) {
        let started = match &mut self.sweeps {
            Some(start) => start(&scope, self.screen.live()),
            None => Err("only the screen that started the session can run one".to_owned()),
        };
        match started {
            Ok(news) => {
                self.sweep = Some(news);
                self.screen.begin_sweep(Sweep::new(scope));
            }
            Err(why) => self.screen.tell(Tone::Bad, format!("no sweep: {why}")),
        }
    }

    /// Ends the sweep: its copies end once nobody receives their news.
    pub fn end_sweep(&mut self) {
        self.sweep = None;
        self.screen.end_sweep();
    }

    /// Saves the session as a scenario, and sends its path.
    ///
    /// # Errors
    /// Why it cannot be saved.
    pub fn save_scenario(&self, tell: UnboundedSender<SavedScenario>) -> Result<(), String> {
        (self.scenarios)(self.screen.live(), tell)
    }

    /// Asks for control, or gives it up.
    pub fn pass_control(&mut self) {
        let watches = self.screen.view.read_only == Some(ReadOnly::Watching);
        let request = if watches { SeatRequest::Take } else { SeatRequest::Leave };
        let sent = self.seat.as_ref().is_some_and(|seat| seat.requests.send(request).is_ok());
        if !sent {
            self.screen.tell(Tone::Bad, "cannot hand over control: the session has ended");
        }
    }

    pub fn send(&mut self, command: Command) {
        let name = command.name();
        // A popup may have been open when control went over.
        if let Some(read_only) = self.screen.view.read_only {
            return self.screen.tell(Tone::Bad, format!("cannot {name}: {}", read_only.why()));
        }
        let sent = self.commands.as_ref().is_some_and(|commands| commands.send(command).is_ok());
        if !sent {
            self.screen.tell(Tone::Bad, format!("cannot {name}: the session has ended"));
        }
    }

    /// Microseconds since the session was opened; in a replay, the time of its last event.
    pub fn now(&self) -> u64 {
        let at = self.screen.live().at;
        let Some(opened) = self.opened else { return at };
        let since = Timestamp::now().duration_since(opened).as_micros();
        // A clock that was set back must not make times negative.
        u64::try_from(since).unwrap_or(at).max(at)
    }
}

/// News of a session that is not shown.
pub enum Unseen {
    Records(Vec<JournalItem>),
    News(SeatNews),
}

/// Waits for news of a session that is not shown.
pub async fn unseen(show: &mut Option<Show>, most: usize) -> Unseen {
    let Some(Show { records, seat, silent, .. }) = show else {
        return std::future::pending().await;
    };
    tokio::select! {
        batch = records.take(most), if !*silent => Unseen::Records(batch),
        news = seated(seat) => Unseen::News(news),
    }
}

/// The next news about control of a session; waits for ever if no other screen can attach.
pub async fn seated(seat: &mut Option<Seat>) -> SeatNews {
    let news = match seat {
        Some(seat) => seat.news.recv().await,
        None => None,
    };
    match news {
        Some(news) => news,
        None => std::future::pending().await,
    }
}

/// Waits until the lines of the agent's process have changed; for ever if there are none.
pub async fn grown(agent: &mut Option<AgentLines>) {
    match agent {
        Some(agent) => agent.grown().await,
        None => std::future::pending().await,
    }
}

/// The next news of a copy; `end` after the last one; waits for ever if no copy runs.
pub async fn news<T>(copy: &mut Option<UnboundedReceiver<T>>, end: T) -> T {
    let told = match copy {
        Some(receiver) => receiver.recv().await,
        None => std::future::pending().await,
    };
    told.unwrap_or_else(|| {
        *copy = None;
        end
    })
}
