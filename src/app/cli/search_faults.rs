//! `toolyard search-faults`: a smallest set of faults under which a scenario fails.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::{Args, value_parser};

use super::out::{expect_place, print_line, tell};
use super::value::{number, whole};
use super::watch::faulted::WatchedTrials;
use super::{ConfigArgs, stopping, trouble::Trouble};
use crate::domain::words::counted;
use crate::domain::{FaultKind, FaultSpec};
use crate::fault_search::{
    FaultSearch, ScenarioTrials, SearchEnd, SearchPlan, Seen, Smallest, TrialError, Trials,
};
use crate::net::known::without_known;
use crate::scenario::{Scenario, ScenarioFile};
use crate::session::SessionSpec;
use crate::shell::NatsArgs;
use crate::store::import::write_private;
use crate::ui::text::{clean, number as grouped};

/// The kinds that are tried, the mildest first: of two that fail, the milder one is kept.
const KINDS: &str = "truncated,empty,garbage,wrong,error,rate-limit,auth-expired,reset";
/// Runs between two lines about progress.
const EACH: usize = 100;
/// US dollars for all runs, if nothing else is said.
const DOLLARS: f64 = 5.0;

#[derive(Debug, Args)]
pub struct SearchFaultsArgs {
    /// Scenario whose expectations a set of faults should break.
    #[arg(long, value_name = "FILE")]
    pub scenario: PathBuf,
    /// Most runs before a set is found; the few that make it smaller come on top.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub runs: u32,
    /// Most faults of a set.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u8).range(1..=4))]
    pub most: u8,
    /// Kinds of faults, the mildest first, as `toolyard run --fault` has them.
    #[arg(long, value_name = "KINDS", default_value = KINDS, value_delimiter = ',', value_parser = kind)]
    pub kinds: Vec<FaultKind>,
    /// Runs of each set, with other seeds, for an agent that varies. A set fails if most of them do.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = value_parser!(u32).range(1..=100))]
    pub times: u32,
    /// Sessions at the same time; default: two for each processor.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub nats: NatsArgs,
    /// For a watched agent: give it the answers of this journal as long as its requests are as recorded.
    #[arg(long, value_name = "JOURNAL", requires = "command")]
    pub recorded: Option<PathBuf>,
    /// Seed of the sessions, instead of the scenario's.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    /// Write the scenario with the set to this file.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// End before all runs together cost more than N US dollars; default: 5.
    ///
    /// A search with your own agent has no default.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub max_dollars: Option<f64>,
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Search with your own agent: its command. Each run is watched, as by `toolyard watch --headless`.
    #[arg(value_name = "COMMAND", last = true)]
    pub command: Vec<String>,
}

/// A kind of fault of a tool, with its settings.
fn kind(text: &str) -> Result<FaultKind, String> {
    let spec: FaultSpec = format!("tool:tool:{text}").parse()?;
    match spec.trigger == Default::default() {
        true => Ok(spec.kind),
        false => Err("expected a kind without a trigger".to_owned()),
    }
}

/// Searches. The exit code is 1 if a set was found, or if the scenario fails without faults.
///
/// # Errors
/// The scenario cannot be read or run, or the search was interrupted.
pub fn search_faults(args: &SearchFaultsArgs) -> Result<ExitCode, Trouble> {
    let file = ScenarioFile::load(&args.scenario).map_err(Trouble::usage)?;
    if let Some(path) = &args.out {
        expect_place(path)?;
    }
    let change = |spec: &mut SessionSpec| {
        spec.config = args.config.config.clone().or(spec.config.take());
        spec.seed = args.seed.or(spec.seed);
    };
    // A watched agent has a limit only if a person has given one: its models may have no price.
    let default = args.command.is_empty().then_some(DOLLARS);
    let most = args.max_dollars.or(default);
    let jobs = args.jobs.map(usize::from);
    let mut runner = stopping::runner(jobs, most, None);
    args.nats.settle(&mut runner, jobs)?;
    let made = AtomicUsize::new(0);
    let progress = |runs: usize| {
        let before = made.fetch_add(runs, Ordering::Relaxed);
        if before / EACH < (before + runs) / EACH {
            tell(format!("search-faults: {} runs\n", grouped((before + runs) as u64)));
        }
    };
    let (runner, tell, times) = (&runner, &progress, args.times);
    if !args.command.is_empty() {
        let own = file.watched().map_err(Trouble::usage)?;
        let seed = args.seed.or(own.seed).unwrap_or_default();
        stopping::stop_on_interrupt(&runner.stop, "interrupted".to_owned())?;
        let (recorded, config) = (args.recorded.as_deref(), args.config.config.as_deref());
        let command = &args.command;
        let trials = WatchedTrials { file: &file, command, recorded, config, runner, times, tell };
        return search((args, seed), &file, trials);
    }
    // A mistake in the file costs no run.
    let seed = file.prepare(|spec| change(spec)).map_err(Trouble::usage)?.config.session.seed;
    stopping::stop_on_interrupt(&runner.stop, "interrupted".to_owned())?;
    let trials = ScenarioTrials { file: &file, change: &change, seed, runner, times, tell };
    search((args, seed), &file, trials)
}

/// Searches by these trials, and prints the result.
fn search<T: Trials<Error = TrialError>>(
    (args, seed): (&SearchFaultsArgs, u64),
    file: &ScenarioFile,
    trials: T,
) -> Result<ExitCode, Trouble> {
    let plan = SearchPlan {
        kinds: args.kinds.clone(),
        most: usize::from(args.most),
        runs: args.runs as usize,
        seed,
    };
    print_line(format!(
        "searching: {} on the tools that {} calls, up to {} at once, at most {}",
        counted(plan.kinds.len(), "kind of fault").replace("kind of faults", "kinds of faults"),
        clean(&file.name()),
        plan.most,
        counted(grouped(plan.runs as u64), "run"),
    ))?;
    let mut search = FaultSearch::new(plan, trials);
    let end = search.run().map_err(|error| trouble(error, search.made))?;
    let runs = counted(grouped(search.made as u64), "run");
    match end {
        SearchEnd::FailsAlone(seen) => {
            print_line("it fails without faults, so nothing was searched:")?;
            missed(&seen)?;
            Ok(ExitCode::FAILURE)
        }
        SearchEnd::NoTool => {
            print_line("it calls no tool, so there is nothing to break")?;
            Ok(ExitCode::SUCCESS)
        }
        SearchEnd::Nothing { is_covered } => {
            let tools = counted(search.tools(), "tool");
            print_line(match is_covered {
                true => format!("nothing found: all sets were covered by {runs} on {tools}"),
                false => format!("nothing found in {runs} on {tools}; --runs N searches longer"),
            })?;
            Ok(ExitCode::SUCCESS)
        }
        SearchEnd::Found(found) => {
            tell_of((args, seed), file, &found, &runs)?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Prints the set, and writes it.
fn tell_of(
    (args, seed): (&SearchFaultsArgs, u64),
    file: &ScenarioFile,
    found: &Smallest,
    runs: &str,
) -> Result<(), Trouble> {
    let faults = counted(found.faults.len(), "fault");
    print_line(format!(
        "found after {runs}: it fails with {faults}, and passes without any one of them"
    ))?;
    for fault in &found.faults {
        print_line(format!("  {}", clean(&fault.to_string())))?;
    }
    missed(&found.seen)?;
    let Some(path) = &args.out else { return Ok(()) };
    let name = format!("{} with {faults}", file.name());
    let mut session = file.scenario.session.clone();
    session.seed = Some(seed);
    // A watched agent is not toolyard's to begin afresh.
    session.fresh |= args.command.is_empty();
    session.faults.extend(found.faults.iter().cloned());
    let about = Some(format!("A smallest set of faults under which it fails, found after {runs}."));
    let scenario =
        Scenario { name: Some(name), about, session, expect: file.scenario.expect.clone() };
    let text = scenario.to_toml().map_err(Trouble::failed)?;
    write_private(path, &without_known(&text)).map_err(Trouble::failed)?;
    print_line(format!("written: {}", path.display()))
}

/// Prints what was expected and not found.
fn missed(seen: &Seen) -> Result<(), Trouble> {
    if seen.times.1 > 1 {
        print_line(format!("failed in {} of {} runs", seen.times.0, seen.times.1))?;
    }
    seen.failed.iter().try_for_each(|failed| print_line(format!("  FAILED: {}", clean(failed))))
}

/// The error of a run, after so many that have ended.
pub(super) fn trouble(error: TrialError, made: usize) -> Trouble {
    match error {
        TrialError::Session(error) => error.into(),
        TrialError::Scenario(problems) => Trouble::Usage(problems),
        TrialError::Lacks(why) => {
            Trouble::Failed(format!("a session ended after {}: {why}", counted(made, "run")))
        }
        TrialError::Stopped => {
            Trouble::Failed(format!("interrupted after {}", counted(made, "run")))
        }
    }
}
