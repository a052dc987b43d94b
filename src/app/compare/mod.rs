//! Comparisons: the same tasks under many combinations of strategies and settings, like the
//! experiments of papers. Each combination runs once with each seed, as a normal session, and the
//! comparison uses only their reports.
//!
//! ```text
//! DIR/warm-up/1-react/seed-0.jsonl.zst  sessions that gather past uses, one after the other
//! DIR/react+btp/settings.json           all settings; a folder never mixes different ones
//! DIR/react+btp/seed-0.jsonl.zst        the journal of a session
//! DIR/react+btp/seed-0.2.jsonl.zst      its continuation after an interruption
//! DIR/react+btp/seed-0.sqlite           its past uses: a copy of the warm-up's, and its own
//! ```

mod args;
pub mod columns;
pub mod experiment;
pub mod grid;
mod print;
pub mod result;
mod setting;
pub mod settings;
pub mod table;
pub mod time_left;
pub mod verdict;

use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::config::{self, Config};
use crate::domain::words::counted;
use crate::engine::PurseShare;
use crate::runner::{Job, JobEnd, Runner, Shard};
use crate::session::SessionSpec;
use crate::store::experience::Experience;

pub use self::args::{CompareOptions, Seeds, WarmUp};
use self::experiment::Experiment;
pub use self::experiment::without_reader;
pub use self::print::print as print_all;
use self::result::{CellResult, Ran};
use self::{grid::Cell, settings::CheckedCell};
use crate::shell::{litter, out, stopping, trouble::Trouble};

/// Offset of warm-up seeds, so that no session meets the same draws that made its past.
const APART: u64 = 1_000_000;

/// A comparison, and where its output goes.
pub struct Comparison {
    /// The command that runs it, as users write it.
    command: &'static str,
    pub cells: Vec<(Cell, SessionSpec, CheckedCell)>,
    pub seeds: Seeds,
    warm_up: WarmUp,
    base: Option<PathBuf>,
    folder: PathBuf,
    /// Whether it can be continued.
    is_kept: bool,
    /// The part of the jobs that runs here; `None`: all, with the tables.
    shard: Option<Shard>,
    runner: Runner,
}

/// Runs all combinations of an experiment and prints the results.
///
/// # Errors
/// Any fault of any combination, before the first one runs; or the comparison was interrupted.
pub fn print(options: &CompareOptions, experiment: &Experiment) -> Result<(), Trouble> {
    match compared(options, experiment)? {
        Some((comparison, results)) => print_all(options, experiment, &comparison, &results),
        None => Ok(()),
    }
}

/// Runs all combinations of an experiment, and returns its verdicts.
///
/// # Errors
/// As [`print`].
pub fn verdicts(options: &CompareOptions, experiment: &Experiment) -> Result<Vec<String>, Trouble> {
    let compared = compared(options, experiment)?;
    Ok(compared.map_or_else(Vec::new, |(_, results)| (experiment.verdicts)(&results)))
}

/// Runs all combinations. `None`: only a part of the sessions was to run here.
///
/// # Errors
/// As [`print`].
pub fn compared(
    options: &CompareOptions,
    experiment: &Experiment,
) -> Result<Option<(Comparison, Vec<CellResult>)>, Trouble> {
    let mut session = usual(options)?;
    let seeds = seeds(options)?;
    let mut models = models(&session)?;
    (experiment.settle)(options, &mut session, &mut models)?;
    let cells = (experiment.cells)(options, &models)?;
    session.endpoints.extend((experiment.endpoints)(&session, &cells)?);
    let checked: Result<Vec<_>, Trouble> = cells
        .into_iter()
        .map(|cell| {
            let spec = cell.session(&session);
            let checked = settings::check(&spec)?;
            Ok((cell, spec, checked))
        })
        .collect();
    // A temporary folder ends with the comparison.
    let (folder, temporary) = match &options.out {
        Some(folder) => (folder.clone(), None),
        None => {
            let folder = litter::folder().map_err(Trouble::failed)?;
            (folder.path().to_owned(), Some(folder))
        }
    };
    let jobs = options.jobs.map(usize::from);
    let mut runner = stopping::runner(jobs, options.session.max_dollars, options.shard);
    options.nats.settle(&mut runner, jobs)?;
    let warm_up = options.warm_up.clone().unwrap_or_else(|| (experiment.warm_up)(options));
    let mut comparison = Comparison {
        command: experiment.command,
        cells: checked?,
        seeds,
        warm_up,
        base: session.experience.clone(),
        folder,
        is_kept: options.out.is_some(),
        shard: options.shard,
        runner,
    };
    let litter = temporary.as_ref().map(|folder| folder.path().to_owned());
    *comparison.runner.stop.litter.lock().unwrap_or_else(PoisonError::into_inner) = litter;
    stopping::stop_on_interrupt(&comparison.runner.stop, interrupted(options).text().to_owned())?;
    comparison.hold()?;
    let bases = comparison.gather(&session)?;
    let results = comparison.run(&bases)?.ok_or_else(|| interrupted(options))?;
    if let Some(shard) = options.shard {
        let rest = "the same command without --shard prints the tables when all parts are done";
        comparison.tell(&format!("shard {shard} done; {rest}"));
        return Ok(None);
    }
    Ok(Some((comparison, results)))
}

fn interrupted(options: &CompareOptions) -> Trouble {
    Trouble::Failed(match &options.out {
        Some(folder) => {
            format!("interrupted; run the same command again to continue from {}", folder.display())
        }
        None => "interrupted; only a run with --out DIR can be continued".to_owned(),
    })
}

/// The common settings of all sessions.
fn usual(options: &CompareOptions) -> Result<SessionSpec, Trouble> {
    let given = &options.session;
    // Each combination has its own planner and solver, which may be lists here.
    let session = SessionSpec { roles: Default::default(), ..given.spec(None)? };
    for (given, option, instead) in [
        (session.strategy.is_some(), "--strategy", "use --strategies instead"),
        (given.journal.is_some(), "--journal", "--out keeps the journals"),
        (given.no_journal, "--no-journal", "without --out no journal is kept"),
        (session.learned.is_some(), "--learned", "every session already begins fresh"),
    ] {
        if given {
            return Err(Trouble::Usage(format!(
                "{option} does not apply to comparisons: {instead}"
            )));
        }
    }
    Ok(session)
}

/// The seeds of a comparison that names none.
const SEEDS: &str = "0..4";

fn seeds(options: &CompareOptions) -> Result<Seeds, Trouble> {
    match (&options.seeds, options.session.seed) {
        (Some(seeds), _) => Ok(seeds.clone()),
        (None, Some(seed)) => Ok(seed.into()),
        (None, None) => SEEDS.parse().map_err(Trouble::Usage),
    }
}

/// The configured models; the built-in one counts only if there is no other.
///
/// # Errors
/// The configuration is wrong.
fn models(session: &SessionSpec) -> Result<Vec<String>, Trouble> {
    let config = Config::find(session.config.as_deref()).map_err(Trouble::usage)?;
    let names = || config.models.keys().map(|name| name.as_str().to_owned());
    let others: Vec<_> = names().filter(|name| name != config::SIMULATED).collect();
    Ok(if others.is_empty() { names().collect() } else { others })
}

impl Comparison {
    /// Ensures that the folder has no results of other settings.
    fn hold(&mut self) -> Result<(), Trouble> {
        let past = match &self.base {
            Some(base) => base.display().to_string(),
            None => "none".to_owned(),
        };
        for (cell, _, checked) in &mut self.cells {
            checked.settings.insert("warm-up", self.warm_up.to_string());
            checked.settings.insert("experience", past.clone());
            checked.settings.hold(&self.folder.join(cell.folder()))?;
        }
        self.base = self.base.as_deref().map(|base| self.keep(base)).transpose()?;
        Ok(())
    }

    /// Copies the user's past uses once, since other sessions may add to them meanwhile.
    fn keep(&self, base: &Path) -> Result<PathBuf, Trouble> {
        let own = self.folder.join("experience.sqlite");
        if !own.exists() {
            let part = self.folder.join(format!("experience.{}.part", std::process::id()));
            let base = Experience::open_existing(base).map_err(Trouble::from)?;
            base.copy_to(&part).map_err(Trouble::from)?;
            std::fs::rename(&part, &own).map_err(Trouble::failed)?;
        }
        Ok(own)
    }

    /// The past uses of each seed with which all combinations start; `None` without any.
    fn gather(&self, session: &SessionSpec) -> Result<Vec<Option<PathBuf>>, Trouble> {
        let mut bases: Vec<_> = self.seeds.all.iter().map(|_| self.base.clone()).collect();
        for (n, strategy) in (1..).zip(&self.warm_up.0) {
            let spec = SessionSpec { strategy: Some(*strategy), ..session.clone() };
            let folder = self.folder.join("warm-up").join(format!("{n}-{strategy}"));
            let mut checked = settings::check(&spec)?.settings;
            checked.insert("warm-up", self.warm_up.to_string());
            checked.hold(&folder)?;
            let jobs = self.jobs(0, &folder, &spec, &bases, APART);
            let shares = self.shares(&jobs)?;
            let work =
                |at: usize| Ok::<_, Trouble>(jobs[at].run(&self.runner, share(&shares, at))?);
            let mut ended = Vec::new();
            self.runner.each(jobs.len(), work, |end| ended.push(end))?;
            for (base, (job, end)) in bases.iter_mut().zip(jobs.iter().zip(ended)) {
                if let JobEnd::Done(_) = end {
                    *base = Some(job.experience());
                }
            }
            self.tell(&format!("warm-up with {strategy} done"));
        }
        Ok(bases)
    }

    /// A session of this spec for each seed, with its initial past uses; `apart` is added to each
    /// seed.
    fn jobs(
        &self,
        of: usize,
        folder: &Path,
        spec: &SessionSpec,
        bases: &[Option<PathBuf>],
        apart: u64,
    ) -> Vec<Job> {
        let job = |(seed, base): (&u64, &Option<PathBuf>)| Job {
            of,
            folder: folder.to_owned(),
            seed: seed.wrapping_add(apart),
            spec: spec.clone(),
            base: base.clone(),
            is_kept: self.is_kept,
            keeps_past: true,
        };
        self.seeds.all.iter().zip(bases).map(job).collect()
    }

    /// Runs every combination with every seed. `None`: it was stopped.
    fn run(&self, bases: &[Option<PathBuf>]) -> Result<Option<Vec<CellResult>>, Trouble> {
        let cells = self.cells.iter().enumerate();
        let of_cell = |(of, (cell, spec, _)): (usize, &(Cell, SessionSpec, CheckedCell))| {
            self.jobs(of, &self.folder.join(cell.folder()), spec, bases, 0)
        };
        let jobs: Vec<Job> = cells.flat_map(of_cell).collect();
        let is_here = |at: usize| self.shard.is_none_or(|shard| shard.has(at));
        let seeds = self.seeds.all.len();
        let of_cell = |of: usize| (of * seeds..(of + 1) * seeds).filter(|at| is_here(*at)).count();
        let left: Vec<_> = (0..self.cells.len()).map(|of| AtomicUsize::new(of_cell(of))).collect();
        let here = (0..jobs.len()).filter(|at| is_here(*at)).count();
        let (done, ended, began) = (AtomicUsize::new(0), AtomicUsize::new(0), Instant::now());
        let shares = self.shares(&jobs)?;
        let work = |at: usize| {
            let job = &jobs[at];
            if !is_here(at) {
                return Ok::<_, Trouble>(None);
            }
            let end = job.run(&self.runner, share(&shares, at))?;
            let ended = ended.fetch_add(1, Ordering::SeqCst) + 1;
            let is_done = matches!(end, JobEnd::Done(_));
            if is_done && left[job.of].fetch_sub(1, Ordering::SeqCst) == 1 {
                let done = done.fetch_add(1, Ordering::SeqCst) + 1;
                let name = &self.cells[job.of].0.name;
                let left = time_left::left(began.elapsed(), ended, here);
                self.tell(&format!("{done}/{} {name} done{left}", self.cells.len()));
            }
            Ok(Some(match end {
                JobEnd::Done(state) => JobRan::Done(Box::new(Ran::of(&state))),
                JobEnd::Stopped => JobRan::Stopped,
                JobEnd::Without(why) => {
                    let (cell, seed) = (&self.cells[job.of].0.name, job.seed);
                    JobRan::Without(format!("{cell}, seed {seed}: {why}"))
                }
            }))
        };
        let (mut results, mut own, mut without, mut stopped) = (vec![], vec![], vec![], false);
        let mut at = 0;
        self.runner.each(jobs.len(), work, |ran| {
            match ran {
                Some(JobRan::Done(ran)) => own.push((jobs[at].seed, *ran)),
                Some(JobRan::Without(why)) => without.push(why),
                Some(JobRan::Stopped) => stopped = true,
                None => {}
            }
            at += 1;
            if at.is_multiple_of(seeds) {
                let (cell, _, checked) = &self.cells[at / seeds - 1];
                let own = std::mem::take(&mut own);
                results.push(CellResult::of(cell.clone(), checked.knobs.clone(), &own));
            }
        })?;
        if !without.is_empty() {
            let sessions = counted(without.len(), "session");
            let text = format!("{sessions} without a result:\n  {}", without.join("\n  "));
            return Err(Trouble::Failed(text));
        }
        Ok((!stopped).then_some(results))
    }

    /// The part of the purse of each job, with what its earlier parts have spent; empty without a purse.
    fn shares(&self, jobs: &[Job]) -> Result<Vec<PurseShare>, Trouble> {
        let Some(purse) = &self.runner.purse else { return Ok(Vec::new()) };
        jobs.iter().map(|job| Ok(purse.share(job.spent(&self.runner)?))).collect()
    }

    /// Reports progress on standard error; a failure is ignored.
    fn tell(&self, what: &str) {
        if !self.runner.stop.is_stopped() {
            out::tell(format!("{}: {what}\n", self.command));
        }
    }
}

/// How a job of a comparison ended here.
enum JobRan {
    Done(Box<Ran>),
    Stopped,
    Without(String),
}

fn share(shares: &[PurseShare], at: usize) -> Option<PurseShare> {
    shares.get(at).cloned()
}
