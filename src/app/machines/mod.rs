//! Sessions on other machines, by way of a NATS server.
//!
//! ```text
//! spec ─► Order ─► queue ─► worker: Order ─► session ─► journal.JOB ─► result.JOB ─► the same journal here
//!           └── packs: the files that it names, by hash ──► store for files ──┘
//! ```
//!
//! Where a session ran makes no difference to what is made of its journal.

mod cache;
mod config_text;
mod laid_job;
mod look;
mod order;
mod pack;
mod place;
mod worker;
mod worker_purse;

pub use self::look::{Look, is_address};
pub use self::pack::Excluded;
pub use self::place::Machines;
pub use self::worker::{Worker, WorkerSettings};
use crate::session::SessionError;
use toolyard_nats::NatsError;

fn failed(error: NatsError) -> SessionError {
    SessionError::failed(error.to_string())
}
