//! `toolyard run --scenario`: sessions from files, each checked against the file's expectations.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use tokio::sync::watch;

use super::repeats::{self, Seeded};
use super::{Prints, Ran, RunEnd, session, signals, unread};
use crate::cli::{
    RunArgs, SessionArgs, colour, colour::Painted, runtime::runtime, trouble::Trouble,
};
use crate::domain::words::counted;
use crate::domain::{Role, state::Keeps, state::RECENT};
use crate::files::toml_file::{Problem, Problems};
use crate::net::known::without_known;
use crate::report::live_report::Folded;
use crate::scenario::{CaseEnd, Observed, ScenarioFile, ScenarioVerdict, check, junit};
use crate::session::{JournalChoice, SessionSpec};
use crate::shell::out::{expect_place, print_json, print_line, warn};
use crate::store::import::write_private;
use crate::ui::text::clean;

/// Runs and checks the scenarios. All files are read and checked before the first session begins.
pub fn run(args: &RunArgs) -> Result<RunEnd, Trouble> {
    let files = load(args)?;
    if let Some(path) = &args.junit {
        expect_place(path)?;
    }
    let is_several = args.repeat > 1 || args.jobs.is_some() || args.nats.is_given();
    let (verdicts, end) = match is_several {
        true => repeats::run(args, &files).map(|(verdicts, end)| (verdicts, Some(end)))?,
        false => runtime()?.block_on(run_all(args, &files))?,
    };
    if let Some(path) = &args.junit {
        let xml = junit(&verdicts).map_err(Trouble::failed)?;
        write_private(path, &without_known(&xml)).map_err(Trouble::failed)?;
    }
    if let Some(end) = end {
        return Ok(end);
    }
    let passed = verdicts.iter().filter(|verdict| verdict.passed).count();
    let all = passed == files.len();
    Ok(if all { RunEnd::AsExpected } else { RunEnd::NotAsExpected })
}

/// Reads and checks all files, so that a mistake in the last one costs no session.
fn load(args: &RunArgs) -> Result<Vec<Seeded>, Trouble> {
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    let mut names: BTreeMap<String, &Path> = BTreeMap::new();
    for path in in_folders(&args.scenario)? {
        match ScenarioFile::load(&path) {
            Ok(file) => files.push(file),
            Err(found) => problems.extend(found.0),
        }
    }
    let mut seeds = Vec::new();
    for file in &files {
        if let Some(other) = names.insert(file.name(), &file.path) {
            let name = file.name();
            let text = format!(
                "the name {name:?} is that of {}, too; write another `name`",
                other.display()
            );
            problems.push(Problem::of_file(file.path.display().to_string(), text));
        }
        match file.prepare(|spec| change(spec, args)) {
            Ok(prepared) => seeds.push(prepared.config.session.seed),
            Err(found) => problems.extend(found.0),
        }
    }
    if !problems.is_empty() {
        return Err(Trouble::usage(Problems(problems)));
    }
    Ok(files.into_iter().zip(seeds).collect())
}

/// The files, with those of the folders among them by their names.
fn in_folders(given: &[PathBuf]) -> Result<Vec<PathBuf>, Trouble> {
    let mut files = Vec::new();
    for path in given {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unread = |error| Trouble::Usage(format!("{}: {error}", path.display()));
        let entries = path.read_dir().map_err(unread)?;
        let found = entries.map(|entry| entry.map(|entry| entry.path()));
        let found = found.collect::<Result<Vec<_>, _>>().map_err(unread)?;
        let is_scenario = |file: &PathBuf| file.extension().is_some_and(|end| end == "toml");
        let mut found: Vec<_> = found.into_iter().filter(is_scenario).collect();
        if found.is_empty() {
            let text = format!("{}: no scenario (*.toml) is in this folder", path.display());
            return Err(Trouble::Usage(text));
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

/// Applies the options that override a scenario.
pub(super) fn change(spec: &mut SessionSpec, args: &RunArgs) {
    let SessionArgs { config, model, planner, solver, seed, no_journal, max_dollars, .. } =
        &args.session;
    if let Some(file) = &config.config {
        spec.config = Some(file.clone());
    }
    if let Some(model) = model {
        // The option replaces the model of every role, including the scenario's own roles.
        spec.model = Some(model.as_str().into());
        spec.roles.clear();
    }
    for (role, model) in [(Role::Planner, planner), (Role::Solver, solver)] {
        spec.roles.extend(model.as_deref().map(|model| (role, model.into())));
    }
    spec.seed = seed.or(spec.seed);
    spec.max_dollars = max_dollars.or(spec.max_dollars);
    spec.keep_going |= args.keep_going;
    if *no_journal {
        spec.journal = JournalChoice::None;
    }
}

/// Runs one session after the other; returns how the run ends, if something ends it before the last.
async fn run_all(
    args: &RunArgs,
    files: &[Seeded],
) -> Result<(Vec<ScenarioVerdict>, Option<RunEnd>), Trouble> {
    let signal = signals().await;
    let mut verdicts = Vec::new();
    for (file, _) in files {
        if !args.json {
            print_line(format!("scenario {} ({})", clean(&file.name()), shown(&file.path)))?;
        }
        let (verdict, lost) = run_one(args, file, signal.clone()).await;
        if let Some(error) = lost {
            verdicts.push(verdict);
            return Ok((verdicts, Some(unread(error)?)));
        }
        tell(args, &verdict)?;
        verdicts.push(verdict);
        let came = *signal.borrow();
        if came != 0 {
            conclude(args, &verdicts, files.len())?;
            return Ok((verdicts, Some(RunEnd::BySignal(came))));
        }
    }
    conclude(args, &verdicts, files.len())?;
    Ok((verdicts, None))
}

/// Runs one session and checks it. The error says why its output stopped.
async fn run_one(
    args: &RunArgs,
    file: &ScenarioFile,
    signal: watch::Receiver<i32>,
) -> (ScenarioVerdict, Option<std::io::Error>) {
    let name = || (file.name(), file.path.display().to_string());
    let failed = |why: String| (ScenarioVerdict::new(name(), Some(why), Vec::new(), 0.0), None);
    // An earlier session may have changed the workspace, so it is read again.
    let mut prepared = match file.prepare(|spec| change(spec, args)) {
        Ok(prepared) => prepared,
        Err(problems) => return failed(problems.to_string()),
    };
    prepared.keeps = Keeps::Tasks(RECENT);
    let expect = &file.scenario.expect;
    let observed = Some(Observed::new(expect));
    let ran = match session(
        prepared,
        Prints::of(args.json, false),
        Folded::default(),
        observed,
        signal.clone(),
    )
    .await
    {
        Ok(ran) => ran,
        Err(error) => return failed(error.to_string()),
    };
    let early = ended_early(&ran, *signal.borrow());
    let Ran { state, observed, lost, .. } = ran;
    let checked = check(expect, &state, &observed.unwrap_or_default());
    let verdict = ScenarioVerdict::new(name(), early, checked, state.at as f64 / 1e6);
    (verdict.with_idle_faults(&state), lost)
}

/// Why a session ended before its last task did.
fn ended_early(ran: &Ran, signal: i32) -> Option<String> {
    let is_done = ran.state.tasks_done == ran.state.tasks.len();
    let by_signal = (signal != 0).then(|| format!("ended by signal {signal}"));
    let stopped = ran.unusable.is_some() || ran.is_out_of_dollars || !is_done;
    let why = || ran.ended.clone().unwrap_or_else(|| "the session did not end".to_owned());
    by_signal.filter(|_| !is_done).or_else(|| stopped.then(why))
}

/// Prints the result of a scenario.
pub(super) fn tell(args: &RunArgs, verdict: &ScenarioVerdict) -> Result<(), Trouble> {
    if args.json {
        return print_json(&json!({ "scenario": verdict }).to_string());
    }
    tell_cases(verdict, "  ")?;
    let word = match verdict.passed {
        true => colour::paint(colour::GOOD, "passed"),
        false => colour::paint(colour::BAD, "FAILED"),
    };
    let name = clean(&verdict.name);
    let counts = format!(": {}", verdict.counts());
    print_line(Painted::from(format!("scenario {name} ")) + word + counts)
}

/// Prints each expectation with what was found.
pub(super) fn tell_cases(verdict: &ScenarioVerdict, before: &str) -> Result<(), Trouble> {
    for (end, expected, found) in verdict.cases() {
        let style = match end {
            CaseEnd::Met => colour::GOOD,
            CaseEnd::Skipped => colour::WARN,
            CaseEnd::Failed | CaseEnd::EndedEarly => colour::BAD,
        };
        let text = format!(": {}: {}", clean(expected), clean(found));
        print_line(Painted::from(before.to_owned()) + colour::paint(style, end.word()) + text)?;
    }
    Ok(())
}

/// Prints how many scenarios passed.
fn conclude(args: &RunArgs, verdicts: &[ScenarioVerdict], all: usize) -> Result<(), Trouble> {
    let passed = verdicts.iter().filter(|verdict| verdict.passed).count();
    if args.json {
        return print_json(&json!({ "scenarios": { "passed": passed, "all": all } }).to_string());
    }
    if verdicts.len() < all {
        warn(&format!("{} not run", counted(all - verdicts.len(), "scenario")));
    }
    print_line(format!("{passed} of {} passed", counted(all, "scenario")))
}

fn shown(path: &Path) -> String {
    clean(&path.display().to_string()).into_owned()
}
