//! The process that runs programs: requests come as lines of JSON, and each gets one line back.

use std::io::{self, BufRead, Read, Write};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::machine::Machine;
use crate::domain::program::{Again, CallAnswer, Pause, ProgramEnd, ProgramStart, Reached, Stops};

/// The argument that makes toolyard the process that runs programs.
pub const WORKER: &str = "--program-worker";

/// The most bytes of address space of the process. An endless list then ends only this process. Memory that the
/// allocator reserves counts, too.
const SPACE: u64 = 4 << 30;

/// Bytes of the longest request: results of tools are bounded before they come here.
const LONGEST: u64 = 256 << 20;

/// A request to the worker.
#[derive(Serialize, Deserialize)]
pub(super) enum WorkerRequest {
    Start { start: Box<ProgramStart>, stops: Stops },
    Answer { answers: Vec<CallAnswer>, stops: Stops },
    Again(Box<Again>),
}

/// A reply of the worker: a pause, or the place that a repeated program reached.
#[derive(Serialize)]
#[serde(untagged)]
enum WorkerReply {
    Pause(Box<Pause>),
    Reached(Box<Reached>),
}

impl WorkerReply {
    fn is_end(&self) -> bool {
        let pause = match self {
            WorkerReply::Pause(pause) => pause,
            WorkerReply::Reached(reached) => &reached.pause,
        };
        matches!(pause, Pause::Ended(_))
    }
}

/// Answers requests from standard input until it closes.
///
/// # Errors
/// The system's error, or an invalid request.
pub fn serve() -> io::Result<()> {
    limit();
    let _elsewhere = std::env::set_current_dir("/");
    let (mut requests, mut replies) = (io::stdin().lock(), io::stdout().lock());
    let mut machine: Option<Machine> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut requests).take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let answered = match serde_json::from_slice(&line)? {
            WorkerRequest::Start { start, stops } => {
                let (begun, pause) = Machine::begin(*start, &stops);
                machine = begun;
                WorkerReply::Pause(Box::new(pause))
            }
            WorkerRequest::Answer { answers, stops } => {
                WorkerReply::Pause(Box::new(match &mut machine {
                    Some(machine) => machine.go_on(answers, &stops),
                    None => Pause::Ended(ProgramEnd::default()),
                }))
            }
            WorkerRequest::Again(again) => {
                let (begun, reached) = Machine::again(*again);
                machine = begun;
                WorkerReply::Reached(Box::new(reached))
            }
        };
        if answered.is_end() {
            machine = None;
        }
        let mut reply = serde_json::to_vec(&answered)?;
        reply.push(b'\n');
        replies.write_all(&reply)?;
        replies.flush()?;
    }
}

/// Bounds the address space, if the system has such a limit, and prevents core files.
fn limit() {
    let most = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    for (resource, bytes) in [(Resource::As, SPACE), (Resource::Core, 0)] {
        // A tighter limit of the user stays.
        let _stays = setrlimit(resource, most(bytes));
    }
}
