//! The interpreter that programs get of a session.

use futures::future::LocalBoxFuture;

use super::{handle::Handle, session::Session};
use crate::domain::program::{Again, Answer, Interpreter, Pause, ProgramStart, Reached, Stops};
use crate::program::Child;

/// The session's interpreter, lent to one program. It stays warm for the next one.
pub(super) struct Warm {
    handle: Handle,
    child: Child,
}

impl Warm {
    pub fn of(handle: &Handle) -> Self {
        let child = handle.write(Session::lend_interpreter);
        Self { handle: handle.clone(), child }
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        let child = std::mem::take(&mut self.child);
        self.handle.write(|session| session.return_interpreter(child));
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

    fn again<'a>(&'a mut self, again: &'a Again) -> LocalBoxFuture<'a, Reached> {
        self.child.again(again)
    }

    fn stop(&mut self) {
        self.child.stop();
    }
}
