//! Jobs, journals and results on a NATS server with JetStream. Nothing here knows what a job does.
//!
//! ```text
//! job.TAG.JOB   a job that waits, or that a worker has a lease for      work queue: removed with its result
//! journal.JOB   what its workers have written, in order                 each message names the last one: a fence
//! result.JOB    how it ended                                            written once
//! purse.RUN     dollars of a run: before it, and taken by each job       the newest state, by compare and set
//! purse.of-JOB  the run whose purse a job takes its dollars from         the newest one
//! ```
//!
//! Files that jobs need are in an object store, by the hash of their content. Clocks of machines are never compared.

mod address;
mod journal;
mod purse;
mod queue;
mod server;
mod tunnel;

pub use self::address::NatsAddress;
pub use self::journal::{Entry, JobJournal, JournalWriter};
pub use self::purse::{JobPurse, PurseState};
pub use self::queue::{Deaths, JobResult, JobState, Lease, ListedJob, ResultEnd};
pub use self::server::{JobServer, LEASE};
pub use self::tunnel::Tunnel;
use toolyard_net as net;

/// Why a server, or what is on it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    #[error("{0}")]
    Address(String),
    #[error(
        "{address}: no NATS server answers: {why}; start one with `nats-server -js`, or correct the address"
    )]
    Unreachable { address: String, why: String },
    #[error("{address}: the server refuses the user, password or token")]
    Refused { address: String },
    #[error("{address}: the server has no JetStream ({why}); start it with `nats-server -js`")]
    NoJetStream { address: String, why: String },
    #[error(
        "{address}: the server has version {found}; expected {OLDEST} or newer, since older ones keep jobs that are done"
    )]
    TooOld { address: String, found: String },
    #[error(
        "{address}: the stream {stream} has {found}, and toolyard needs {needed}; remove the stream, or use another server"
    )]
    OtherSettings { address: String, stream: String, found: String, needed: String },
    #[error("{what}: a message is too long: the server takes {most} bytes (max_payload)")]
    TooLong { what: String, most: usize },
    /// A result that cannot be used.
    #[error("{0}")]
    WrongResult(String),
    /// The server does not answer, or not as it should.
    #[error("{0}")]
    Failed(String),
    /// Another worker has the job, or it was cancelled.
    #[error("another worker has the job, or it was cancelled")]
    Lost,
}

/// The oldest server whose queue forgets jobs that are done.
pub const OLDEST: &str = "2.10.0";

impl NatsError {
    /// An error of the client.
    fn of(what: &str, error: impl std::fmt::Display) -> Self {
        Self::Failed(format!("NATS: {what}: {error}"))
    }
}
