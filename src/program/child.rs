//! Toolyard's end of the pipes to the process that runs programs.

use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use futures::future::LocalBoxFuture;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::spawn_blocking;

use super::worker::{WORKER, WorkerRequest};
use crate::domain::program::{
    Again, CallAnswer, Interpreter, Pause, ProgramEnd, ProgramStart, Raised, Reached, Stops,
};
use crate::process::{self, Pipes, RunningProgram};

/// The time that a worker may take besides the program's own time before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// Bytes of the longest reply, which bounds what a program can make the worker send.
const LONGEST: u64 = 64 << 20;

/// The factor by which stops and values may extend a program's time.
const STOPPING: u32 = 6;

/// An interpreter in a separate process. It is started for the first program, stays for the next ones, and is killed
/// when a program is stopped or does not end in time.
#[derive(Default)]
pub struct Child {
    worker: Option<Worker>,
    /// The time that it may work until the next pause.
    patience: Duration,
    is_at_work: bool,
}

struct Worker {
    /// Dropping it ends the process.
    _process: RunningProgram,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Worker {
    fn start() -> std::io::Result<Self> {
        let mut command = Command::new(process::own()?);
        command.arg(WORKER).current_dir("/");
        let (process, Pipes { stdin, stdout, stderr: _ }) = RunningProgram::start(&command)?;
        Ok(Self { _process: process, requests: stdin, replies: BufReader::new(stdout) })
    }

    async fn ask<T: DeserializeOwned>(&mut self, request: &WorkerRequest) -> std::io::Result<T> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.requests.write_all(&line).await?;
        let mut reply = Vec::new();
        (&mut self.replies).take(LONGEST).read_until(b'\n', &mut reply).await?;
        Ok(serde_json::from_slice(&reply)?)
    }
}

impl Child {
    /// The worker's reply, or the error that has ended the program.
    async fn ask<T: DeserializeOwned>(&mut self, request: WorkerRequest) -> Result<T, Raised> {
        if self.worker.is_none() {
            let started = Worker::start().map_err(|error| {
                Raised::new("SystemError", format!("the interpreter could not be started: {error}"))
            });
            self.worker = Some(started?);
        }
        let ended = || Raised::new("SystemError", "the interpreter ended");
        let worker = self.worker.as_mut().ok_or_else(ended)?;
        self.is_at_work = true;
        let reply = match in_time(self.patience, worker.ask(&request)).await {
            Some(Ok(reply)) => Ok(reply),
            Some(Err(_)) => {
                self.worker = None;
                let why = "the interpreter ended: out of memory, or nested too deep";
                Err(Raised::new("SystemError", why))
            }
            None => {
                self.worker = None;
                let text = format!("time limit exceeded: {} ms", self.patience.as_millis());
                Err(Raised::new("TimeoutError", text))
            }
        };
        self.is_at_work = false;
        reply
    }

    async fn pause(&mut self, request: WorkerRequest) -> Pause {
        let ended = |error| Pause::Ended(ProgramEnd::failed("", error));
        self.ask(request).await.unwrap_or_else(ended)
    }

    /// Prepares for another program.
    fn begin(&mut self, start: &ProgramStart) {
        let own = Duration::from_millis(start.limits.time_ms);
        self.patience = if start.stoppable { own * STOPPING } else { own } + GRACE;
        // A program that was left in the middle is over.
        if self.is_at_work {
            self.stop();
        }
    }
}

/// The output, if it comes in this time. The timer waits on a thread that may block: so a clock that tests have paused
/// does not run ahead of a real process.
async fn in_time<T>(patience: Duration, work: impl Future<Output = T>) -> Option<T> {
    let (done, wait) = mpsc::channel::<()>();
    let timer =
        spawn_blocking(move || wait.recv_timeout(patience) == Err(RecvTimeoutError::Timeout));
    let output = tokio::select! {
        biased;
        output = work => Some(output),
        _ = timer => None,
    };
    drop(done);
    output
}

impl Interpreter for Child {
    fn start<'a>(
        &'a mut self,
        start: &'a ProgramStart,
        stops: &'a Stops,
    ) -> LocalBoxFuture<'a, Pause> {
        self.begin(start);
        let request = WorkerRequest::Start { start: Box::new(start.clone()), stops: stops.clone() };
        Box::pin(self.pause(request))
    }

    fn answer<'a>(
        &'a mut self,
        answers: Vec<CallAnswer>,
        stops: &'a Stops,
    ) -> LocalBoxFuture<'a, Pause> {
        Box::pin(self.pause(WorkerRequest::Answer { answers, stops: stops.clone() }))
    }

    fn again<'a>(&'a mut self, again: &'a Again) -> LocalBoxFuture<'a, Reached> {
        self.begin(&again.start);
        // Finding the place may take several runs.
        self.patience *= 2;
        let request = WorkerRequest::Again(Box::new(again.clone()));
        Box::pin(async move { self.ask(request).await.unwrap_or_else(Reached::failed) })
    }

    fn stop(&mut self) {
        self.worker = None;
        self.is_at_work = false;
    }
}
