//! `toolyard worker` and `toolyard jobs`: sessions of other machines, and what became of them.

mod jobs;
mod worker;

use clap::{Args, Subcommand};
use toolyard_nats::NatsAddress;

use self::jobs::JobsArgs;
use self::worker::WorkerArgs;
use super::{examples, trouble::Trouble};

#[derive(Debug, Subcommand)]
pub enum NatsCommand {
    /// Run sessions of other machines, which come by a NATS server.
    ///
    /// It ends on SIGINT or SIGTERM. Its sessions go on elsewhere, from where they are.
    #[command(after_help = examples::WORKER)]
    Worker(WorkerArgs),
    /// List the sessions on a NATS server; cancel them, or try them again.
    #[command(after_help = examples::JOBS)]
    Jobs(JobsArgs),
}

/// Runs a command.
///
/// # Errors
/// The server cannot be used.
pub fn obey(command: &NatsCommand) -> Result<(), Trouble> {
    match command {
        NatsCommand::Worker(args) => worker::worker(args),
        NatsCommand::Jobs(args) => jobs::jobs(args),
    }
}

/// The server of a command.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// Address of the NATS server, such as nats://host:4222.
    ///
    /// User and password, or a token, are in the address or in NATS_USER, NATS_PASSWORD and NATS_TOKEN. NATS_CA names a file
    /// of certificates for tls://.
    #[arg(long, value_name = "URL")]
    pub nats: NatsAddress,
}
