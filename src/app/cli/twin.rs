//! The session beside the one on the screen: a twin that runs, or the session from which a fork came. A thread tells its
//! calls and its finished tasks.

use std::mem;
use std::path::{Path, PathBuf};
use std::{sync::Arc, thread};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::trouble::Trouble;
use crate::domain::state::{Keeps, State};
use crate::domain::{Event, Knob, Record, SessionEvent, TaskEvent};
use crate::runner::{SessionStopper, follow};
use crate::session::{Origin, PreparedSession, faults_so_far, spec_of};
use crate::store::journal::JournalReader;
use crate::ui::twin::{ReadOrigin, StartTwin, Twin, TwinKind, TwinNews, TwinSums};
use crate::ui::twin_call::TwinCall;

/// Calls that are told together.
const TOGETHER: usize = 256;

/// Starts twins of the session with this origin; `journal`: that of the session.
pub fn starter(origin: Arc<Origin>, journal: Option<&Path>) -> StartTwin {
    let parent = journal.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    Box::new(move |kind, live| start(&origin, parent.clone(), kind, live))
}

/// Reads the session from which that of this journal came, if it came from one whose journal is still there.
pub fn of_journal(journal: &Path) -> Option<ReadOrigin> {
    reads(origin_of(journal))
}

/// Reads the session from which this one came.
pub fn origin(session: &PreparedSession) -> Option<ReadOrigin> {
    reads(session.came_from().map(Path::to_owned))
}

fn reads(path: Option<PathBuf>) -> Option<ReadOrigin> {
    let path = path?;
    Some(Box::new(move || {
        let reader = JournalReader::open(&path).map_err(|error| error.to_string())?;
        beside(move |tell| read(reader, tell))
    }))
}

/// The journal of the session from which that of this journal came.
fn origin_of(journal: &Path) -> Option<PathBuf> {
    let spec = spec_of(journal).ok()?;
    let named = spec.fork.map(|fork| fork.of).or(spec.recorded);
    let parent = || Some(journal.with_file_name(JournalReader::open(journal).ok()?.header.parent?));
    named.filter(|path| path.exists()).or_else(|| parent().filter(|path| path.exists()))
}

/// A twin of the session of this journal: the one from which that came, read whole.
///
/// # Errors
/// There is none, or its journal cannot be read.
pub fn whole(journal: &Path, own: &mut Twin) -> Result<(), Trouble> {
    let path = origin_of(journal).ok_or_else(|| {
        let why = "its session came from no other one, or the journal of that is gone";
        Trouble::Usage(format!("{}: {why}", journal.display()))
    })?;
    let (tell, mut news) = mpsc::unbounded_channel();
    let end = read(JournalReader::open(&path).map_err(Trouble::usage)?, &tell);
    while let Ok(news) = news.try_recv() {
        own.hear(news);
    }
    own.hear(end);
    Ok(())
}

/// Reads a whole journal, until the receiver is gone.
fn read(reader: JournalReader, tell: &UnboundedSender<TwinNews>) -> TwinNews {
    let mut told = Told::new(tell.clone());
    for record in reader {
        match record {
            Ok(record) if told.take(&record) => {}
            Ok(_) => break,
            Err(error) => return TwinNews::Failed(error.to_string()),
        }
    }
    told.tell();
    TwinNews::Ended(None)
}

/// Runs this on a thread of its own; it ends with the news that it returns.
fn beside(
    work: impl FnOnce(&UnboundedSender<TwinNews>) -> TwinNews + Send + 'static,
) -> Result<UnboundedReceiver<TwinNews>, String> {
    let (tell, news) = mpsc::unbounded_channel();
    let work = move || {
        let end = work(&tell);
        // The screen may be gone already.
        let _ = tell.send(end);
    };
    let thread = thread::Builder::new().name("twin".to_owned()).spawn(work);
    thread.map(|_| news).map_err(|error| error.to_string())
}

fn start(
    origin: &Origin,
    parent: Option<String>,
    kind: TwinKind,
    live: &State,
) -> Result<UnboundedReceiver<TwinNews>, String> {
    let (faults, knobs): (_, &[_]) = match kind {
        TwinKind::Frozen => (faults_so_far(live), &[(Knob::Learn, 0.0)]),
        TwinKind::Unbroken | TwinKind::Origin => (Vec::new(), &[]),
    };
    let mut prepared =
        origin.again(live, faults, knobs, parent).map_err(|error| error.to_string())?;
    prepared.keeps = Keeps::Tasks(1);
    beside(move |tell| {
        let mut told = Told::new(tell.clone());
        let ended = follow(prepared, Vec::new(), &SessionStopper::default(), move |record| {
            let is_heard = told.take(record);
            if matches!(record.event, Event::Session(SessionEvent::SessionEnded { .. })) {
                told.tell();
            }
            is_heard
        });
        match ended {
            Ok(ended) => TwinNews::Ended(ended.journal),
            Err(error) => TwinNews::Failed(error.to_string()),
        }
    })
}

/// The records of the twin, as the screen is told of them.
struct Told {
    tell: UnboundedSender<TwinNews>,
    state: State,
    calls: Vec<TwinCall>,
}

impl Told {
    fn new(tell: UnboundedSender<TwinNews>) -> Self {
        Self { tell, state: State::keeping(Keeps::Tasks(1)), calls: Vec::new() }
    }

    /// Takes the next record. False if nobody listens any more.
    fn take(&mut self, record: &Record) -> bool {
        self.state.apply(record);
        if record.event.is_end() {
            let call = record.event.effect();
            self.calls.extend(call.and_then(|call| TwinCall::of(&self.state, call.id)));
        }
        let is_end = matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. }));
        if is_end || self.calls.len() >= TOGETHER {
            self.tell();
        }
        let lap = self.state.laps.last().filter(|_| is_end).cloned();
        if let Some(lap) = lap {
            // The last line of this function sees a receiver that is gone.
            let _ = self.tell.send(TwinNews::Lap(lap));
        }
        !self.tell.is_closed()
    }

    /// Tells the calls that are not told yet, and the sums by now.
    fn tell(&mut self) {
        let sums = Box::new(TwinSums::of(&self.state));
        // The next record sees a receiver that is gone.
        let _ = self.tell.send(TwinNews::Calls(mem::take(&mut self.calls), sums));
    }
}
