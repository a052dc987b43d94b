//! Toolyard's end of the pipes to the process that runs programs.

use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use futures::future::LocalBoxFuture;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::spawn_blocking;

use super::worker::{Request, WORKER};
use crate::domain::program::{Answer, Interpreter, Pause, ProgramEnd, ProgramStart, Raised, Stops};
use crate::process::{self, Pipes, Program};

/// How long a worker may take beside the program's own time before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// What stops and values may add to a program's time.
const STOPPING: u32 = 6;

/// An interpreter in a process of its own. It is started for the first program, stays for the next ones, and is killed
/// when a program is stopped or does not end in time.
#[derive(Default)]
pub struct Child {
    worker: Option<Worker>,
    /// How long it may work until the next pause.
    patience: Duration,
    is_at_work: bool,
}

struct Worker {
    /// Dropping it ends the process.
    _process: Program,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Worker {
    fn start() -> std::io::Result<Self> {
        let mut command = Command::new(process::own()?);
        command.arg(WORKER).current_dir("/");
        let (process, Pipes { stdin, stdout, stderr: _ }) = Program::start(&command)?;
        Ok(Self { _process: process, requests: stdin, replies: BufReader::new(stdout) })
    }

    async fn ask(&mut self, request: &Request) -> std::io::Result<Pause> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.requests.write_all(&line).await?;
        let mut reply = Vec::new();
        self.replies.read_until(b'\n', &mut reply).await?;
        Ok(serde_json::from_slice(&reply)?)
    }
}

impl Child {
    async fn ask(&mut self, request: Request) -> Pause {
        if self.worker.is_none() {
            match Worker::start() {
                Ok(worker) => self.worker = Some(worker),
                Err(error) => {
                    return dead(&format!("the interpreter could not be started: {error}"));
                }
            }
        }
        let Some(worker) = &mut self.worker else { return dead("the interpreter ended") };
        self.is_at_work = true;
        let pause = match in_time(self.patience, worker.ask(&request)).await {
            Some(Ok(pause)) => pause,
            Some(Err(_)) => {
                self.worker = None;
                dead("the interpreter ended: out of memory, or nested too deep")
            }
            None => {
                self.worker = None;
                let text = format!("time limit exceeded: {} ms", self.patience.as_millis());
                Pause::Ended(ProgramEnd::failed("", Raised::new("TimeoutError", text)))
            }
        };
        self.is_at_work = false;
        pause
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

fn dead(why: &str) -> Pause {
    Pause::Ended(ProgramEnd::failed("", Raised::new("SystemError", why)))
}

impl Interpreter for Child {
    fn start<'a>(
        &'a mut self,
        start: &'a ProgramStart,
        stops: &'a Stops,
    ) -> LocalBoxFuture<'a, Pause> {
        let own = Duration::from_millis(start.limits.time_ms);
        self.patience = if start.stoppable { own * STOPPING } else { own } + GRACE;
        // A program that was left in the middle is over.
        if self.is_at_work {
            self.stop();
        }
        let request = Request::Start { start: Box::new(start.clone()), stops: stops.clone() };
        Box::pin(self.ask(request))
    }

    fn answer<'a>(
        &'a mut self,
        answers: Vec<Answer>,
        stops: &'a Stops,
    ) -> LocalBoxFuture<'a, Pause> {
        Box::pin(self.ask(Request::Answer { answers, stops: stops.clone() }))
    }

    fn stop(&mut self) {
        self.worker = None;
        self.is_at_work = false;
    }
}
