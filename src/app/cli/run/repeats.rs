//! `toolyard run --scenario --repeat K --jobs N`: each scenario several times, with other seeds, several sessions at once.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::RunEnd;
use super::scenario::{change, tell_cases};
use crate::cli::{RunArgs, colour, colour::Painted, stopping, trouble::Trouble};
use crate::domain::words::counted;
use crate::papers::share::interval;
use crate::runner::Runner;
use crate::scenario::{QuietRun, ScenarioFile, ScenarioVerdict};
use crate::session::JournalChoice;
use crate::shell::out::{print_json, print_line, warn};
use crate::ui::text::clean;

/// A scenario with the seed of its first run.
pub type Seeded = (ScenarioFile, u64);

/// Runs each scenario so many times. Returns the results of all runs, and the end.
///
/// # Errors
/// A result cannot be printed.
pub fn run(args: &RunArgs, files: &[Seeded]) -> Result<(Vec<ScenarioVerdict>, RunEnd), Trouble> {
    let jobs = args.jobs.map(usize::from);
    let mut runner = stopping::runner(jobs, args.session.max_dollars, None);
    args.nats.settle(&mut runner, jobs)?;
    let came = stopping::stop_on_first(&runner.stop)?;
    let repeat = args.repeat as usize;
    let work = |at: usize| {
        let (file, first) = &files[at / repeat];
        Ok::<_, Trouble>(one(args, file, (*first, (at % repeat) as u64), &runner))
    };
    let (mut all, mut own, mut passed, mut told) = (Vec::new(), Vec::new(), 0, Ok(()));
    runner.each(files.len() * repeat, work, |ran| {
        own.extend(ran);
        let at = all.len() + own.len();
        if own.is_empty() || !at.is_multiple_of(repeat) || told.is_err() {
            return;
        }
        let ran = std::mem::take(&mut own);
        match tell(args, &files[at / repeat - 1].0, &ran) {
            Ok(is_enough) => passed += usize::from(is_enough),
            Err(error) => {
                told = Err(error);
                runner.stop.stop();
            }
        }
        all.extend(ran.into_iter().map(|(_, verdict)| verdict));
    })?;
    told?;
    let signal = came.load(Ordering::SeqCst);
    if !own.is_empty() {
        tell(args, &files[all.len() / repeat].0, &own)?;
    }
    all.extend(own.into_iter().map(|(_, verdict)| verdict));
    let missing = files.len() * repeat - all.len();
    if missing > 0 {
        warn(&format!("interrupted: {} not run", counted(missing, "run")));
    }
    if args.json {
        let sums = json!({ "scenarios": { "passed": passed, "all": files.len() } });
        print_json(&sums.to_string())?;
    } else {
        print_line(format!("{passed} of {} passed", counted(files.len(), "scenario")))?;
    }
    let is_as_expected = passed == files.len();
    let end = if is_as_expected { RunEnd::AsExpected } else { RunEnd::NotAsExpected };
    Ok((all, if signal == 0 { end } else { RunEnd::BySignal(signal) }))
}

/// Runs a scenario with the seed that lies so many behind its first one. Each run begins fresh: it must not learn from another.
/// `None`: it was interrupted.
fn one(
    args: &RunArgs,
    file: &ScenarioFile,
    (first, more): (u64, u64),
    runner: &Runner,
) -> Option<(u64, ScenarioVerdict)> {
    let seed = first.wrapping_add(more);
    let of_seed = if args.repeat > 1 { format!(" (seed {seed})") } else { String::new() };
    let name = || (file.name() + &of_seed, file.path.display().to_string());
    let failed =
        |why: String| Some((seed, ScenarioVerdict::new(name(), Some(why), Vec::new(), 0.0)));
    if runner.stop.is_stopped() {
        return None;
    }
    let prepared = file.prepare(|spec| {
        change(spec, args);
        (spec.seed, spec.fresh) = (Some(seed), true);
        // Only one of them can have the file that the scenario names.
        if more > 0 && matches!(spec.journal, JournalChoice::File(_)) {
            spec.journal = JournalChoice::None;
        }
    });
    let mut prepared = match prepared {
        Ok(prepared) => prepared,
        Err(problems) => return failed(problems.to_string()),
    };
    let expect = &file.scenario.expect;
    let share = runner.purse.as_ref().map(|purse| purse.share(0.0));
    prepared.purse.clone_from(&share);
    let ran = QuietRun::of(prepared, expect, runner, |_| ()).transpose()?;
    if runner.stop.is_stopped() {
        return None;
    }
    match ran {
        Ok(ran) => {
            share.inspect(|share| share.settle(ran.state.dollars_spent()));
            Some((seed, ran.verdict(name(), expect).with_idle_faults(&ran.state)))
        }
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
