//! The loop: takes in everything that has arrived, then draws at most one frame.

mod guided;
mod incoming;
mod past_programs;
mod programs;
mod saving;
mod shell;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{io, thread};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use self::guided::Guided;
use self::past_programs::Looks;
use self::programs::Waiting;
use super::alert::Caller;
use super::call_lines::AsCommand;
use super::clipboard::Clipboard;
use super::inputs::Inputs;
use super::layout::LayoutFile;
use super::next::NextSession;
use super::outside::CommandOutput;
use super::pane::PaneId;
use super::popups::Sessions;
use super::scenario::SavedScenario;
use super::screen::Screen;
use super::show::{self, Show, Unseen};
use super::source::{EndReason, JournalItem, Library, ScreenSettings, SessionSource};
use super::sweep::SweepNews;
use super::terminal::{self, OwnedTerminal};
use super::theme::detect;
use super::twin::TwinNews;
use super::view::Tone;
use super::watch_file::WatchFile;
use super::{listing::Listing, output, pace::Pace, request::ScreenRequest, shot, text};

/// Why the screen did not open, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    #[error("cannot start the screen's runtime: {0}")]
    Runtime(#[source] io::Error),
    #[error("cannot open the screen: {0}")]
    Open(#[source] io::Error),
    #[error("the terminal was lost: {0}")]
    Lost(#[source] io::Error),
}

/// Shows a session until the person leaves or a signal arrives. Blocks, and owns the terminal meanwhile. Does not end
/// the session: its owner does.
///
/// # Errors
/// Where there is no terminal, or it is lost.
pub fn run(source: SessionSource, settings: ScreenSettings) -> Result<EndReason, ScreenError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ScreenError::Runtime)?;
    let ended = runtime.block_on(async {
        let mut looper = Loop::new(source, settings).map_err(ScreenError::Open)?;
        looper.run().await.map_err(ScreenError::Lost)
    });
    // Reading the terminal blocks a thread of the runtime; its last key is dropped.
    runtime.shutdown_background();
    ended
}

/// The most records taken in before the next look at the keyboard, so that a flood never makes it wait.
const AT_ONCE: usize = 32;
/// How long the first frame waits for the terminal's background colour, so that it is drawn in the right theme. Most
/// terminals answer within 5 ms; after a later answer, the theme follows.
const FIRST: Duration = Duration::from_millis(25);

struct Loop {
    front: Show,
    /// A live session that goes on while a replay is looked at.
    behind: Option<Show>,
    owned: OwnedTerminal,
    pace: Pace,
    shots: PathBuf,
    layouts: LayoutFile,
    watches: WatchFile,
    library: Option<Library>,
    clipboard: Clipboard,
    as_command: AsCommand,
    looks: Looks,
    /// Whether to return to the shell.
    suspends: bool,
    /// A program that waits for the terminal.
    waiting: Option<Waiting>,
    /// When the last program gave the terminal back.
    lent: Option<Instant>,
    /// Output of the user's commands that run beside the screen.
    said: (UnboundedSender<CommandOutput>, UnboundedReceiver<CommandOutput>),
    caller: Caller,
    /// Requested lists of sessions.
    listed: (UnboundedSender<Listing>, UnboundedReceiver<Listing>),
    /// Requested scenarios.
    saved: (UnboundedSender<SavedScenario>, UnboundedReceiver<SavedScenario>),
    /// Whether nothing has changed yet since the last key.
    awaited: bool,
    /// When to show the keys that may follow.
    hint: Option<Instant>,
    /// The number of the last message, and when the keys take its place again.
    hushed: (u64, Option<Instant>),
    /// Whether the terminal is asked for its background colour.
    asks_ground: bool,
    /// Until when frames wait for the theme to be known.
    held: Option<Instant>,
    guided: Guided,
    signals: Signals,
}

struct Signals {
    terminate: Signal,
    hangup: Signal,
    interrupt: Signal,
    quit: Signal,
    stopped: Signal,
    resumed: Signal,
}

impl Loop {
    fn new(source: SessionSource, settings: ScreenSettings) -> io::Result<Self> {
        // Signals first: once the terminal is ours, no signal may end us unprepared.
        let signals = Signals {
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            stopped: signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            resumed: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        };
        let guided = Guided::new(settings.tour);
        let owned = OwnedTerminal::take(settings.mouse, guided.cast())?;
        let mut screen = Screen::new(settings.screen);
        let wrong = settings
            .layouts
            .wrong
            .iter()
            .chain(&settings.layouts.gone)
            .chain(&settings.watches.wrong);
        for notice in settings.notices.iter().chain(wrong) {
            screen.tell(Tone::Bad, notice.as_str());
        }
        Ok(Self {
            front: Show::new(screen, source),
            behind: None,
            owned,
            pace: Pace::of(settings.terminal),
            shots: settings.shots,
            layouts: settings.layouts,
            watches: settings.watches,
            library: settings.library,
            clipboard: Clipboard::default(),
            as_command: settings.as_command,
            looks: Looks::new(settings.interpreter),
            suspends: false,
            waiting: None,
            lent: None,
            said: unbounded_channel(),
            caller: Caller::new(settings.alerts),
            listed: unbounded_channel(),
            saved: unbounded_channel(),
            awaited: false,
            hint: None,
            hushed: (0, None),
            asks_ground: settings.asks_ground,
            held: None,
            guided,
            signals,
        })
    }

    async fn run(&mut self) -> io::Result<EndReason> {
        let mut inputs = Inputs::new()?;
        let end = self.turns(&mut inputs).await?;
        self.hear_out(&mut inputs).await;
        Ok(end)
    }

    async fn turns(&mut self, inputs: &mut Inputs) -> io::Result<EndReason> {
        if self.asks_ground {
            inputs.expect();
            output::send(detect::QUESTION)?;
            self.pace.asked(Instant::now());
            self.held = Some(Instant::now() + FIRST);
        }
        let mut ended = None;
        loop {
            if let Some(end) = ended.take().or(self.guide().await?) {
                return Ok(end);
            }
            self.looks.begin(&mut self.front.screen);
            self.time_message();
            let beat = self.front.screen.beat(Instant::now());
            let due = self.due();
            let signals = &mut self.signals;
            tokio::select! {
                biased;
                _ = signals.terminate.recv() => ended = self.ended_by(SignalKind::terminate()),
                _ = signals.hangup.recv() => ended = self.ended_by(SignalKind::hangup()),
                _ = signals.interrupt.recv() => ended = self.ended_by(SignalKind::interrupt()),
                _ = signals.quit.recv() => ended = self.ended_by(SignalKind::quit()),
                _ = signals.stopped.recv() => {
                    let typed = self.hear_out(inputs).await;
                    terminal::restore();
                    self.stop().await?;
                    inputs.put_back(typed);
                }
                _ = signals.resumed.recv() => {
                    self.owned.refresh()?;
                    self.pace.at_once();
                }
                news = inputs.next() => {
                    if let Some(end) = self.inputs(news?, inputs).await? {
                        return Ok(end);
                    }
                    if let Some(end) = self.give_way(inputs).await? {
                        return Ok(end);
                    }
                }
                () = at(due) => {
                    if self.frame()? {
                        inputs.expect();
                    }
                }
                () = output::written() => {}
                () = at(beat) => self.pace.at_once(),
                () = at(self.guided.beat) => self.guided.beat = None,
                () = at(self.hint) => {
                    self.hint = None;
                    self.front.screen.view.hinted = true;
                    self.pace.at_once();
                }
                () = at(self.hushed.1) => self.hush(),
                Some(text) = self.owned.panics.recv() => {
                    self.front.screen.tell(Tone::Bad, text);
                    self.pace.soon();
                }
                batch = self.front.records.take(AT_ONCE), if !self.front.silent => {
                    self.receive(batch);
                }
                (wanted, reached) = self.looks.end() => {
                    self.front.screen.reached(wanted, reached);
                    self.pace.at_once();
                }
                news = show::news(&mut self.front.sweep, SweepNews::Ended) => {
                    self.front.screen.hear_of_sweep(news);
                    self.pace.soon();
                }
                news = show::news(&mut self.front.twin, TwinNews::Ended(None)) => {
                    self.front.screen.hear_of_twin(news);
                    self.pace.soon();
                }
                () = show::grown(&mut self.front.screen.view.agent) => {
                    if self.front.screen.view.sees(PaneId::Output) {
                        self.pace.soon();
                    }
                }
                news = show::seated(&mut self.front.seat) => {
                    let (tone, text) = self.front.screen.hear(news);
                    self.front.screen.tell(tone, text);
                    self.pace.soon();
                }
                unseen = show::unseen(&mut self.behind, AT_ONCE) => self.take_unseen(unseen),
                Some(said) = self.said.1.recv() => {
                    self.hear(said);
                    self.pace.at_once();
                }
                Some(listing) = self.listed.1.recv() => {
                    self.list(listing);
                    self.pace.at_once();
                }
                Some(saved) = self.saved.1.recv() => {
                    self.told_of_scenario(saved);
                    self.pace.at_once();
                }
            }
        }
    }

    /// Time of the next frame; none while the terminal still reads the last one.
    fn due(&mut self) -> Option<Instant> {
        let taken = output::taken()?;
        let ticks = self.front.screen.ticks(self.front.now());
        let due = self.pace.due(Instant::now(), ticks, taken)?;
        Some(self.held.map_or(due, |held| held.max(due)))
    }

    /// Folds new records.
    fn receive(&mut self, batch: Vec<JournalItem>) {
        let is_live = self.front.commands.is_some();
        let records = if is_live { programs::records(&batch) } else { Vec::new() };
        self.front.receive(batch);
        self.call_for(&records);
        // A person mostly waits for the first change after a key.
        if std::mem::take(&mut self.awaited) {
            self.pace.at_once();
        } else {
            self.pace.soon();
        }
    }

    /// Takes in records and news of the session behind a replay.
    fn take_unseen(&mut self, unseen: Unseen) {
        let Some(show) = &mut self.behind else { return };
        match unseen {
            Unseen::Records(batch) => show.receive(batch),
            Unseen::News(news) => {
                let (tone, text) = show.screen.hear(news);
                self.front.screen.tell(tone, text);
                self.pace.soon();
            }
        }
    }

    /// Carries out a request; returns how the screen ends, if the request ends it.
    async fn effect(&mut self, effect: ScreenRequest) -> io::Result<Option<EndReason>> {
        match effect {
            ScreenRequest::Send(command) => self.front.send(command),
            ScreenRequest::Quit if self.come_back() => {}
            ScreenRequest::Quit => return Ok(Some(EndReason::ByUser)),
            ScreenRequest::Copy { what, text } => self.copy(&what, text),
            ScreenRequest::CopyCommand(called) => self.copy_command(&called),
            ScreenRequest::KeepCopy => self.keep_copy(),
            ScreenRequest::View(selection) => self.view(*selection),
            ScreenRequest::Rewrite(selection) => self.rewrite(*selection),
            ScreenRequest::RunOwn(run) => self.run_own(run.0, run.1),
            ScreenRequest::Leave(next) => return Ok(Some(EndReason::For(next))),
            ScreenRequest::Fork(place) => match self.front.journal.clone() {
                Some(journal) => {
                    return Ok(Some(EndReason::For(NextSession::Fork(journal, place))));
                }
                None => self.front.screen.tell(Tone::Bad, "this session has no journal to fork"),
            },
            ScreenRequest::StartTwin(kind) => self.front.start_twin(kind),
            ScreenRequest::EndTwin => self.front.end_twin(),
            ScreenRequest::StartSweep(scope) => self.front.start_sweep(*scope),
            ScreenRequest::EndSweep => self.front.end_sweep(),
            ScreenRequest::Sessions => self.read_sessions(Vec::new()),
            ScreenRequest::DeleteSessions(journals) => self.read_sessions(journals),
            ScreenRequest::Replay(path) => self.replay(&path),
            ScreenRequest::Suspend => self.suspends = true,
            ScreenRequest::Shoot => self.shoot(),
            ScreenRequest::NextTheme => {
                self.front.screen.next_theme();
                // The new background must reach cells whose text has not changed.
                self.owned.redraw()?;
            }
            ScreenRequest::SaveLayout => self.save_layout(),
            ScreenRequest::SaveScenario => self.save_scenario(),
            ScreenRequest::SaveWatches => self.save_watches(),
            ScreenRequest::PassControl => self.front.pass_control(),
            ScreenRequest::Redraw => self.owned.redraw()?,
        }
        Ok(None)
    }

    fn copy(&mut self, what: &str, text: String) {
        let bytes = text::number(text.len() as u64);
        match self.clipboard.copy(text) {
            Ok(()) => {
                let told = format!(
                    "copied: {what}, {bytes} bytes · not in the clipboard? <key:copy-to-file> writes it to a file"
                );
                self.front.screen.tell(Tone::Good, told);
            }
            Err(why) => {
                let told = format!("not copied: {why} · <key:copy-to-file> writes it to a file");
                self.front.screen.tell(Tone::Bad, told);
            }
        }
    }

    /// Deletes these journals, then reads the list of sessions, both beside the screen.
    fn read_sessions(&mut self, delete: Vec<PathBuf>) {
        let Some(library) = &self.library else {
            let text = "no folder for journals: set session.journals in the configuration";
            return self.front.screen.tell(Tone::Bad, text);
        };
        let (folder, listed) = (library.folder.clone(), self.listed.0.clone());
        let doing = if delete.is_empty() { "reading" } else { "deleting" };
        self.front.screen.tell(Tone::Plain, format!("{doing} sessions…"));
        let read = move || drop(listed.send(Listing::without(folder, &delete)));
        if let Err(error) = thread::Builder::new().name("sessions".to_owned()).spawn(read) {
            self.front.screen.tell(Tone::Bad, format!("cannot read the sessions: {error}"));
        }
    }

    fn list(&mut self, listing: Listing) {
        if let Some(why) = &listing.wrong {
            return self.front.screen.tell(Tone::Bad, why.as_str());
        }
        match &listing.deleted {
            Some(Ok(text)) => self.front.screen.tell(Tone::Good, text.as_str()),
            Some(Err(why)) => self.front.screen.tell(Tone::Bad, why.as_str()),
            None => {}
        }
        let mut popups = self.front.screen.view.popups.iter_mut().rev();
        let listing = popups.try_fold(listing, |left, popup| popup.relist(left));
        let Some(listing) = listing else { return };
        let live = self.behind.as_ref().unwrap_or(&self.front);
        let live = live.commands.as_ref().and(live.journal.as_deref());
        let list = Sessions::new(listing, self.front.journal.as_deref(), live);
        self.front.screen.view.open(list);
    }

    /// Opens another session for looking at. A live one goes on behind it.
    fn replay(&mut self, path: &Path) {
        if self.behind.as_ref().is_some_and(|live| live.is_of(path)) {
            self.come_back();
            return;
        }
        let Some(library) = &self.library else { return };
        let source = match (library.open)(path) {
            Ok(source) => source,
            Err(why) => return self.front.screen.tell(Tone::Bad, why),
        };
        let screen = self.front.screen.beside(path);
        let before = std::mem::replace(&mut self.front, Show::new(screen, source));
        if before.commands.is_some() {
            self.behind = Some(before);
        }
        self.front.screen.view.hides_live = self.behind.is_some();
        self.pace.at_once();
    }

    /// Returns to the live session; false if there is none behind.
    fn come_back(&mut self) -> bool {
        let Some(live) = self.behind.take() else { return false };
        self.front = live;
        self.front.screen.tell(Tone::Plain, "back in the live session");
        self.pace.at_once();
        true
    }

    /// Draws. True if the terminal was asked for an answer.
    fn frame(&mut self) -> io::Result<bool> {
        let now = self.front.now();
        let screen = &mut self.front.screen;
        self.owned
            .terminal
            .draw(|frame| screen.draw_whole(frame.area(), frame.buffer_mut(), now))?;
        let now = Instant::now();
        let asks = self.pace.drawn(now);
        if asks {
            output::send(detect::TYPE_QUESTION)?;
            self.pace.asked(now);
        }
        Ok(asks)
    }

    fn shoot(&mut self) {
        match self.picture() {
            Ok(path) => {
                self.front.screen.tell(Tone::Good, format!("written: {} and .txt", path.display()))
            }
            Err(error) => self
                .front
                .screen
                .tell(Tone::Bad, format!("no screenshot: {}: {error}", self.shots.display())),
        }
    }

    /// Writes the screen to a file.
    fn picture(&mut self) -> io::Result<PathBuf> {
        let size = self.owned.terminal.size()?;
        let area = ratatui::layout::Rect::from((ratatui::layout::Position::ORIGIN, size));
        let mut buf = ratatui::buffer::Buffer::empty(area);
        // The picture must not show the message about the last picture.
        self.front.screen.view.told = false;
        self.front.screen.draw(area, &mut buf, self.front.now());
        shot::write(&buf, self.front.screen.theme(), &self.shots, self.front.screen.live().n)
    }
}

/// Waits until this time; `None`: for ever.
async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
