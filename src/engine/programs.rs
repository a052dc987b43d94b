//! The interpreter that a session lends to programs.

use std::sync::Arc;

use futures::future::LocalBoxFuture;

use super::handle::Handle;
use crate::domain::program::{
    Again, CallAnswer, Interpreter, LineStop, Pause, ProgramStart, Reached, StopRequest, Stops,
};
use crate::domain::{RunId, TaskId};
use crate::program::Child;
use crate::strategy;

/// The interpreter of a run, lent to one program. It stays warm for the next one.
struct Warm {
    handle: Handle,
    run: RunId,
    child: Child,
}

impl Warm {
    fn of(handle: &Handle, run: RunId) -> Self {
        let child = handle.write(|session| session.run(run).interpreter.take()).unwrap_or_default();
        Self { handle: handle.clone(), run, child }
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        let child = std::mem::take(&mut self.child);
        self.handle.write(|session| session.run(self.run).interpreter = Some(child));
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
        answers: Vec<CallAnswer>,
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

/// A program of a task, as its strategy sees it.
pub(super) struct TaskProgram<'a> {
    pub handle: &'a Handle,
    pub run: RunId,
    pub task: TaskId,
    pub number: u32,
}

impl strategy::ProgramHost for TaskProgram<'_> {
    fn interpreter(&self) -> Box<dyn Interpreter> {
        Box::new(Warm::of(self.handle, self.run))
    }

    fn wanted(&self) -> StopRequest {
        self.handle.write(|session| session.wanted_of_program(self.task, self.number))
    }

    fn reach(&self, at: &Arc<LineStop>) -> bool {
        self.handle.write(|session| session.reach(self.task, self.number, at))
    }

    fn clock(&self) -> i64 {
        self.handle.write(|session| session.clock(self.task))
    }
}
