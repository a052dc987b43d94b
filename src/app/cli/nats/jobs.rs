//! `toolyard jobs`: the jobs on a server, and what a person does with them.

use std::sync::Arc;

use clap::Args;
use toolyard_nats::{JobServer, JobState, ListedJob, NatsError, ResultEnd};

use super::ServerArgs;
use crate::cli::out::{print, print_line, print_pretty, warn};
use crate::cli::{runtime::runtime, trouble::Trouble};
use crate::compare::table::PlainTable;
use crate::domain::words::{clipped, counted};
use crate::shell::value;
use crate::ui::text::clean;

/// Characters of what a job ended with.
const WIDTH: usize = 100;

#[derive(Debug, Args)]
pub struct JobsArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Run this job again: it was set aside or cancelled.
    #[arg(long, value_name = "JOB", value_parser = value::tag)]
    retry: Vec<String>,
    /// Cancel this job, whether it waits or runs.
    #[arg(long, value_name = "JOB", value_parser = value::tag)]
    cancel: Vec<String>,
    /// List finished jobs as well.
    #[arg(long)]
    all: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Lists the jobs of a server, or changes some.
///
/// # Errors
/// The server cannot be used, or a job does not allow the change.
pub fn jobs(args: &JobsArgs) -> Result<(), Trouble> {
    runtime()?.block_on(async {
        let tell = Arc::new(|text: &str| warn(text));
        let server = JobServer::connect(args.server.nats.clone(), false, tell).await;
        let server = server.map_err(Trouble::failed)?;
        for job in &args.retry {
            server.retry(job).await.map_err(Trouble::failed)?;
            print_line(format!("{job} is to run again"))?;
        }
        for job in &args.cancel {
            server.cancel(job).await.map_err(Trouble::failed)?;
            print_line(format!("{job} is cancelled"))?;
        }
        if args.retry.is_empty() && args.cancel.is_empty() {
            list(&server, args).await?;
        }
        server.close().await;
        Ok(())
    })
}

async fn list(server: &JobServer, args: &JobsArgs) -> Result<(), Trouble> {
    let all: Vec<ListedJob> =
        server.list().await.map_err(|error: NatsError| Trouble::failed(error))?;
    if args.json {
        return print_pretty(&all);
    }
    let is_done =
        |job: &ListedJob| matches!(job.state, JobState::Ended { end: ResultEnd::Done, .. });
    let done = all.iter().filter(|job| is_done(job)).count();
    let mut table = PlainTable::new("Jobs", 1, &["job", "state", "worker", "why"]);
    let shown: Vec<_> = all.iter().filter(|job| args.all || !is_done(job)).collect();
    for ListedJob { job, state } in &shown {
        let (state, worker, why) = said(state);
        table.row([job, state, worker, &why].map(|text| clean(text).into_owned()).into());
    }
    if !shown.is_empty() {
        print(table.text() + "\n")?;
    }
    print_line(format!("{} on {}, {done} done", counted(all.len(), "job"), server.address))
}

fn said(state: &JobState) -> (&'static str, &str, String) {
    match state {
        JobState::Waiting => ("waiting", "", String::new()),
        JobState::Running { worker } => ("running", worker, String::new()),
        JobState::Wrong { why } => ("wrong", "", clipped(why, WIDTH)),
        JobState::Ended { worker, end } => match end {
            ResultEnd::Done => ("done", worker, String::new()),
            ResultEnd::Stopped => ("stopped", worker, String::new()),
            ResultEnd::Cancelled => ("cancelled", worker, String::new()),
            ResultEnd::Dead { deaths, .. } => {
                let why = format!("{} workers ended in it", deaths.workers.len());
                let causes = deaths.causes.iter().map(|cause| format!(": {cause}"));
                ("dead", worker, clipped(&(why + &causes.collect::<String>()), WIDTH))
            }
        },
    }
}
