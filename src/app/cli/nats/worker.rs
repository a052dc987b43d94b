//! `toolyard worker`: runs sessions of other machines.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;
use signal_hook::low_level::emulate_default_handler;
use tokio::runtime::Builder;
use tokio::sync::watch;

use super::ServerArgs;
use crate::cli::{ConfigArgs, trouble::Trouble};
use crate::config::Config;
use crate::domain::approval::Rule;
use crate::machines::{Worker, WorkerSettings};
use crate::shell::{runtime::interrupted, stopping, value};

/// Variables whose settings are those of a job.
const OF_JOBS: [&str; 4] =
    ["TOOLYARD_STRATEGY", "TOOLYARD_SEED", "TOOLYARD_WORKSPACE", "TOOLYARD_MODEL"];

/// How long the server may take to learn where sessions stand.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Args)]
pub struct WorkerArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Sessions at the same time; default: two for each processor.
    #[arg(long, value_name = "N", value_parser = value::positive)]
    jobs: Option<NonZeroUsize>,
    /// Take jobs with this tag as well, and first.
    #[arg(long, value_name = "TAG", value_parser = value::tag)]
    tag: Option<String>,
    /// Allow calls of a tool without asking, for example `effect:unknown`.
    ///
    /// A job whose tools this machine does not allow is left to others.
    #[arg(long, value_name = "RULE")]
    allow: Vec<Rule>,
    /// Let people attach to its sessions: toolyard attach nats://HOST/JOB.
    ///
    /// Breakpoints of a job then hold it while a screen is attached.
    #[arg(long)]
    control: bool,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Takes jobs until SIGINT or SIGTERM.
///
/// # Errors
/// The configuration is wrong, or the server cannot be used.
pub fn worker(args: &WorkerArgs) -> Result<(), Trouble> {
    let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = OF_JOBS.iter().find(is_set) {
        return Err(Trouble::Usage(format!(
            "{name} is set, and a worker runs jobs with their own settings: unset it"
        )));
    }
    let mut config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
    config.approval.allow.extend(args.allow.iter().cloned());
    let settings = WorkerSettings {
        server: args.server.nats.clone(),
        at_once: args.jobs.map_or_else(stopping::usual, NonZeroUsize::get),
        tag: args.tag.clone(),
        config,
        is_open: args.control,
    };
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.map_err(Trouble::failed)?.block_on(async {
        let (leave, leaving) = watch::channel(false);
        let work = async {
            Worker::new(settings, leaving).await?.work().await;
            Ok(())
        };
        let signal = async {
            interrupted().await;
            let _ = leave.send(true);
            // The second one ends it at once, as does a server that is not there: its sessions go on elsewhere all the same.
            tokio::select! {
                signal = interrupted() => drop(emulate_default_handler(signal)),
                () = tokio::time::sleep(PATIENCE) => {}
            }
        };
        tokio::select! {
            worked = work => worked,
            () = signal => Ok(()),
        }
    })
}
