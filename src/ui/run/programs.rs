//! Programs that a person runs from the screen, and alerts that call the person back to it.

use std::time::{Duration, Instant};
use std::{io, sync::Arc};

use ratatui::crossterm::event::Event as Input;
use tokio::signal::unix::SignalKind;

use super::Loop;
use crate::alert::Alert;
use crate::call_lines::Called;
use crate::domain::Record;
use crate::output;
use crate::outside::{self, CommandOutput, Files};
use crate::own::{OwnCommand, Selection, Shows};
use crate::popups::{Inspect, Subject};
use crate::source::{EndReason, JournalItem};
use crate::terminal;
use crate::view::Tone;

/// A program that waits for the terminal.
pub struct Waiting {
    selection: Selection,
    /// `None`: the person's editor.
    command: Option<OwnCommand>,
    /// Whether the topmost popup gets the text that the program leaves.
    returns: bool,
}

impl Loop {
    /// Opens this in an editor or a pager, as soon as the pending keys are handled.
    pub(super) fn view(&mut self, selection: Selection) {
        self.waiting = Some(Waiting { selection, command: None, returns: false });
    }

    /// Opens this in an editor, and gives the edited text to the topmost popup.
    pub(super) fn rewrite(&mut self, selection: Selection) {
        self.waiting = Some(Waiting { selection, command: None, returns: true });
    }

    /// Runs a command of the user.
    pub(super) fn run_own(&mut self, command: OwnCommand, selection: Selection) {
        if command.shows == Shows::Terminal {
            self.waiting = Some(Waiting { selection, command: Some(command), returns: false });
            return;
        }
        let name = command.name.clone();
        let (journal, tell) = (self.front.journal.clone(), self.said.0.clone());
        let started = Files::write(&selection).and_then(|files| {
            outside::beside(files, &selection, command, journal.as_deref(), tell)
        });
        match started {
            Ok(()) => self.front.screen.tell(Tone::Plain, format!("{name} runs")),
            Err(error) => self.front.screen.tell(Tone::Bad, format!("{name} failed: {error}")),
        }
    }

    /// Shows the output of a command.
    pub(super) fn hear(&mut self, CommandOutput { command, said }: CommandOutput) {
        let name = command.name;
        match (said, command.shows) {
            (Err(why), _) => self.front.screen.tell(Tone::Bad, format!("{name} failed: {why}")),
            (Ok(text), Shows::Popup) if !text.trim().is_empty() => {
                let said = Subject::Said(Arc::new((name, text)));
                self.front.screen.view.open(Inspect::new(said));
            }
            (Ok(_), _) => self.front.screen.tell(Tone::Good, format!("{name} has ended")),
        }
    }

    /// Gives the terminal to the waiting program until it ends; returns how the screen ends, if a signal ends it.
    pub(super) async fn lend(&mut self) -> io::Result<Option<EndReason>> {
        let Some(Waiting { selection, command, returns }) = self.waiting.take() else {
            return Ok(None);
        };
        let journal = self.front.journal.clone();
        let files = match Files::write(&selection) {
            Ok(files) => files,
            Err(error) => {
                self.front
                    .screen
                    .tell(Tone::Bad, format!("cannot create a temporary file: {error}"));
                return Ok(None);
            }
        };
        terminal::restore();
        let mut program =
            outside::in_terminal(&files, &selection, command.as_ref(), journal.as_deref());
        let ended = match program.spawn() {
            Ok(mut child) => loop {
                tokio::select! {
                    biased;
                    _ = self.signals.terminate.recv() => return Ok(Some(EndReason::BySignal(15))),
                    _ = self.signals.hangup.recv() => return Ok(Some(EndReason::BySignal(1))),
                    // The program stops with its whole job, which this process belongs to.
                    _ = self.signals.stopped.recv() => self.rest().await?,
                    ended = child.wait() => break ended,
                }
            },
            Err(error) => Err(error),
        };
        self.owned.retake()?;
        if let Some(why) = outside::complaint(&ended, command.as_ref()) {
            self.front.screen.tell(Tone::Bad, why);
        } else if returns {
            match files.text() {
                Ok(text) => {
                    let popup = self.front.screen.view.popups.last_mut();
                    popup.into_iter().for_each(|popup| popup.rewrite(&text));
                }
                Err(error) => {
                    let why = format!("cannot read the edited file: {error}");
                    self.front.screen.tell(Tone::Bad, why);
                }
            }
        }
        self.pace.at_once();
        self.lent = Some(Instant::now());
        Ok(None)
    }

    /// How this signal ends the screen. A Ctrl-C for a program that had the terminal does not: it reaches both at the
    /// same time, but this process may notice it after the program has ended.
    pub(super) fn ended_by(&self, signal: SignalKind) -> Option<EndReason> {
        let is_of_keys = [SignalKind::interrupt(), SignalKind::quit()].contains(&signal);
        let is_for_program = is_of_keys && self.lent.is_some_and(|end| end.elapsed() < LATE);
        (!is_for_program).then_some(EndReason::BySignal(signal.as_raw_value()))
    }

    /// Copies the command that makes this call by hand.
    pub(super) fn copy_command(&mut self, called: &Called) {
        match (self.as_command)(called) {
            Ok(text) => self.copy("the command", text),
            Err(why) => self.front.screen.tell(Tone::Bad, why),
        }
    }

    /// Notes whether the person looks at the terminal, if the terminal reports that.
    pub(super) fn notice_focus(&mut self, input: &Input) {
        match input {
            Input::FocusGained => self.caller.focus(true),
            Input::FocusLost => self.caller.focus(false),
            Input::Key(_) | Input::Mouse(_) | Input::Paste(_) => self.caller.press(),
            Input::Resize(..) => {}
        }
    }

    /// Alerts the person to events of a live session.
    pub(super) fn call_for(&mut self, records: &[Arc<Record>]) {
        let (has_work, now) = (self.front.screen.live().has_work(), self.front.now());
        // Events from before this screen was attached cause no alert.
        let is_new = |record: &&Arc<Record>| now.saturating_sub(record.at) < OLD;
        let alerts =
            records.iter().filter(is_new).rev().filter_map(|record| Alert::of(record, has_work));
        for alert in alerts {
            // The loss of the terminal is noticed with the next frame.
            let mut bytes = Vec::new();
            let _ = self.caller.call(alert, &mut bytes).and_then(|()| output::send(&bytes));
        }
    }
}

/// How late a signal meant for a program may arrive. The screen's own keys are not signals, so nobody waits for it.
const LATE: Duration = Duration::from_millis(500);

/// Microseconds after which an event causes no alert.
const OLD: u64 = 10_000_000;

/// The records of a batch.
pub fn records(batch: &[JournalItem]) -> Vec<Arc<Record>> {
    let records = batch.iter().filter_map(|read| match read {
        JournalItem::Record(record) => Some(Arc::clone(record)),
        JournalItem::Begin(..) => None,
    });
    records.collect()
}
