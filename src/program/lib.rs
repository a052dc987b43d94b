//! Runs programs that a model writes over the tools (ATC), in a separate process.
//!
//! Python's own interpreter is not a sandbox and never pauses; this one (monty) can reach the outside only by calls of
//! tools, at which it pauses. A program can still exhaust the memory or overflow the stack of its process, so that
//! process is not ours: toolyard starts itself with [`WORKER`].

use toolyard_domain as domain;
use toolyard_papers as papers;
use toolyard_process as process;

mod child;
mod machine;
mod memory;
mod value;
mod worker;

pub use self::child::Child;
pub use self::worker::{WORKER, serve};
