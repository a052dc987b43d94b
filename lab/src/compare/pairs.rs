//! The comparison of concurrent workers: planners and solvers, and baselines with one model.

use indexmap::IndexSet;

use super::OF_PAPER;
use super::verdict::{line, more};
use crate::app::compare::columns::{LABEL, ResultColumn, of_answers, table};
use crate::app::compare::experiment::Experiment;
use crate::app::compare::grid::{
    self, Cell, RoleBindings, Setting, distinct, each, given_knobs,
};
use crate::app::compare::result::CellResult;
use crate::app::compare::table::PlainTable;
use crate::app::compare::verdict::{RIGHT, best};
use crate::app::compare::{CompareOptions, without_reader};
use crate::app::shell::trouble::Trouble;
use crate::app::{config, stage};
use crate::domain::{Base, ModelName, Role, Strategy};
use crate::report::Quality;

/// Tables 3 and 4, which have the numbers of figures 2 and 3.
pub const PAIRS: Experiment = Experiment {
    settle: |options, session, models| {
        without_reader(session);
        let is_given = options.session.planner.is_some() || options.session.solver.is_some();
        if !is_given && *models == [config::SIMULATED] {
            session.pair = true;
            *models = stage::pair().into_iter().map(|(name, _)| name.to_owned()).collect();
        }
        Ok(())
    },
    cells,
    tables: |results| vec![baselines(results), pairs(results)],
    verdicts: of_workers,
    ..OF_PAPER
};

fn cells(options: &CompareOptions, models: &[String]) -> Result<Vec<Cell>, Trouble> {
    let own = [Base::Direct, Base::Rewoo, Base::Workers].map(Strategy::from);
    let strategies = if options.strategies.is_empty() { &own[..] } else { &options.strategies[..] };
    let knobs = given_knobs(options);
    let cells = strategies.iter().flat_map(|strategy| {
        each(*strategy, Setting::default(), &played(options, *strategy, models), &knobs)
    });
    Ok(distinct(cells))
}

/// The models for a strategy: all pairs for workers. The others are baselines with one model.
fn played(options: &CompareOptions, strategy: Strategy, models: &[String]) -> Vec<RoleBindings> {
    let session = &options.session;
    let lists = [&session.planner, &session.solver].map(|list| match list {
        Some(list) => grid::names(Some(list)),
        None => models.to_vec(),
    });
    if strategy.base == Base::Workers {
        return grid::pairs(strategy, lists);
    }
    lists.concat().into_iter().map(RoleBindings::By).collect()
}

/// Table 3 of the paper on concurrent workers: one model alone.
fn baselines(results: &[CellResult]) -> PlainTable {
    let title = "Table 3: against baselines, with one model to plan and to solve (shares in %; averages of \
        a task; US dollars for 1,000 tasks)";
    let model: ResultColumn<'_> =
        ("model", &|result| result.cell.model_alone().unwrap_or("").to_owned());
    let baselines = results.iter().filter(|result| result.cell.model_alone().is_some());
    table(title, 2, &of_answers(results, &[LABEL, model], &[]), baselines)
}

/// Table 4 of the paper on concurrent workers: models as planner and solver.
fn pairs(results: &[CellResult]) -> PlainTable {
    let title = "Table 4: models of planner and solver (the same measures)";
    let pairs =
        || results.iter().filter(|result| matches!(result.cell.played, RoleBindings::Pair { .. }));
    let most = pairs().filter_map(|result| result.all.quality.accuracy).reduce(f64::max);
    let least = pairs().filter_map(|result| result.all.quality.dollars_per_1000).reduce(f64::min);
    let is_best = |own: Option<f64>, best| own.is_some() && own == best;
    let best = |result: &CellResult| {
        let Quality { accuracy, dollars_per_1000, .. } = result.all.quality;
        match (is_best(accuracy, most), is_best(dollars_per_1000, least)) {
            (true, true) => "accuracy, cost",
            (true, false) => "accuracy",
            (false, true) => "cost",
            (false, false) => "",
        }
        .to_owned()
    };
    let planner: ResultColumn<'_> = ("planner", &|result| model_of(result, Role::Planner));
    let solver: ResultColumn<'_> = ("solver", &|result| model_of(result, Role::Solver));
    let columns = of_answers(results, &[LABEL, planner, solver], &[("best", &best)]);
    table(title, 3, &columns, pairs())
}

fn model_of(result: &CellResult, role: Role) -> String {
    result.models.get(&role).map_or("–", ModelName::as_str).to_owned()
}

/// A line for tables 3 and 4 of the paper on concurrent workers; its figures 2 and 3 show the same.
fn of_workers(results: &[CellResult]) -> Vec<String> {
    let of = |base: Base, model: &str| {
        results.iter().find(|result| {
            (result.cell.strategy.base, result.cell.model_alone()) == (base, Some(model))
        })
    };
    let models: IndexSet<_> =
        results.iter().filter_map(|result| result.cell.model_alone()).collect();
    let table_3: Vec<_> = models
        .into_iter()
        .filter_map(|model| {
            let own = of(Base::Workers, model)?;
            let baselines = [Base::Direct, Base::Rewoo].into_iter().filter_map(|it| of(it, model));
            Some((model, more(RIGHT, &[(own, best(RIGHT, baselines)?)])))
        })
        .collect();
    let table_3 =
        line("Table 3 and Figure 2", "workers are right more often than the baselines", &table_3);
    table_3.into_iter().chain([mixed_pairs(results)]).collect()
}

/// Whether two models are right more often than one, from each pair of planner and solver.
fn mixed_pairs(results: &[CellResult]) -> String {
    let pairs = |mixed: bool| {
        let is_mixed = move |result: &&CellResult| match &result.cell.played {
            RoleBindings::Pair { planner, solver } => (planner != solver) == mixed,
            RoleBindings::By(_) | RoleBindings::AsConfigured => false,
        };
        best(RIGHT, results.iter().filter(is_mixed))
    };
    let claim = "one model plans and another one solves best";
    match (pairs(true), pairs(false)) {
        (Some(mixed), Some(alone)) => {
            let judged = [("these models", more(RIGHT, &[(mixed, alone)]))];
            line("Table 4 and Figure 3", claim, &judged).unwrap_or_default()
        }
        _ => format!(
            "Table 4 and Figure 3 ({claim}): not compared, with one model; give two with \
             `toolyard-lab compare pairs --planner A,B --solver A,B`"
        ),
    }
}
