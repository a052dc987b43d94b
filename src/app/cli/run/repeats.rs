//! `toolyard run --scenario --repeat K --jobs N`: each scenario several times, with other seeds, several sessions at once.

use std::sync::Arc;

use serde_json::json;

use super::RunEnd;
use super::scenario::{change, tell_cases};
use crate::cli::out::{print_json, print_line};
use crate::cli::{RunArgs, colour, colour::Painted, stopping, trouble::Trouble};
use crate::domain::words::counted;
use crate::files::parallel;
use crate::papers::share::interval;
use crate::scenario::{QuietRun, ScenarioFile, ScenarioVerdict};
use crate::session::JournalChoice;
use crate::stopper::SessionStopper;
use crate::ui::text::clean;

/// A scenario with the seed of its first run.
pub type Seeded = (ScenarioFile, u64);

/// Runs each scenario so many times. Returns the results of all runs, and the end.
///
/// # Errors
/// A result cannot be printed, or the runs were interrupted.
pub fn run(args: &RunArgs, files: &[Seeded]) -> Result<(Vec<ScenarioVerdict>, RunEnd), Trouble> {
    let stop = Arc::new(SessionStopper::default());
    stopping::stop_on_interrupt(&stop, "interrupted".to_owned())?;
    let jobs: Vec<_> = files
        .iter()
        .flat_map(|(file, first)| (0..u64::from(args.repeat)).map(move |more| (file, *first, more)))
        .collect();
    let at_once = args.jobs.map_or_else(stopping::usual, usize::from);
    let ran = parallel::each(&jobs, at_once, |(file, first, more)| {
        one(args, file, (*first, *more), &stop)
    });
    let (mut all, mut passed) = (Vec::new(), 0);
    for ((file, _), of_file) in files.iter().zip(ran.chunks(args.repeat as usize)) {
        passed += usize::from(tell(args, file, of_file)?);
        all.extend(of_file.iter().map(|(_, verdict)| verdict.clone()));
    }
    if args.json {
        let sums = json!({ "scenarios": { "passed": passed, "all": files.len() } });
        print_json(&sums.to_string())?;
    } else {
        print_line(format!("{passed} of {} passed", counted(files.len(), "scenario")))?;
    }
    let is_as_expected = passed == files.len();
    Ok((all, if is_as_expected { RunEnd::AsExpected } else { RunEnd::NotAsExpected }))
}

/// Runs a scenario with the seed that lies so many behind its first one. Each run begins fresh: it must not learn from another.
fn one(
    args: &RunArgs,
    file: &ScenarioFile,
    (first, more): (u64, u64),
    stop: &SessionStopper,
) -> (u64, ScenarioVerdict) {
    let seed = first.wrapping_add(more);
    let of_seed = if args.repeat > 1 { format!(" (seed {seed})") } else { String::new() };
    let name = || (file.name() + &of_seed, file.path.display().to_string());
    let failed = |why: String| (seed, ScenarioVerdict::new(name(), Some(why), Vec::new(), 0.0));
    if stop.is_stopped() {
        return failed("interrupted".to_owned());
    }
    let prepared = file.prepare(|spec| {
        change(spec, args);
        (spec.seed, spec.fresh) = (Some(seed), true);
        // Only one of them can have the file that the scenario names.
        if more > 0 && matches!(spec.journal, JournalChoice::File(_)) {
            spec.journal = JournalChoice::None;
        }
    });
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(problems) => return failed(problems.to_string()),
    };
    let expect = &file.scenario.expect;
    match QuietRun::of(prepared, expect, stop, |_| ()) {
        Ok(ran) => (seed, ran.verdict(name(), expect).with_idle_faults(&ran.state)),
        Err(error) => failed(error.to_string()),
    }
}

/// Prints the runs of a scenario; true if enough of them passed.
fn tell(
    args: &RunArgs,
    file: &ScenarioFile,
    runs: &[(u64, ScenarioVerdict)],
) -> Result<bool, Trouble> {
    let passed = runs.iter().filter(|(_, verdict)| verdict.passed).count();
    let is_enough = match file.scenario.expect.at_least {
        Some(least) => least.is_met(passed, runs.len()),
        None => passed == runs.len(),
    };
    let (low, high) = interval(passed, runs.len());
    if args.json {
        for (seed, verdict) in runs {
            print_json(&json!({ "scenario": verdict, "seed": seed }).to_string())?;
        }
        let sums = json!({
            "name": file.name(), "passed": passed, "runs": runs.len(), "low": low, "high": high,
            "as_expected": is_enough,
        });
        print_json(&json!({ "repeats": sums }).to_string())?;
        return Ok(is_enough);
    }
    let shown = clean(&file.path.display().to_string()).into_owned();
    print_line(format!("scenario {} ({shown})", clean(&file.name())))?;
    if let [(_, verdict)] = runs {
        super::scenario::tell(args, verdict)?;
        return Ok(is_enough);
    }
    for (seed, verdict) in runs {
        let word = match verdict.passed {
            true => colour::paint(colour::GOOD, "passed"),
            false => colour::paint(colour::BAD, "FAILED"),
        };
        let counts = format!(": {}", verdict.counts());
        print_line(Painted::from(format!("  seed {seed} ")) + word + counts)?;
        if !verdict.passed {
            tell_cases(verdict, "    ")?;
        }
    }
    let word = match is_enough {
        true => colour::paint(colour::GOOD, "passed"),
        false => colour::paint(colour::BAD, "FAILED"),
    };
    let percent = |share: f64| (100.0 * share).round();
    let share = format!(
        ": {passed} of {} passed ({} to {} %)",
        counted(runs.len(), "run"),
        percent(low),
        percent(high)
    );
    print_line(Painted::from(format!("scenario {} ", clean(&file.name()))) + word + share)?;
    Ok(is_enough)
}
