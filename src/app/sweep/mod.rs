//! A sweep: the same tasks at each point of one or two settings, with several seeds. A session is a job; its result has the
//! name of its content, so that the same sweep takes what is there and runs the rest.
//!
//! ```text
//! DIR/<id>.json              the result of a session, written once
//! DIR/<id>/seed-0.jsonl.zst  its journal, from which it goes on after an interruption
//! ```

mod axis;
mod point_run;
mod table;

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

pub use self::axis::{AxisValue, Swept, SweptAxis};
pub use self::point_run::{PointRun, SweepMeasure, TaskRun};
pub use self::table::{PointMean, SweepTable};
use crate::compare::settings::{self, CheckedCell};
use crate::domain::{Event, ModelName, Record, Role, TaskEvent, chance};
use crate::engine::PurseShare;
use crate::runner::{Job, JobEnd, ResultFolder, Runner, Shard};
use crate::scenario::{Expectations, FoldedChecks};
use crate::session::{ForkSpec, SessionError, SessionSpec};
use crate::shell::trouble::Trouble;
use crate::store::journal::JournalReader;
use crate::ui::text::number;

/// The most sessions of one sweep.
const MOST_JOBS: u128 = 1_000_000;

/// A sweep, checked.
pub struct SweepPlan {
    pub axes: Vec<SweptAxis>,
    pub seeds: Vec<u64>,
    /// The session without the values of the axes.
    pub base: SessionSpec,
    /// The expectations of its scenario.
    pub expect: Option<Expectations>,
    pub results: ResultFolder,
    /// Whether sessions keep journals, from which they go on after an interruption.
    pub is_kept: bool,
    /// Tasks that were done before the moment from which sessions go on. They count in no measure.
    before: usize,
    /// The content of each point.
    content: Vec<String>,
    /// The point with the settings of `base`.
    now: Option<usize>,
    /// The settings of `base` in words.
    pub present: String,
}

/// A job of a sweep that has ended here.
pub enum SweptJob {
    Done(Box<PointRun>),
    Stopped,
    Without(String),
    /// Another part of the jobs has it.
    Elsewhere,
}

impl SweepPlan {
    /// Checks every point, and runs nothing. `base` has no seed of its own.
    ///
    /// # Errors
    /// There are too many sessions, or a point has a fault.
    pub fn new(
        axes: Vec<SweptAxis>,
        seeds: Vec<u64>,
        base: SessionSpec,
        expect: Option<Expectations>,
        folder: &Path,
    ) -> Result<Self, Trouble> {
        let counts = axes.iter().map(|axis| axis.values.len() as u128);
        let all = counts.product::<u128>() * seeds.len() as u128;
        if all > MOST_JOBS {
            let count = |n: u128| number(u64::try_from(n).unwrap_or(u64::MAX));
            let text =
                format!("{} sessions are too many: at most {}", count(all), count(MOST_JOBS));
            return Err(Trouble::Usage(text));
        }
        let is_kept = base.fork.is_none();
        let results = ResultFolder { path: folder.to_owned() };
        let mut plan = Self {
            axes,
            seeds,
            base,
            expect,
            results,
            is_kept,
            content: vec![],
            before: 0,
            now: None,
            present: String::new(),
        };
        plan.before = plan.base.fork.as_deref().map_or(Ok(0), done_before)?;
        let present = settings::check(&plan.base)?;
        plan.now = plan.point_of(&present);
        plan.present =
            plan.axes.iter().map(|axis| said_present(axis, &present)).collect::<Vec<_>>().join(" ");
        let points = 0..plan.points();
        plan.content = points.map(|point| plan.content_of(point)).collect::<Result<_, _>>()?;
        Ok(plan)
    }

    pub fn points(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// All jobs: each point with each seed.
    pub fn jobs(&self) -> usize {
        self.points() * self.seeds.len()
    }

    /// The point with the present settings; `None`: it is not among them.
    fn point_of(&self, present: &CheckedCell) -> Option<usize> {
        (0..self.points()).find(|point| {
            let places = table::places(&self.axes, *point);
            self.axes.iter().zip(places).all(|(axis, at)| is_present(axis, at, present))
        })
    }

    /// The session of a point, without its seed.
    fn spec(&self, point: usize) -> SessionSpec {
        let mut spec = self.base.clone();
        for (axis, at) in self.axes.iter().zip(table::places(&self.axes, point)) {
            axis.set(at, &mut spec);
        }
        spec
    }

    /// A hash of all that decides about the results of a point.
    fn content_of(&self, point: usize) -> Result<String, Trouble> {
        #[derive(Serialize)]
        struct Content<'a> {
            settings: settings::CellSettings,
            expect: Option<String>,
            fork: &'a Option<Box<ForkSpec>>,
        }
        let spec = self.spec(point);
        let settings = settings::check(&spec)?.settings;
        let expect = self.expect.as_ref().map(|expect| format!("{expect:?}"));
        let content = Content { settings, expect, fork: &spec.fork };
        let text = serde_json::to_vec(&content).map_err(Trouble::failed)?;
        Ok(chance::fingerprint(&text))
    }

    fn place(&self, job: usize) -> (usize, u64) {
        (job / self.seeds.len(), self.seeds[job % self.seeds.len()])
    }

    fn id(&self, job: usize) -> String {
        let (point, seed) = self.place(job);
        format!("{}-{seed}", self.content[point])
    }

    /// The session of a job.
    fn job(&self, job: usize) -> Job {
        let (point, seed) = self.place(job);
        Job {
            of: point,
            folder: self.results.path.join(&self.content[point]),
            seed,
            spec: self.spec(point),
            base: None,
            is_kept: self.is_kept,
            keeps_past: false,
        }
    }

    /// A point in words.
    pub fn said_point(&self, point: usize) -> String {
        let at = self.axes.iter().zip(table::places(&self.axes, point));
        let at: Vec<_> =
            at.map(|(axis, at)| format!("{}={}", axis.name(), axis.label(at))).collect();
        at.join(" ")
    }

    fn said(&self, job: usize) -> String {
        let (point, seed) = self.place(job);
        format!("{}, seed {seed}", self.said_point(point))
    }

    /// The number of results in the folder that belong to other settings, or to another version.
    pub fn strangers(&self) -> usize {
        let own: BTreeSet<String> =
            (0..self.jobs()).map(|job| format!("{}.json", self.id(job))).collect();
        let files = std::fs::read_dir(&self.results.path).into_iter().flatten().flatten();
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".json") && !own.contains(name)).count()
    }

    /// Runs the jobs of this part that have no result yet. `hear` gets the news of each, in their order.
    ///
    /// # Errors
    /// A session cannot run, a result cannot be read or written, or what the sessions read has changed meanwhile.
    pub fn run(
        &self,
        runner: &Runner,
        shard: Option<Shard>,
        mut hear: impl FnMut(usize, SweptJob),
    ) -> Result<(), Trouble> {
        let is_here = |job: usize| shard.is_none_or(|shard| shard.has(job));
        let shares = self.shares(runner, is_here)?;
        let mut at = 0;
        let work = |job: usize| match is_here(job) {
            true => self.run_one(job, runner, shares.get(job).cloned().flatten()),
            false => Ok(SweptJob::Elsewhere),
        };
        runner.each(self.jobs(), work, |news| {
            hear(at, news);
            at += 1;
        })
    }

    /// The part of the purse of each job here, with what it has spent before.
    fn shares(
        &self,
        runner: &Runner,
        is_here: impl Fn(usize) -> bool,
    ) -> Result<Vec<Option<PurseShare>>, Trouble> {
        let Some(purse) = &runner.purse else { return Ok(Vec::new()) };
        let share = |job: usize| {
            if !is_here(job) {
                return Ok(None);
            }
            let spent = match self.results.get::<PointRun>(&self.id(job))? {
                Some(run) => run.dollars,
                None => self.job(job).spent(runner)?,
            };
            Ok(Some(purse.share(spent)))
        };
        (0..self.jobs()).map(share).collect()
    }

    fn run_one(
        &self,
        job: usize,
        runner: &Runner,
        share: Option<PurseShare>,
    ) -> Result<SweptJob, Trouble> {
        let mut without = None;
        let ran = self.results.get_or(&self.id(job), &runner.stop, || {
            let checks = self.expect.as_ref().map(FoldedChecks::new);
            let folds = checks.clone();
            let hear = move |record: &Record| {
                if let Some(checks) = &folds {
                    checks.take(record);
                }
            };
            let state = match self.job(job).run_alone(runner, share, hear)? {
                JobEnd::Done(state) => state,
                JobEnd::Stopped => return Ok(None),
                JobEnd::Without(why) => {
                    without = Some(format!("{}: {why}", self.said(job)));
                    return Ok(None);
                }
            };
            let (point, _) = self.place(job);
            if self.content_of(point)? != self.content[point] {
                // With the old content back, its journal must not count as done.
                self.job(job).forget()?;
                return Err(Trouble::Failed(format!(
                    "{}: its workspace, configuration or tasks have changed meanwhile, so it has no \
                     result; run the same command again",
                    self.said(job)
                )));
            }
            let passed = checks.zip(self.expect.as_ref());
            let passed = passed.map(|(checks, expect)| checks.passed(expect, &state));
            Ok::<_, Trouble>(Some(PointRun::of(&state, self.before, passed)))
        })?;
        Ok(match (ran, without) {
            (Some(run), _) => SweptJob::Done(Box::new(run)),
            (None, Some(why)) => SweptJob::Without(why),
            (None, None) => SweptJob::Stopped,
        })
    }

    /// The table before anything is known.
    pub fn nothing(&self) -> SweepTable {
        let (axes, seeds) = (self.axes.clone(), self.seeds.clone());
        SweepTable { axes, seeds, runs: Vec::new(), now: self.now }
    }

    /// The results that are in the folder.
    ///
    /// # Errors
    /// A result cannot be read.
    pub fn table(&self) -> Result<SweepTable, SessionError> {
        let run = |job: usize| self.results.get(&self.id(job));
        let all: Vec<_> = (0..self.jobs()).map(run).collect::<Result<_, _>>()?;
        let runs = all.chunks(self.seeds.len()).map(<[_]>::to_vec).collect();
        Ok(SweepTable { runs, ..self.nothing() })
    }
}

/// The number of tasks that were done before this moment.
fn done_before(fork: &ForkSpec) -> Result<usize, Trouble> {
    let reader = JournalReader::open(&fork.of).map_err(Trouble::usage)?;
    let mut done = 0;
    for record in reader {
        let record = record.map_err(Trouble::usage)?;
        if record.n > fork.at {
            break;
        }
        done += usize::from(matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. })));
    }
    Ok(done)
}

/// The present value of an axis in words.
fn said_present(axis: &SweptAxis, present: &CheckedCell) -> String {
    let models = |wanted: &dyn Fn(&Role) -> bool| {
        let models = present.roles.iter().filter(|(role, _)| wanted(role));
        let models: BTreeSet<_> = models.map(|(_, model)| model.as_str()).collect();
        models.into_iter().collect::<Vec<_>>().join("+")
    };
    let value = match axis.swept {
        Swept::Knob(knob) => knob.spec().show(present.knobs.get(knob)),
        Swept::Strategy => present.strategy.to_string(),
        Swept::Model => models(&|_| true),
        Swept::Role(role) => models(&|other| *other == role),
    };
    format!("{}={value}", axis.name())
}

/// Whether this value of an axis is the present one.
fn is_present(axis: &SweptAxis, at: usize, present: &CheckedCell) -> bool {
    let is_model = |role: &Role, name: &str| {
        present.roles.get(role).is_none_or(|model| *model == ModelName::from(name))
    };
    match (&axis.values[at], axis.swept) {
        (AxisValue::Number(value), Swept::Knob(knob)) => present.knobs.get(knob) == *value,
        (AxisValue::Name(name), Swept::Strategy) => present.strategy.to_string() == *name,
        (AxisValue::Name(name), Swept::Model) => {
            present.roles.keys().all(|role| is_model(role, name))
        }
        (AxisValue::Name(name), Swept::Role(role)) => is_model(&role, name),
        (AxisValue::Number(_), _) | (_, Swept::Knob(_)) => false,
    }
}
