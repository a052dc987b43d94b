//! Input of the screen: a session to show, and how to show it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;

use super::agent_output::AgentOutput;
use super::call_lines::AsCommand;
use super::layout::LayoutFile;
use super::next::NextSession;
use super::pace::TerminalKind;
use super::scenario::SaveScenario;
use super::sweep::StartSweep;
use super::twin::{ReadOrigin, StartTwin};
use super::watch_file::WatchFile;
use super::{alert::Alerts, screen::Setup, tour::Tour, view::Tone};
use crate::domain::seat::{self, SeatNews, SeatRequest};
use crate::domain::{Command, Record, State, program::Interpreter};
use crate::store::journal::JournalPast;

/// The place of a screen in a session that other screens show too.
pub type Seat = seat::Seat<UnboundedReceiver<SeatNews>, UnboundedSender<SeatRequest>>;

/// The source of a session.
pub struct SessionSource {
    /// Time of opening (RFC 3339), as in the session's header; `None`: a replay, in which no time passes.
    pub opened: Option<String>,
    pub records: Records,
    /// `None`: a replay, only for looking at.
    pub commands: Option<UnboundedSender<Command>>,
    /// Seat of this screen among those that share the session; `None`: no other screen can.
    pub seat: Option<Seat>,
    /// Journal of the session, if it has one.
    pub journal: Option<PathBuf>,
    /// Runs a second session beside this one; `None` if that is impossible.
    pub twins: Option<StartTwin>,
    /// Reads the session from which this one came; `None`: it came from none, or that is gone.
    pub origin: Option<ReadOrigin>,
    /// Tries knobs beside the session; `None` if that is impossible.
    pub sweeps: Option<StartSweep>,
    /// Saves the session as a scenario.
    pub scenarios: SaveScenario,
    /// Output of the process of a watched agent, if one was started with the session.
    pub output: Option<Arc<dyn AgentOutput>>,
}

/// The sessions stored on this machine.
#[derive(Clone, Debug)]
pub struct Library {
    /// The folder of their journals.
    pub folder: PathBuf,
    /// Opens one of them, only for looking at. The error says why it cannot be read.
    pub open: fn(&Path) -> Result<SessionSource, String>,
}

/// Records in the order of arrival.
pub enum Records {
    /// Records of a running session.
    Live(UnboundedReceiver<Arc<Record>>, watch::Sender<u64>, Remark),
    /// Records of a journal that is read while the screen is open.
    Read(Receiver<JournalItem>, Remark),
}

/// Message to show after the last record. It is set by then.
pub type Remark = Arc<OnceLock<(Tone, String)>>;

/// An item read from a journal.
pub enum JournalItem {
    /// The first item: the state before the first record, and the journal from which other moments are read back.
    Begin(Box<State>, JournalPast),
    Record(Arc<Record>),
}

impl Records {
    /// Waits for records and takes at most `most`; none at the end.
    pub async fn take(&mut self, most: usize) -> Vec<JournalItem> {
        match self {
            Records::Live(records, taken, _) => {
                let mut batch = Vec::new();
                records.recv_many(&mut batch, most).await;
                if let Some(last) = batch.last() {
                    taken.send_replace(last.n);
                }
                batch.into_iter().map(JournalItem::Record).collect()
            }
            Records::Read(read, _) => {
                let mut batch = Vec::new();
                read.recv_many(&mut batch, most).await;
                batch
            }
        }
    }

    /// Returns the message to show at the end.
    pub fn remark(&self) -> Option<&(Tone, String)> {
        let (Records::Live(.., remark) | Records::Read(_, remark)) = self;
        remark.get()
    }
}

/// Settings of the screen.
pub struct ScreenSettings {
    pub screen: Setup,
    /// Whether to ask the terminal for its background colour, which the theme then follows.
    pub asks_ground: bool,
    pub terminal: TerminalKind,
    /// Whether the program handles the mouse; the terminal's own selection then needs shift.
    pub mouse: bool,
    /// Folder for screenshots.
    pub shots: PathBuf,
    pub layouts: LayoutFile,
    pub watches: WatchFile,
    /// `None` if there is no folder for journals.
    pub library: Option<Library>,
    /// Alerts for a person who looks elsewhere.
    pub alerts: Alerts,
    pub as_command: AsCommand,
    /// An interpreter in which programs are run again, to look at their past.
    pub interpreter: fn() -> Box<dyn Interpreter>,
    /// Problems of theme or keys, shown when the screen opens.
    pub notices: Vec<String>,
    /// A guided tour, which presses keys for the person.
    pub tour: Option<Tour>,
}

impl ScreenSettings {
    /// Begins with the watches of this file, and saves watches there.
    pub fn watch(&mut self, file: WatchFile) {
        self.screen.watches.clone_from(&file.saved);
        self.watches = file;
    }
}

/// Why the screen ended.
#[derive(Clone, Debug, PartialEq)]
pub enum EndReason {
    /// The person left.
    ByUser,
    /// A signal with this number asked for it.
    BySignal(i32),
    /// The person goes on with something else.
    For(NextSession),
}
