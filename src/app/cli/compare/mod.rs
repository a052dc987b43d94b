//! `toolyard compare`: the same tasks under many combinations of strategies and settings, like the
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
mod atc;
mod grid;
mod job;
mod left;
mod pool;
mod print;
mod resilience;
mod result;
mod setting;
mod settings;
pub mod table;
mod toolnet;
mod verdict;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use crate::config::{self, Config};
use crate::domain::{Base, Knob, Retrieve};
use crate::files::parallel;
use crate::outside;
use crate::session::SessionSpec;
use crate::stage;
use crate::store::experience::Experience;

use self::args::WarmUp;
pub use self::args::{CompareArgs, Preset, Seeds};
use self::job::{Job, Ran};
use self::{grid::Cell, pool::SessionStopper, result::CellResult, settings::CheckedCell};
use super::{experience, out, trouble::Trouble};

/// Offset of warm-up seeds, so that no session meets the same draws that made its past.
const APART: u64 = 1_000_000;

/// A comparison, and where its output goes.
struct Comparison {
    cells: Vec<(Cell, SessionSpec, CheckedCell)>,
    seeds: Seeds,
    warm_up: WarmUp,
    base: Option<PathBuf>,
    folder: PathBuf,
    /// Whether it can be continued.
    is_kept: bool,
    /// The number of parallel sessions.
    at_once: usize,
    stop: Arc<SessionStopper>,
}

/// Runs all combinations and prints the results.
///
/// # Errors
/// Any fault of any combination, before the first one runs; or the comparison was interrupted.
pub fn compare(args: &CompareArgs) -> Result<(), Trouble> {
    if args.svg.is_some() && args.preset != Some(Preset::Resilience) {
        let text = "--svg draws what `compare resilience` measures; leave it out, or compare that";
        return Err(Trouble::Usage(text.to_owned()));
    }
    let (comparison, results) = compared(args)?;
    if let Some(file) = &args.svg {
        resilience::picture(file, &comparison, &results)?;
    }
    print::print(args, &comparison, &results)
}

/// Runs all combinations, and returns a line for each table and figure of the paper.
///
/// # Errors
/// As [`compare`].
pub fn verdicts(args: &CompareArgs) -> Result<Vec<String>, Trouble> {
    let (.., results) = compared(args)?;
    Ok(print::verdicts(args.preset, &results))
}

/// Runs all combinations.
fn compared(args: &CompareArgs) -> Result<(Comparison, Vec<CellResult>), Trouble> {
    let mut session = usual(args)?;
    let seeds = seeds(args)?;
    let mut models = models(&session)?;
    let is_given = args.session.planner.is_some() || args.session.solver.is_some();
    if args.preset == Some(Preset::Pairs) && !is_given && models == [config::SIMULATED] {
        session.pair = true;
        models = stage::pair().into_iter().map(|(name, _)| name.to_owned()).collect();
    }
    let cells = match args.preset {
        Some(Preset::ToolNet) => toolnet::cells(args)?,
        Some(Preset::Resilience) => resilience::cells(args)?,
        Some(Preset::Atc) => atc::cells(args)?,
        _ => grid::cells(args, &models)?,
    };
    let session = with_agents(session, &cells)?;
    let checked: Result<Vec<_>, Trouble> = cells
        .into_iter()
        .map(|cell| {
            let spec = cell.session(&session);
            let checked = settings::check(&spec)?;
            Ok((cell, spec, checked))
        })
        .collect();
    // A temporary folder ends with the comparison.
    let (folder, temporary) = match &args.out {
        Some(folder) => (folder.clone(), None),
        None => {
            let folder = tempfile::Builder::new().prefix("toolyard-").tempdir();
            let folder = folder.map_err(Trouble::failed)?;
            (folder.path().to_owned(), Some(folder))
        }
    };
    let mut comparison = Comparison {
        cells: checked?,
        seeds,
        warm_up: grid::warm_up(args),
        base: session.experience.clone(),
        folder,
        is_kept: args.out.is_some(),
        at_once: args.jobs.map_or_else(pool::usual, NonZeroUsize::get),
        stop: Arc::default(),
    };
    let litter = temporary.as_ref().map(|folder| folder.path().to_owned());
    *comparison.stop.litter.lock().unwrap_or_else(PoisonError::into_inner) = litter;
    comparison.stop.on_interrupt(interrupted(args).text().to_owned())?;
    comparison.hold()?;
    let bases = comparison.gather(&session)?;
    let results = comparison.run(&bases)?.ok_or_else(|| interrupted(args))?;
    Ok((comparison, results))
}

/// Adds the address of the scripted agents, if one of them plays.
fn with_agents(session: SessionSpec, cells: &[Cell]) -> Result<SessionSpec, Trouble> {
    if cells.iter().all(|cell| cell.agent().is_none()) {
        return Ok(session);
    }
    let prepared = SessionSpec { costs: None, fresh: true, ..session.clone() }.prepare()?;
    let url = outside::serve(prepared.tasks.distinct().to_vec()).map_err(Trouble::failed)?;
    Ok(SessionSpec { outside: Some(url), ..session })
}

fn interrupted(args: &CompareArgs) -> Trouble {
    Trouble::Failed(match &args.out {
        Some(folder) => {
            format!("interrupted; run the same command again to continue from {}", folder.display())
        }
        None => "interrupted; only a run with --out DIR can be continued".to_owned(),
    })
}

/// The common settings of all sessions, with the comparison's own defaults.
fn usual(args: &CompareArgs) -> Result<SessionSpec, Trouble> {
    // Each combination has its own planner and solver, which may be lists here.
    let mut session = SessionSpec { roles: Default::default(), ..args.session.spec(None)? };
    for (given, option, instead) in [
        (session.strategy.is_some(), "--strategy", "use --strategies instead"),
        (args.session.journal.is_some(), "--journal", "--out keeps the journals"),
        (args.session.no_journal, "--no-journal", "without --out no journal is kept"),
        (session.learned.is_some(), "--learned", "every session already begins fresh"),
    ] {
        if given {
            return Err(Trouble::Usage(format!(
                "{option} does not apply to comparisons: {instead}"
            )));
        }
    }
    if args.preset == Some(Preset::Atc) && session.workspace.is_none() {
        // Programs need tools that answer in JSON.
        session.sample = session.sample.or(stage::sample_of(Base::Atc.into()));
    }
    if args.preset == Some(Preset::Resilience) {
        // The faults belong only to some of the combinations.
        session.faults.clear();
    }
    if args.preset.is_some() {
        // A paper without a reader is measured without one, whatever the configuration has.
        let words = f64::from(Retrieve::Words as u8);
        session.knobs.entry(Knob::Retrieve).or_insert(words);
    }
    if args.is_btp() {
        if session.costs.is_none() {
            session.costs = Some(grid::COSTS.parse().map_err(Trouble::Usage)?);
        }
        if args.budgets.is_empty() {
            session.knobs.entry(Knob::Budget).or_insert(grid::BUDGET);
        }
    }
    Ok(session)
}

fn seeds(args: &CompareArgs) -> Result<Seeds, Trouble> {
    match (&args.seeds, args.session.seed) {
        (Some(seeds), _) => Ok(seeds.clone()),
        (None, Some(seed)) => Ok(seed.into()),
        (None, None) => grid::SEEDS.parse().map_err(Trouble::Usage),
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
            let base = Experience::open_existing(base).map_err(experience::trouble)?;
            base.copy_to(&part).map_err(experience::trouble)?;
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
            let ran = parallel::each(&jobs, self.at_once, |job| self.run_one(job));
            for (base, (job, ran)) in bases.iter_mut().zip(jobs.iter().zip(ran)) {
                if ran?.is_some() {
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
        let left: Vec<_> =
            self.cells.iter().map(|_| AtomicUsize::new(self.seeds.all.len())).collect();
        let (done, ended, began) = (AtomicUsize::new(0), AtomicUsize::new(0), Instant::now());
        let ran = parallel::each(&jobs, self.at_once, |job| {
            let ran = self.run_one(job)?;
            let ended = ended.fetch_add(1, Ordering::SeqCst) + 1;
            if ran.is_some() && left[job.of].fetch_sub(1, Ordering::SeqCst) == 1 {
                let done = done.fetch_add(1, Ordering::SeqCst) + 1;
                let name = &self.cells[job.of].0.name;
                let left = left::left(began.elapsed(), ended, jobs.len());
                self.tell(&format!("{done}/{} {name} done{left}", self.cells.len()));
            }
            Ok(ran)
        });
        let ran: Result<Option<Vec<Ran>>, Trouble> =
            ran.into_iter().collect::<Result<Vec<_>, _>>().map(|ran| ran.into_iter().collect());
        let Some(ran) = ran? else { return Ok(None) };
        let mut sessions = self.seeds.all.iter().copied().cycle().zip(ran);
        let compared = self.cells.iter().map(|(cell, _, checked)| {
            let own: Vec<_> = sessions.by_ref().take(self.seeds.all.len()).collect();
            CellResult::of(cell.clone(), checked.knobs.clone(), &own)
        });
        Ok(Some(compared.collect()))
    }

    /// Runs one session. If it fails, no further session starts.
    fn run_one(&self, job: &Job) -> Result<Option<Ran>, Trouble> {
        let ran = job.run(&self.stop);
        if ran.is_err() {
            self.stop.stop();
        }
        ran
    }

    /// Reports progress on standard error; a failure is ignored.
    fn tell(&self, what: &str) {
        if !self.stop.is_stopped() {
            out::tell(format!("toolyard compare: {what}\n"));
        }
    }
}
