//! ATC's tables 1, 4 and 5 and figures 5 and 7: one program for each task against loops of single calls, what reflection
//! repairs, how many programs are worth it, and how many tools probing reaches.

use super::OF_PAPER;
use super::cells::simulated;
use super::verdict::{self, TOKENS, line};
use crate::app::compare::experiment::Experiment;
use crate::app::compare::grid::{Cell, Trial, distinct};
use crate::app::compare::result::{CellResult, SeedResult, found};
use crate::app::compare::table::{PlainTable, bar, number, or, percent};
use crate::app::compare::verdict::{Measure, RIGHT};
use crate::app::compare::{CompareOptions, without_reader};
use crate::app::shell::trouble::Trouble;
use crate::app::session::SimulatedSpec;
use crate::app::stage;
use crate::domain::probe::Probe;
use crate::domain::{Base, Knob, KnobChoice, Reflect, Strategy, Task};
use crate::report::Quality;

/// The most programs of figure 5.
const PROGRAMS: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
const REFLECT: [Reflect; 3] = [Reflect::Off, Reflect::Naive, Reflect::Attribute];
/// Values of the simulated model's skill beside its default, 0.95.
const SKILL: [f64; 2] = [0.8, 0.99];
/// More programs than this one no longer help (figure 5).
const ENOUGH: usize = 3;

/// Note on figures from the simulated programmer: their scope and limits.
const MEANS: &str = "\
    The simulated programmer knows which calls a task needs. It makes faults with probability 1 - skill, and corrects one \
    when a finding contains what the correction needs. So these figures show what each finding contains, how a program \
    saves model calls, and what the chain of probing reaches. They do not show how often a language model finds the right \
    calls. CodeAct is not compared: there is no such loop here.";

/// The loops of table 1; DFSDT is the one of ToolLLM.
fn loops() -> impl Iterator<Item = Cell> {
    let loops = [Base::React, Base::Dfsdt, Base::Workers, Base::Atc];
    loops.into_iter().map(|base| Cell::plain(base.into(), &[]))
}

fn atc(turned: &[(Knob, f64)]) -> Cell {
    Cell::plain(Base::Atc.into(), turned)
}

fn reflecting(skill: Option<f64>) -> impl Iterator<Item = Cell> {
    REFLECT.into_iter().map(move |reflect| {
        let cell = atc(&[(Reflect::KNOB, reflect as usize as f64)]);
        match skill {
            None => cell,
            Some(_) => simulated(cell, SimulatedSpec { skill, ..SimulatedSpec::default() }),
        }
    })
}

fn revised() -> impl Iterator<Item = Cell> {
    PROGRAMS.into_iter().map(|most| atc(&[(Knob::Programs, most)]))
}

/// Ways to probe: with the chain, with one sample of each tool, and without the chain.
fn probing() -> impl Iterator<Item = Cell> {
    let knobs: [&[(Knob, f64)]; 3] =
        [&[], &[(Knob::ProbeSamples, 1.0)], &[(Knob::ProbePasses, 0.0)]];
    knobs.into_iter().map(|turned| {
        let own_tasks = vec![Task::of_probe(Probe::default())];
        let mut cell = atc(turned).under(Trial { own_tasks, ..Trial::default() });
        cell.name.push_str(" probe");
        cell
    })
}

/// All tables and figures.
pub const ATC: Experiment = Experiment {
    settle: |_, session, _| {
        without_reader(session);
        if session.workspace.is_none() {
            // Programs need tools that answer in JSON.
            session.sample = session.sample.or(stage::sample_of(Base::Atc.into()));
        }
        Ok(())
    },
    cells: |options, _| cells(options),
    tables,
    verdicts,
    note: means,
    ..OF_PAPER
};

fn cells(options: &CompareOptions) -> Result<Vec<Cell>, Trouble> {
    let own =
        [!options.strategies.is_empty(), !options.vary.is_empty(), !options.budgets.is_empty()];
    if own.contains(&true) {
        let text = "`compare atc` has its own strategies and knobs; leave --strategies, --vary and --budgets out";
        return Err(Trouble::Usage(text.to_owned()));
    }
    let skilled = SKILL.into_iter().flat_map(|skill| reflecting(Some(skill)));
    let all = loops().chain(reflecting(None)).chain(revised()).chain(skilled).chain(probing());
    Ok(distinct(all))
}

fn tables(results: &[CellResult]) -> Vec<PlainTable> {
    let skilled = SKILL.into_iter().flat_map(|skill| reflecting(Some(skill)));
    vec![
        loops_table(&found(results, loops())),
        programs(
            "Table 4: what is fed back after a failed program",
            &found(results, reflecting(None)),
        ),
        programs(
            "Other settings of the simulated model (skill 0.95 above): table 4",
            &found(results, skilled),
        ),
        reached(&found(results, probing())),
        revisions(&found(results, revised())),
        tokens_table(&found(results, loops())),
    ]
}

/// The note on the simulated programmer; empty if no result is simulated.
fn means(results: &[CellResult]) -> &'static str {
    if results.iter().any(|result| result.simulated) { MEANS } else { "" }
}

fn loops_table(results: &[&CellResult]) -> PlainTable {
    let columns =
        ["", "Success", "Path", "Prec", "Path, calls", "Prec, calls", "in order", "model calls"];
    let mut table = PlainTable::new(
        "Table 1: programs against loops of single calls (shares in %)",
        1,
        &columns,
    );
    for result in results {
        let quality = &result.all.quality;
        let path = |of: fn(&crate::papers::atc::metrics::PathMean) -> f64| {
            or(quality.path.as_ref().map(of), percent, "–")
        };
        table.row(vec![
            result.cell.name.clone(),
            or(quality.accuracy, percent, "–"),
            path(|path| path.path),
            path(|path| path.prec),
            path(|path| path.path_calls),
            path(|path| path.prec_calls),
            or(quality.path.as_ref().and_then(|path| path.in_order), percent, "–"),
            number(quality.steps),
        ]);
    }
    table
}

/// The table of program outcomes: success, programs per task, failures, repairs, and blame.
fn programs(title: &str, results: &[&CellResult]) -> PlainTable {
    let columns = [
        "",
        "Success",
        "programs",
        "tasks with a failure",
        "repaired",
        "blamed by flow",
        "by model",
        "by nobody",
    ];
    let mut table = PlainTable::new(title, 1, &columns);
    for result in results {
        let Quality { accuracy, programs, .. } = &result.all.quality;
        let count = |of: fn(&crate::papers::atc::measures::ProgramMeans) -> usize| {
            programs.as_ref().map_or_else(|| "–".to_owned(), |programs| of(programs).to_string())
        };
        table.row(vec![
            result.cell.name.clone(),
            or(*accuracy, percent, "–"),
            or(programs.map(|programs| programs.programs), number, "–"),
            count(|programs| programs.failed),
            or(programs.and_then(|programs| programs.repaired), percent, "–"),
            count(|programs| programs.blamed_by_flow),
            count(|programs| programs.blamed_by_model),
            count(|programs| programs.blamed_by_nobody),
        ]);
    }
    table
}

fn reached(results: &[&CellResult]) -> PlainTable {
    let columns = ["", "reached", "tools", "passes", "programs", "tool calls", "tokens of a tool"];
    let mut table =
        PlainTable::new("Table 5: tools that probing reaches, in all seeds", 1, &columns);
    for result in results {
        let all = || result.seeds.iter().filter_map(|seed| seed.probing.as_ref());
        let (tools, tokens): (usize, u64) =
            (all().map(|it| it.tools).sum(), all().map(|it| it.tokens).sum());
        table.row(vec![
            result.cell.name.clone(),
            all().map(|it| it.reached).sum::<usize>().to_string(),
            tools.to_string(),
            all().map(|it| it.passes).max().unwrap_or(0).to_string(),
            all().map(|it| it.programs).sum::<u32>().to_string(),
            all().map(|it| it.calls).sum::<usize>().to_string(),
            format!("{:.0}", tokens as f64 / tools.max(1) as f64),
        ]);
    }
    table
}

fn revisions(results: &[&CellResult]) -> PlainTable {
    let title = "Figure 5: Success (%) against the most programs of a task";
    let mut table = PlainTable::new(title, 1, &["", "Success", "", "programs"]);
    for (most, result) in PROGRAMS.iter().zip(results) {
        let Quality { accuracy, programs, .. } = &result.all.quality;
        table.row(vec![
            most.to_string(),
            or(*accuracy, percent, "–"),
            bar(accuracy.unwrap_or(0.0), 1.0),
            or(programs.map(|programs| programs.programs), number, "–"),
        ]);
    }
    table
}

fn tokens(result: &CellResult) -> f64 {
    result.all.quality.tokens_in + result.all.quality.tokens_out
}

fn tokens_table(results: &[&CellResult]) -> PlainTable {
    let most = results.iter().map(|result| tokens(result)).fold(0.0, f64::max);
    let mut table = PlainTable::new(
        "Figure 7: tokens of a task, all roles, in and out",
        1,
        &["", "tokens", ""],
    );
    for result in results {
        let all = tokens(result);
        table.row(vec![result.cell.name.clone(), format!("{all:.0}"), bar(all, most)]);
    }
    table
}

/// A line for each table and figure.
fn verdicts(results: &[CellResult]) -> Vec<String> {
    let loops = found(results, loops());
    let own = |of: fn(&[&CellResult]) -> Result<(), String>, rows: &[&CellResult]| {
        if rows.is_empty() { Vec::new() } else { vec![("atc", of(rows))] }
    };
    let lines = [
        line("Table 1", "programs have the highest Success and Prec", &own(best, &loops)),
        line(
            "Table 4",
            "naming the tool to blame repairs more than the error alone, and the error more than nothing",
            &own(repairs, &found(results, reflecting(None))),
        ),
        line(
            "Table 5",
            "without the chain, probing reaches fewer tools",
            &own(chained, &found(results, probing())),
        ),
        line(
            "Figure 5",
            "Success rises up to three programs and then hardly changes",
            &own(rises_and_stays, &found(results, revised())),
        ),
        line("Figure 7", "programs take the fewest tokens", &own(fewest, &loops)),
    ];
    lines.into_iter().flatten().collect()
}

/// The result of programs, and the others.
fn own_and_others<'r>(results: &[&'r CellResult]) -> Option<(&'r CellResult, Vec<&'r CellResult>)> {
    let is_own = |result: &&CellResult| result.cell.strategy == Strategy::from(Base::Atc);
    let own = results.iter().copied().find(is_own)?;
    Some((own, results.iter().copied().filter(|result| !is_own(result)).collect()))
}

const PREC: (&str, Measure<'_>) =
    ("Prec", &|seed: &SeedResult| 100.0 * seed.numbers.quality.path.map_or(0.0, |path| path.prec));
const REACHED: (&str, Measure<'_>) =
    ("reached", &|seed: &SeedResult| seed.probing.as_ref().map_or(0.0, |it| it.reached as f64));

fn best(results: &[&CellResult]) -> Result<(), String> {
    let (own, others) = own_and_others(results).ok_or("not compared")?;
    let pairs = pairs(own, &others);
    verdict::not_less(RIGHT, &pairs).and(verdict::not_less(PREC, &pairs))
}

fn fewest(results: &[&CellResult]) -> Result<(), String> {
    let (own, others) = own_and_others(results).ok_or("not compared")?;
    verdict::less(TOKENS, &pairs(own, &others))
}

fn repairs(results: &[&CellResult]) -> Result<(), String> {
    let steps: Vec<_> = results.windows(2).map(|pair| (pair[1], pair[0])).collect();
    verdict::more(RIGHT, &steps)
}

fn chained(results: &[&CellResult]) -> Result<(), String> {
    let [chain, _, alone] = results else { return Err("not compared".to_owned()) };
    verdict::less(REACHED, &[(alone, chain)])
}

fn rises_and_stays(results: &[&CellResult]) -> Result<(), String> {
    let (rising, flat) = results.split_at(ENOUGH.min(results.len()));
    verdict::rises(RIGHT, rising)?;
    let Some(last) = rising.last() else { return Err("not compared".to_owned()) };
    let back = flat.iter().map(|result| (*result, *last));
    let pairs: Vec<_> = pairs(last, flat).into_iter().chain(back).collect();
    verdict::not_less(RIGHT, &pairs)
}

/// Pairs of one result with each other one.
fn pairs<'r>(
    own: &'r CellResult,
    others: &[&'r CellResult],
) -> Vec<(&'r CellResult, &'r CellResult)> {
    others.iter().map(|other| (own, *other)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_comes_once() {
        let cells = cells(&CompareOptions::default()).unwrap();
        let names: std::collections::BTreeSet<_> = cells.iter().map(|cell| &cell.name).collect();
        assert_eq!(names.len(), cells.len(), "{names:?}");
        assert!(
            cells.iter().filter(|cell| !cell.trial.own_tasks.is_empty()).count() == 3,
            "{names:?}"
        );
    }
}
