//! `toolyard score`: how well an agent recovers from a fixed suite of faults.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::{Args, value_parser};

use super::out::{expect_place, print, print_json, print_line, tell};
use super::value::{number, whole};
use super::{ConfigArgs, search_faults::trouble, stopping, trouble::Trouble};
use crate::compare::table::PlainTable;
use crate::domain::words::counted;
use crate::fault_search::{ScenarioTrials, TrialRun};
use crate::files::safe_json::safe;
use crate::net::known::without_known;
use crate::scenario::ScenarioFile;
use crate::score::{
    self, FaultSuite, LastScore, PartScore, ResilienceScore, ScoreReport, ScoredRun,
};
use crate::session::SessionSpec;
use crate::shell::NatsArgs;
use crate::store::import::{files::make_folder, write_file, write_private};
use crate::ui::text::{clean, number as grouped};

/// Runs between two lines about progress.
const EACH: usize = 100;
/// US dollars for all runs, if nothing else is said.
const DOLLARS: f64 = 10.0;
/// The most faults that are named at the end, and the most expectations that were not met.
const NAMED: usize = 5;
/// The files of a folder. The next run is compared with the first.
const FILES: [&str; 3] = ["score.json", "score.html", "badge.svg"];

#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// Scenario whose expectations say whether a run passes.
    #[arg(long, value_name = "FILE")]
    pub scenario: PathBuf,
    /// Run everything with K seeds, from the scenario's own on.
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Sessions at the same time; default: two for each processor.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub nats: NatsArgs,
    /// First seed, instead of the scenario's.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    /// Write score.json, score.html and badge.svg here, and compare with the score.json that is there.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// End before all runs together cost more than N US dollars; default: 10.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub max_dollars: Option<f64>,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// Scores an agent.
///
/// # Errors
/// The scenario cannot be read or run, or nothing can be scored, or the runs were interrupted.
pub fn score(args: &ScoreArgs) -> Result<(), Trouble> {
    let suite = FaultSuite::resilience().map_err(Trouble::Failed)?;
    let file = ScenarioFile::load(&args.scenario).map_err(Trouble::usage)?;
    let change = |spec: &mut SessionSpec| {
        spec.config = args.config.config.clone().or(spec.config.take());
        spec.seed = args.seed.or(spec.seed);
    };
    // A mistake costs no run.
    let prepared = file.prepare(|spec| change(spec)).map_err(Trouble::usage)?;
    let test = score::test_of(&file.scenario, &prepared.tasks).map_err(Trouble::Failed)?;
    let last = args.out.as_deref().map_or(Ok(None), place)?;
    let most = Some(args.max_dollars.unwrap_or(DOLLARS));
    let jobs = args.jobs.map(usize::from);
    let mut runner = stopping::runner(jobs, most, None);
    args.nats.settle(&mut runner, jobs)?;
    stopping::stop_on_interrupt(&runner.stop, "interrupted".to_owned())?;
    let made = AtomicUsize::new(0);
    let progress = |more| {
        let runs = made.fetch_add(more, Ordering::Relaxed) + more;
        if runs.is_multiple_of(EACH) {
            tell(format!("score: {} runs\n", grouped(runs as u64)));
        }
    };
    let trials = ScenarioTrials {
        file: &file,
        change: &change,
        seed: prepared.config.session.seed,
        runner: &runner,
        times: 1,
        tell: &progress,
    };
    let early = |error| trouble(error, made.load(Ordering::Relaxed));
    let seeds = (0..u64::from(args.repeat)).map(|seed| (seed, Default::default(), None));
    let alone = score::run(&trials, &seeds.collect::<Vec<_>>()).map_err(early)?;
    expect_success(&alone)?;
    let of_seed = |(seed, (_, ran)): (u64, &(_, TrialRun))| suite.runs(seed, &ran.seen.called);
    let planned: Vec<_> = (0..).zip(&alone).flat_map(of_seed).collect();
    let with = score::run(&trials, &planned).map_err(early)?;
    let hit = with.into_iter().filter(|(_, ran)| ran.was_hit).map(|(run, _)| run);
    let hit: Vec<_> = hit.collect();
    let simulated = alone.iter().any(|(_, ran)| ran.is_simulated);
    let alone: Vec<_> = alone.into_iter().map(|(run, _)| run).collect();
    let mut report = ScoreReport {
        suite: suite.title(),
        scenario: file.name(),
        test,
        simulated,
        not_hit: planned.len() - hit.len(),
        score: ResilienceScore::of(&alone, &hit),
        since: None,
    };
    if report.score.score.is_none() {
        return Err(Trouble::Failed("no fault hit a call, so nothing was scored".to_owned()));
    }
    report.since = last.map(|last| last.change(&report));
    args.out.as_deref().map_or(Ok(()), |folder| keep(folder, &report))?;
    match args.json {
        true => print_json(&serde_json::to_string(&report).map_err(Trouble::failed)?),
        false => show(&report, args.out.as_deref()),
    }
}

/// Makes the folder, finds out whether its files can be written, and reads the score of the last run.
fn place(folder: &Path) -> Result<Option<LastScore>, Trouble> {
    make_folder(folder).map_err(Trouble::usage)?;
    FILES.iter().try_for_each(|name| expect_place(&folder.join(name)))?;
    let path = folder.join(FILES[0]);
    if !path.exists() {
        return Ok(None);
    }
    // The file of somebody else is kept.
    let wrong = |why: String| Trouble::Usage(format!("{}: is no score: {why}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map(Some).map_err(|error| wrong(error.to_string()))
}

/// Refuses to score what fails without faults, or calls no tool.
fn expect_success(alone: &[(ScoredRun, TrialRun)]) -> Result<(), Trouble> {
    if !alone.iter().any(|(run, _)| run.passed) {
        let failed = alone.iter().flat_map(|(_, ran)| &ran.seen.failed).take(NAMED);
        let failed: String = failed.map(|it| format!("\n  FAILED: {}", clean(it))).collect();
        let runs = counted(alone.len(), "run");
        let text = format!("it fails without faults in {runs}, so nothing was scored:{failed}");
        return Err(Trouble::Failed(text));
    }
    match alone.iter().all(|(_, ran)| ran.seen.called.is_empty()) {
        true => Err(Trouble::Failed("it calls no tool, so there is nothing to break".to_owned())),
        false => Ok(()),
    }
}

/// Writes the files. Only the badge has nothing of the session in it.
fn keep(folder: &Path, report: &ScoreReport) -> Result<(), Trouble> {
    let json = serde_json::to_string_pretty(report).map_err(Trouble::failed)? + "\n";
    let private = |name: &str, text: &str| write_private(&folder.join(name), &without_known(text));
    private(FILES[1], &score::page(report)).map_err(Trouble::failed)?;
    write_file(&folder.join(FILES[2]), &score::badge(report)).map_err(Trouble::failed)?;
    // The last one, so that a failure leaves the score of before to compare with.
    private(FILES[0], &safe(&json)).map_err(Trouble::failed)
}

/// Prints the parts, and the number beside them.
fn show(report: &ScoreReport, folder: Option<&Path>) -> Result<(), Trouble> {
    let parts = &report.score;
    let model = if report.simulated { " with SIMULATED model" } else { "" };
    print_line(format!("{}{model}", clean(&report.scenario)))?;
    score::lines(report).into_iter().try_for_each(print_line)?;
    let mut table = PlainTable::new("", 1, &score::TITLES);
    let rows = parts.kinds.iter().chain([&parts.all]);
    rows.for_each(|part| table.row(score::row(part)));
    print(table.text() + "\n")?;
    let is_weak = |fault: &&PartScore| fault.recovered.share().is_some_and(|share| share < 1.0);
    for fault in parts.faults.iter().filter(is_weak).take(NAMED) {
        print_line(format!("{}: {}", clean(&fault.name), fault.recovered))?;
    }
    print_line(score::verdict(report))?;
    let since = report.since.as_ref().map(|since| clean(&score::change(since)).into_owned());
    let written = folder.map(|folder| format!("written: {}", folder.display()));
    since.into_iter().chain(written).try_for_each(print_line)
}
