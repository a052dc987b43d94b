//! `toolyard sweep`: the same tasks at each point of one or two settings, as a curve or a heat map.

mod args;
mod output;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

pub use self::args::SweepArgs;
use self::args::{SweepSeeds, base};
use self::output::{WIDTH, chart, output};
use super::out::{expect_place, tell, warn};
use super::{colour::Painted, stopping, trouble::Trouble};
use crate::compare::time_left;
use crate::domain::words::counted;
use crate::runner::Shard;
use crate::session::SessionSpec;
use crate::sweep::{PointRun, SweepMeasure, SweepPlan, SweepTable, SweptJob};
use crate::ui::theme::{Theme, load};
use crate::ui::{terminal, text::width};

/// Time between two drawings of the chart while the sweep runs.
const BETWEEN: Duration = Duration::from_millis(250);

/// Runs the sweep, or its part, and prints what is known.
///
/// # Errors
/// A point has a fault, before the first session runs; a session cannot run; or the sweep was interrupted.
pub fn sweep(args: &SweepArgs) -> Result<(), Trouble> {
    if args.over.len() > 2 {
        return Err(Trouble::usage("a sweep has one or two --over"));
    }
    if let [one, other] = &args.over[..]
        && one.swept == other.swept
    {
        let name = one.name();
        return Err(Trouble::Usage(format!(
            "--over {name} is given twice: write all values in one"
        )));
    }
    [&args.csv, &args.svg].into_iter().flatten().try_for_each(|path| expect_place(path))?;
    let (base, expect) = base(args)?;
    let seeds = match &args.seeds {
        SweepSeeds::Count(count) => {
            let first = base.seed.unwrap_or_default();
            (0..*count).map(|more| first.wrapping_add(more)).collect()
        }
        SweepSeeds::These(seeds) => seeds.all.clone(),
    };
    let base = SessionSpec { seed: None, ..base };
    let shown = match (args.measure, &expect) {
        (Some(SweepMeasure::Passed), None) => {
            return Err(Trouble::usage("--measure passed needs a --scenario"));
        }
        (Some(measure), _) => measure,
        (None, Some(_)) => SweepMeasure::Passed,
        (None, None) => SweepMeasure::Right,
    };
    let jobs = args.jobs.map(usize::from);
    let mut runner = stopping::runner(jobs, args.session.max_dollars, args.shard);
    args.nats.settle(&mut runner, jobs)?;
    let said =
        format!("interrupted; run the same command again to continue from {}", args.out.display());
    stopping::stop_on_interrupt(&runner.stop, said.clone())?;
    let plan = SweepPlan::new(args.over.clone(), seeds, base, expect, &args.out)?;
    let strangers = plan.strangers();
    if strangers > 0 {
        let (folder, results) = (args.out.display(), counted(strangers, "result"));
        warn(&format!("{folder} also has {results} of other settings or of another version"));
    }
    let mut progress = Progress::new(&plan, shown, args.shard);
    let mut without = Vec::new();
    let mut stopped = 0;
    plan.run(&runner, args.shard, |job, news| match news {
        SweptJob::Done(run) => progress.done(job, *run),
        SweptJob::Stopped => stopped += 1,
        SweptJob::Without(why) => without.push(why),
        SweptJob::Elsewhere => {}
    })?;
    if stopped > 0 {
        return Err(Trouble::Failed(said));
    }
    if let Some(shard) = args.shard {
        let rest = "the same command without --shard prints the table when all parts are done";
        tell(format!("toolyard sweep: shard {shard} done; {rest}\n"));
    } else {
        output(args, &plan, shown)?;
    }
    if without.is_empty() {
        return Ok(());
    }
    let sessions = counted(without.len(), "session");
    Err(Trouble::Failed(format!("{sessions} without a result:\n  {}", without.join("\n  "))))
}

/// The progress of a sweep, on standard error: a chart on a terminal, else a line for each point.
struct Progress<'a> {
    plan: &'a SweepPlan,
    measure: SweepMeasure,
    table: SweepTable,
    theme: Theme,
    began: Instant,
    /// When the chart was drawn last, and its lines.
    drawn: Option<(Instant, usize)>,
    ended: usize,
    here: usize,
    /// Columns and rows of the terminal; `None` without one.
    terminal: Option<(u16, u16)>,
}

impl<'a> Progress<'a> {
    fn new(plan: &'a SweepPlan, measure: SweepMeasure, shard: Option<Shard>) -> Self {
        let runs = vec![vec![None; plan.seeds.len()]; plan.points()];
        let is_here = |job: &usize| shard.is_none_or(|shard| shard.has(*job));
        Self {
            plan,
            measure,
            table: SweepTable { runs, ..plan.nothing() },
            theme: load::find(load::AUTO, None).0,
            began: Instant::now(),
            drawn: None,
            ended: 0,
            here: (0..plan.jobs()).filter(is_here).count(),
            terminal: terminal::size().filter(|_| std::io::stderr().is_terminal()),
        }
    }

    fn done(&mut self, job: usize, run: PointRun) {
        let (point, seed) = (job / self.plan.seeds.len(), job % self.plan.seeds.len());
        self.table.runs[point][seed] = Some(run);
        self.ended += 1;
        let left = time_left::left(self.began.elapsed(), self.ended, self.here);
        let done = format!("{} of {}{left}", self.ended, counted(self.here, "session"));
        let is_last = self.ended == self.here;
        let Some((columns, rows)) = self.terminal else {
            if seed + 1 == self.plan.seeds.len() {
                tell(format!("toolyard sweep: {} done, {done}\n", self.plan.said_point(point)));
            }
            return;
        };
        if self.drawn.is_some_and(|(at, _)| at.elapsed() < BETWEEN) && !is_last {
            return;
        }
        let back = self.drawn.map_or(0, |(_, lines)| lines);
        let up = if back > 0 { format!("\x1b[{back}A\x1b[J") } else { String::new() };
        // The table of the end has its own chart.
        let text = match is_last {
            true => String::new(),
            false => self.frame((columns, rows), &done),
        };
        self.drawn = Some((Instant::now(), text.lines().count()));
        tell(Painted::own(up) + text);
    }

    /// The chart and how far it is; only the latter where the terminal is too small to draw over the chart.
    fn frame(&self, (columns, rows): (u16, u16), done: &str) -> String {
        let columns = columns.min(WIDTH);
        let drawn = chart(&self.table, self.measure, |chart| chart.text(&self.theme, columns));
        let is_narrow = drawn.lines().all(|line| width(line) <= usize::from(columns));
        let fits = is_narrow && drawn.lines().count() + 1 < usize::from(rows);
        if fits { format!("{drawn}{done}\n") } else { format!("{done}\n") }
    }
}
