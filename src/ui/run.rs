//! The loop: everything that came is taken in, then at most one frame shows it.

use std::time::{Duration, Instant};
use std::{io, path::PathBuf, pin::pin, task::Poll};

use color_eyre::eyre::{Result, WrapErr, eyre};
use futures::StreamExt;
use jiff::Timestamp;
use ratatui::crossterm::event::{Event as Input, EventStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::UnboundedSender;

use super::layout::LayoutFile;
use super::screen::Screen;
use super::source::{EndReason, Read, Records, Settings, Source};
use super::terminal::{self, OwnedTerminal};
use super::view::Tone;
use super::{pace::Pace, request::ScreenRequest, shot};
use crate::domain::{Command, Mode};

/// Shows a session until the person leaves or a signal comes. Blocks, and owns the terminal meanwhile.
/// The session itself is not ended: its owner does that.
///
/// # Errors
/// Where there is no terminal, or it is lost.
pub fn run(source: Source, settings: Settings) -> Result<EndReason> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .wrap_err("cannot start the screen's runtime")?;
    let ended = runtime.block_on(async {
        // With its causes on one line, since the caller may show the first error only.
        let mut looper = Loop::new(source, settings)
            .map_err(|error| eyre!("cannot open the screen: {error}"))?;
        looper.run().await.map_err(|error| eyre!("the terminal was lost: {error}"))
    });
    // Reading a terminal blocks a thread of the runtime's; its last key is dropped.
    runtime.shutdown_background();
    ended
}

/// Records taken in between two looks at the keyboard, so that a flood never makes it wait.
const AT_ONCE: usize = 4096;
/// How long to wait for the shell's stop before taking the terminal back. Without a shell that could continue the
/// program, the stop does not come.
const STOP: Duration = Duration::from_millis(250);

/// How long the first of several keys waits before the keys that may follow are shown.
const HINT: Duration = Duration::from_millis(300);

struct Loop {
    screen: Screen,
    owned: OwnedTerminal,
    pace: Pace,
    records: Records,
    /// The other end of `records` is gone: the session is over.
    silent: bool,
    commands: Option<UnboundedSender<Command>>,
    opened: Option<Timestamp>,
    shots: PathBuf,
    layouts: LayoutFile,
    /// Nothing has changed yet since the last key.
    awaited: bool,
    /// When the keys that may follow are shown.
    hint: Option<Instant>,
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
    fn new(source: Source, settings: Settings) -> io::Result<Self> {
        // Signals first: from the moment the terminal is ours, none may end us unprepared.
        let signals = Signals {
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            stopped: signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            resumed: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        };
        let owned = OwnedTerminal::take(settings.mouse)?;
        let mut screen = Screen::new(settings.screen);
        for notice in settings.notices.iter().chain(&settings.layouts.wrong) {
            screen.tell(Tone::Bad, notice.as_str());
        }
        Ok(Self {
            screen,
            owned,
            pace: Pace::default(),
            records: source.records,
            silent: false,
            opened: source.commands.as_ref().and_then(|_| source.opened.parse().ok()),
            commands: source.commands,
            shots: settings.shots,
            layouts: settings.layouts,
            awaited: false,
            hint: None,
            signals,
        })
    }

    async fn run(&mut self) -> io::Result<EndReason> {
        let mut inputs = EventStream::new();
        let at = |due: Option<Instant>| async move {
            match due {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        let by = |signal: SignalKind| Ok(EndReason::BySignal(signal.as_raw_value()));
        loop {
            let due = self.pace.due(Instant::now(), self.screen.ticks(self.now()));
            let signals = &mut self.signals;
            tokio::select! {
                biased;
                _ = signals.terminate.recv() => return by(SignalKind::terminate()),
                _ = signals.hangup.recv() => return by(SignalKind::hangup()),
                _ = signals.interrupt.recv() => return by(SignalKind::interrupt()),
                _ = signals.quit.recv() => return by(SignalKind::quit()),
                _ = signals.stopped.recv() => {
                    terminal::restore();
                    self.stop().await?;
                }
                _ = signals.resumed.recv() => {
                    self.owned.refresh()?;
                    self.pace.at_once();
                }
                input = inputs.next() => {
                    let input = input.ok_or(io::ErrorKind::UnexpectedEof)??;
                    if self.inputs(input, &mut inputs).await? {
                        return Ok(EndReason::ByUser);
                    }
                }
                () = at(due) => self.frame()?,
                () = at(self.hint) => {
                    self.hint = None;
                    self.screen.view.hinted = true;
                    self.pace.at_once();
                }
                Some(text) = self.owned.panics.recv() => {
                    self.screen.tell(Tone::Bad, text);
                    self.pace.soon();
                }
                batch = self.records.take(AT_ONCE), if !self.silent => self.receive(batch),
            }
        }
    }

    /// Folds what happened. Nothing at all means that nothing will any more.
    fn receive(&mut self, batch: Vec<Read>) {
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
        // The first change after a key is mostly what the person waits for.
        if std::mem::take(&mut self.awaited) {
            self.pace.at_once();
        } else {
            self.pace.soon();
        }
    }

    /// Takes in this input and all that are read already; true if one of them ends the screen.
    async fn inputs(&mut self, first: Input, inputs: &mut EventStream) -> io::Result<bool> {
        let mut next = Some(first);
        while let Some(input) = next {
            for effect in self.screen.handle(&input) {
                if self.effect(effect).await? {
                    return Ok(true);
                }
            }
            // Polled with this task's own waker: the stream keeps the first waker that it gets, and the next
            // key must wake this task.
            next = match futures::poll!(inputs.next()) {
                Poll::Ready(Some(input)) => Some(input?),
                Poll::Ready(None) | Poll::Pending => None,
            };
        }
        self.awaited = true;
        let waits = !self.screen.view.pending.is_empty() && !self.screen.view.hinted;
        self.hint = waits.then(|| Instant::now() + HINT);
        self.pace.at_once();
        Ok(false)
    }

    /// Does what an input asked for; true if that ends the screen.
    async fn effect(&mut self, effect: ScreenRequest) -> io::Result<bool> {
        match effect {
            ScreenRequest::Send(command) => self.send(command),
            ScreenRequest::Quit => return Ok(true),
            ScreenRequest::Suspend => self.suspend().await?,
            ScreenRequest::Shoot => self.shoot(),
            ScreenRequest::NextTheme => {
                self.screen.next_theme();
                // The new ground reaches cells that hold the same text as before.
                self.owned.redraw()?;
            }
            ScreenRequest::SaveLayout => self.save_layout(),
            ScreenRequest::Redraw => self.owned.redraw()?,
        }
        Ok(false)
    }

    fn save_layout(&mut self) {
        let (strategy, size) = self.screen.view.layouts.save();
        match self.layouts.write(&self.screen.view.layouts.saved) {
            Ok(path) => {
                let text =
                    format!("layout saved for {strategy}, {size} screens: {}", path.display());
                self.screen.tell(Tone::Good, text);
            }
            Err(why) => self.screen.tell(Tone::Bad, format!("the layout is not saved: {why}")),
        }
    }

    fn send(&mut self, command: Command) {
        let name = command.name();
        let sent = self.commands.as_ref().is_some_and(|commands| commands.send(command).is_ok());
        if !sent {
            self.screen.tell(Tone::Bad, format!("cannot {name}: the session is over"));
        }
    }

    /// Back to the shell, like any program at ctrl-z.
    async fn suspend(&mut self) -> io::Result<()> {
        terminal::restore();
        // The whole job stops, since its parent (cargo, a script) shares the terminal.
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        // The signal comes here as well. Left for later, it would stop the program again after `fg`.
        let _or_late = tokio::time::timeout(STOP, self.signals.stopped.recv()).await;
        self.stop().await
    }

    /// Stops until someone continues the program. The terminal was given back before.
    async fn stop(&mut self) -> io::Result<()> {
        // A signal to continue from before would end the wait below at once.
        while futures::poll!(pin!(self.signals.resumed.recv())).is_ready() {}
        // SIGTSTP is caught here, and SIGSTOP stops even where no shell could continue the program.
        // This signal stops as SIGTSTP does, and nobody else sends it to a program in front.
        let this = rustix::process::getpid();
        rustix::process::kill_process(this, rustix::process::Signal::TTIN)?;
        tokio::select! {
            biased;
            _ = self.signals.resumed.recv() => {}
            () = tokio::time::sleep(STOP) => {}
        }
        self.pace.at_once();
        self.owned.retake()
    }

    fn frame(&mut self) -> io::Result<()> {
        let now = self.now();
        let screen = &mut self.screen;
        self.owned
            .terminal
            .draw(|frame| screen.draw_whole(frame.area(), frame.buffer_mut(), now))?;
        self.pace.drawn(Instant::now());
        Ok(())
    }

    /// Microseconds since the session was opened; in a replay, when its last event was.
    fn now(&self) -> u64 {
        let at = self.screen.live().at;
        let Some(opened) = self.opened else { return at };
        let since = Timestamp::now().duration_since(opened).as_micros();
        // A clock that was set back must not make times negative.
        u64::try_from(since).unwrap_or(at).max(at)
    }

    fn shoot(&mut self) {
        let Ok(size) = self.owned.terminal.size() else { return };
        let area = ratatui::layout::Rect::from((ratatui::layout::Position::ORIGIN, size));
        let mut buf = ratatui::buffer::Buffer::empty(area);
        // A picture of the screen, not of the message about the last picture.
        self.screen.view.told = false;
        self.screen.draw(area, &mut buf, self.now());
        let written = shot::write(&buf, self.screen.theme(), &self.shots, self.screen.live().n);
        match written {
            Ok(path) => {
                self.screen.tell(Tone::Good, format!("written: {} and .txt", path.display()))
            }
            Err(error) => self
                .screen
                .tell(Tone::Bad, format!("no screenshot: {}: {error}", self.shots.display())),
        }
    }
}
