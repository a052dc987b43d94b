//! The terminal goes back to the shell, and comes from it again.

use std::time::{Duration, Instant};
use std::{io, pin::pin};

use super::Loop;
use crate::inputs::{Inputs, TerminalEvent};
use crate::source::EndReason;
use crate::terminal;

/// How long to wait for the shell's stop signal before taking the terminal back. The signal does not come without a
/// shell that could continue the program.
const STOP: Duration = Duration::from_millis(250);

/// How long the end waits for an answer that the terminal owes.
const LATE: Duration = Duration::from_millis(200);

impl Loop {
    /// Waits for an answer that the terminal owes, so that no other program takes it for keys. Returns what a person has
    /// typed meanwhile.
    pub(super) async fn hear_out(&mut self, inputs: &mut Inputs) -> Vec<TerminalEvent> {
        let mut typed = Vec::new();
        let until = tokio::time::Instant::now() + LATE;
        while self.pace.is_asking() {
            let news = tokio::time::timeout_at(until, inputs.next()).await;
            match news {
                Ok(Ok(TerminalEvent::Answered)) => self.pace.answered(Instant::now(), true),
                Ok(Ok(TerminalEvent::Silent) | Err(_)) | Err(_) => {
                    self.pace.answered(Instant::now(), false);
                }
                Ok(Ok(other)) => typed.push(other),
            }
        }
        typed
    }

    /// Gives the terminal to the shell or to a program that waits for it; returns how the screen ends, if a signal ends it.
    pub(super) async fn give_way(&mut self, inputs: &mut Inputs) -> io::Result<Option<EndReason>> {
        if !self.suspends && self.waiting.is_none() {
            return Ok(None);
        }
        let typed = self.hear_out(inputs).await;
        if std::mem::take(&mut self.suspends) {
            self.suspend().await?;
        }
        let mut ended = None;
        if self.waiting.is_some() {
            // It would take keys that are meant for the program.
            inputs.end_reader();
            let lent = self.lend().await;
            *inputs = Inputs::new()?;
            ended = lent?;
        }
        inputs.put_back(typed);
        Ok(ended)
    }

    /// Returns to the shell, like any program on ctrl-z.
    async fn suspend(&mut self) -> io::Result<()> {
        terminal::restore();
        // The whole job stops, since its parent (cargo, a script) shares the terminal.
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        // The signal arrives here as well. If it were left for later, it would stop the program again after `fg`.
        let _or_late = tokio::time::timeout(STOP, self.signals.stopped.recv()).await;
        self.stop().await
    }

    /// Stops until someone continues the program. The terminal was given back before.
    pub(super) async fn stop(&mut self) -> io::Result<()> {
        self.rest().await?;
        self.pace.at_once();
        self.owned.retake()
    }

    /// Like [`Self::stop`], while the terminal belongs to another program.
    pub(super) async fn rest(&mut self) -> io::Result<()> {
        // An earlier signal to continue would end the wait below at once.
        while futures::poll!(pin!(self.signals.resumed.recv())).is_ready() {}
        // SIGTSTP is caught here, and SIGSTOP would stop the program even if no shell can continue it. SIGTTIN stops as
        // SIGTSTP does, and nobody else sends it to a foreground program.
        let this = rustix::process::getpid();
        rustix::process::kill_process(this, rustix::process::Signal::TTIN)?;
        tokio::select! {
            biased;
            _ = self.signals.resumed.recv() => {}
            () = tokio::time::sleep(STOP) => {}
        }
        Ok(())
    }
}
