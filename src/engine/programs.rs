//! What programs get of a session: an interpreter, where they stop, and the time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use futures::future::LocalBoxFuture;

use super::{handle::Handle, session::Session};
use crate::domain::program::{Answer, Interpreter, Pause, ProgramStart, Stops};
use crate::domain::{Mode, ProgramEvent};
use crate::program::Child;

/// The session's interpreter, lent to one program. It stays warm for the next one.
pub(super) struct Warm {
    handle: Handle,
    child: Child,
}

impl Warm {
    pub fn of(handle: &Handle) -> Self {
        let child = handle.write(|session| session.interpreter.take()).unwrap_or_default();
        Self { handle: handle.clone(), child }
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        let child = std::mem::take(&mut self.child);
        self.handle.write(|session| session.interpreter = Some(child));
    }
}

impl Interpreter for Warm {
    fn start<'a>(
        &'a mut self,
        start: &'a ProgramStart,
        stops: &'a Stops,
    ) -> LocalBoxFuture<'a, Pause> {
        self.child.start(start, stops)
    }

    fn answer<'a>(
        &'a mut self,
        answers: Vec<Answer>,
        stops: &'a Stops,
    ) -> LocalBoxFuture<'a, Pause> {
        self.child.answer(answers, stops)
    }

    fn stop(&mut self) {
        self.child.stop();
    }
}

impl Session {
    /// Where a program at work has to stop: a person steps, or wants to pause.
    pub fn program_stops(&self) -> Stops {
        match self.state.control.mode {
            Mode::Stepping | Mode::Pausing | Mode::Paused => Stops::Every { depth: None },
            Mode::Opening | Mode::Running | Mode::SteppingTask | Mode::Ended => Stops::None,
        }
    }

    /// The time of day; that of the record where this session repeats one.
    pub fn clock(&mut self) -> i64 {
        let now = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        };
        let millis = self.recorded.clock().unwrap_or_else(now);
        let task = self.state.current_task().map(|task| task.id).unwrap_or_default();
        self.emit(ProgramEvent::ClockRead { task, millis });
        millis
    }
}
