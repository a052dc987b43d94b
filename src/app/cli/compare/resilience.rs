//! The effect of a broken tool on agents: with learning, with learning frozen, and without the fault. ReAct is measured
//! too; it has no weights to learn. The computation is that of the pane of resilience, over seeds.

use std::path::Path;

use crate::compare::experiment::{CHOSEN, Experiment};
use crate::compare::grid::{Cell, Trial};
use crate::compare::result::{CellResult, SeedResult};
use crate::compare::table::{PlainTable, or, percent};
use crate::compare::{CompareOptions, Comparison, without_reader};
use crate::domain::{Base, FaultSpec, Knob, Strategy, Target, TaskId};
use crate::papers::resilience::{self, Broken, Means, RecoveryVerdict, Resilience};
use crate::runner::{SessionStopper, follow};
use crate::session::{JournalChoice, SessionSpec};
use crate::shell::trouble::Trouble;
use crate::store::import;
use crate::ui::pane::PaneId;
use crate::ui::theme::{Theme, load};
use crate::ui::twin::{Twin, TwinKind};
use crate::ui::{shot, view::View};

/// The default fault.
const FAULT: &str = "search_web:error:from-task=30";
/// The size of the picture, in cells.
const PICTURE: (u16, u16) = (120, 32);

/// The fault of a comparison, from its command; the target must be a tool.
fn fault(options: &CompareOptions) -> Result<FaultSpec, Trouble> {
    let fault = match options.session.fault.as_slice() {
        [] => FAULT.parse().map_err(Trouble::Failed)?,
        [fault] => fault.clone(),
        _ => return Err(Trouble::Usage("`compare resilience` takes one --fault".to_owned())),
    };
    match &fault.target {
        Target::Tool(_) => Ok(fault),
        other => {
            let text = format!("`compare resilience` takes the fault of one tool, not of {other}");
            Err(Trouble::Usage(text))
        }
    }
}

/// A tool breaks: with learning and without.
pub const BROKEN_TOOL: Experiment = Experiment {
    settle: |_, session, _| {
        // The faults belong only to some of the combinations.
        session.faults.clear();
        without_reader(session);
        Ok(())
    },
    cells: |options, _| cells(options),
    tables,
    verdicts,
    ..CHOSEN
};

/// Combinations of each strategy: with the fault, with the fault and learning off, and without the fault; then ReAct
/// with the fault.
fn cells(options: &CompareOptions) -> Result<Vec<Cell>, Trouble> {
    let broken = Trial { fault: Some(fault(options)?), ..Trial::default() };
    let own = [Strategy::from(Base::ToolNet)];
    let strategies = if options.strategies.is_empty() { &own } else { &options.strategies[..] };
    let mut cells = Vec::new();
    for strategy in strategies {
        cells.push(Cell::plain(*strategy, &[]).under(broken.clone()));
        if strategy.learns() {
            cells.push(Cell::plain(*strategy, &[(Knob::Learn, 0.0)]).under(broken.clone()));
        }
        cells.push(Cell::plain(*strategy, &[]));
    }
    if !strategies.contains(&Base::React.into()) {
        cells.push(Cell::plain(Base::React.into(), &[]).under(broken));
    }
    Ok(cells)
}

fn tables(results: &[CellResult]) -> Vec<PlainTable> {
    let columns = [
        "calls per task",
        "before",
        "until stable",
        "afterwards",
        "right since",
        "credits since",
        "recovered",
        "after tasks",
        "lost",
    ];
    let mut table =
        PlainTable::new("A tool breaks: calls of a task, on average over the seeds", 1, &columns);
    for result in results {
        let taken = taken(result);
        if taken.is_empty() {
            continue;
        }
        let calls = |part: fn(&Resilience) -> Means| {
            or(mean(taken.iter().map(part), |means| means.calls), |n| format!("{n:.1}"), "–")
        };
        let since = || taken.iter().flat_map(|taken| [taken.meanwhile, taken.after]);
        let graded: usize = since().map(|means| means.graded).sum();
        let right: usize = since().map(|means| means.right).sum();
        let share = (graded > 0).then(|| right as f64 / graded as f64);
        let after = taken.iter().filter_map(|taken| match taken.verdict {
            RecoveryVerdict::Recovered { after } => Some(after),
            _ => None,
        });
        let after: Vec<usize> = after.collect();
        let tasks =
            (!after.is_empty()).then(|| after.iter().sum::<usize>() as f64 / after.len() as f64);
        let lost: Option<Vec<usize>> =
            result.seeds.iter().map(|seed| lost(result, seed, results)).collect();
        table.row(vec![
            result.cell.name.clone(),
            calls(|taken| taken.before),
            calls(|taken| taken.meanwhile),
            calls(|taken| taken.after),
            or(share, percent, "–"),
            or(mean(since(), |means| means.credits), |n| format!("{n:.2}"), "–"),
            format!("{}/{}", after.len(), taken.len()),
            or(tasks, |n| format!("{n:.1}"), "–"),
            lost.map_or_else(|| "–".to_owned(), |lost| lost.iter().sum::<usize>().to_string()),
        ]);
    }
    vec![table]
}

/// The strip of the first seed of each combination, and its verdict.
fn verdicts(results: &[CellResult]) -> Vec<String> {
    let said = results.iter().filter_map(|result| {
        let (broken, seed) = (broken(&result.cell)?, result.seeds.first()?);
        let taken = Resilience::of(&seed.laps, &broken, false);
        let sentence = resilience::sentence(&taken, lost(result, seed, results));
        let width = taken.strip.iter().map(|tool| tool.as_str().len()).max()?;
        let rows = taken.strip.iter().map(|tool| {
            let uses = seed.laps.iter().map(|lap| resilience::used(lap, tool, &taken.strip).sign());
            format!("  {tool:width$}  {}\n", uses.collect::<String>())
        });
        let rows: String = rows.collect();
        Some(format!("{}, seed {}: {sentence}\n{}", result.cell.name, seed.seed, rows.trim_end()))
    });
    said.collect()
}

fn broken(cell: &Cell) -> Option<Broken> {
    let fault = cell.trial.fault.as_ref()?;
    let Target::Tool(tool) = &fault.target else { return None };
    Some(Broken {
        tools: vec![tool.clone()],
        from: TaskId(fault.trigger.from_task.unwrap_or(1)),
        until: fault.trigger.to_task.map(TaskId),
    })
}

/// The reaction of each seed of a combination to its fault.
fn taken(result: &CellResult) -> Vec<Resilience> {
    let Some(broken) = broken(&result.cell) else { return Vec::new() };
    result.seeds.iter().map(|seed| Resilience::of(&seed.laps, &broken, false)).collect()
}

/// The answers that a seed lost, compared with the same strategy and seed without the fault.
fn lost(result: &CellResult, seed: &SeedResult, all: &[CellResult]) -> Option<usize> {
    let broken = broken(&result.cell)?;
    let is_same = |other: &&CellResult| {
        other.cell.strategy == result.cell.strategy && other.cell.trial.fault.is_none()
    };
    let without = all.iter().find(is_same)?;
    let same = without.seeds.iter().find(|other| other.seed == seed.seed)?;
    Some(resilience::lost(&seed.laps, &same.laps, broken.from))
}

/// The mean over all tasks of some parts.
fn mean(parts: impl Iterator<Item = Means>, of: fn(&Means) -> f64) -> Option<f64> {
    let (sum, tasks) = parts.fold((0.0, 0), |(sum, tasks), means| {
        (sum + of(&means) * means.tasks as f64, tasks + means.tasks)
    });
    (tasks > 0).then(|| sum / tasks as f64)
}

/// Writes the pane of resilience of the first combination and seed, with its twin.
///
/// # Errors
/// The session cannot run again, or the file cannot be written.
pub fn picture(
    file: &Path,
    comparison: &Comparison,
    results: &[CellResult],
) -> Result<(), Trouble> {
    let Some((_, spec, _)) = comparison.cells.first() else { return Ok(()) };
    let spec = SessionSpec {
        seed: comparison.seeds.all.first().copied(),
        journal: JournalChoice::None,
        fresh: true,
        leak_guard: true,
        ..spec.clone()
    };
    let stop = SessionStopper::default();
    let state = follow(spec.prepare()?, Vec::new(), &stop, |_| true)?.state;
    let frozen = results.iter().find(|result| result.cell.turned_to(Knob::Learn).is_some());
    let twin = frozen
        .and_then(|result| result.seeds.first())
        .map(|seed| Twin::ended(TwinKind::Frozen, seed.laps.clone()));
    let (theme, _) = load::find(load::AUTO, None);
    let view =
        View { focus: PaneId::Resilience, zoom: Some(PaneId::Resilience), twin, ..View::default() };
    let theme: Theme = theme;
    let svg = shot::shot(&state, PICTURE, &theme, view);
    import::write_private(file, &svg).map_err(Trouble::failed)
}
