//! The combinations of BTP's tables and figures.

use crate::agents;
use crate::app::compare::experiment::Experiment;
use crate::app::compare::grid::{
    Cell, RoleBindings, Setting, combinations, distinct, each, given_knobs, played,
};
use crate::app::compare::{CompareOptions, WarmUp, without_reader};
use crate::app::shell::trouble::Trouble;
use crate::app::session::{SessionSpec, SimulatedSpec};
use crate::domain::{Base, Estimation, Knob, Strategy};

use super::cells::{GIVEN, OURS, PAPER, of_agent, simulated};
use super::{OF_PAPER, btp_tables, btp_verdicts};

/// The loops of BTP's experiments, and ToolNet's.
pub const LOOPS: [Base; 4] = [Base::React, Base::ToolNet, Base::Dfsdt, Base::TotDfs];

const COSTS: &str = "1..10";
/// Credits. With costs from 1 to 10 a bare loop spends about as much, so that it binds.
const BUDGET: f64 = 10.0;
const BUDGET_VALUES: [f64; 6] = [5.0, 10.0, 15.0, 20.0, 25.0, 30.0];
const TAU_VALUES: [f64; 7] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];

/// The parts of our plan, each with the value that leaves it out.
pub const PARTS: [(Knob, f64); 4] = [
    (Knob::Widen, 0.0),
    (Knob::Spread, 0.0),
    (Knob::Estimate, Estimation::Paper as u8 as f64),
    (Knob::Tau, 0.0),
];

/// Values of the simulated model's settings beside its defaults, 1 and 4.
const THRIFT: [f64; 2] = [0.0, 2.0];
const PATIENCE: [usize; 2] = [2, 8];

/// Tables 2 to 5.
pub const TABLES: Experiment = Experiment {
    settle: |options, session, _| settle(options, session),
    cells: |options, _| cells(options),
    warm_up,
    tables: btp_tables::tables,
    verdicts: btp_verdicts::of_tables,
    ..OF_PAPER
};

/// Figure 2: against the budget.
pub const BUDGETS: Experiment = Experiment {
    cells: |options, _| sweep(options, Knob::Budget, &BUDGET_VALUES),
    tables: |results| vec![btp_tables::sweep(results, Knob::Budget, "Figure 2")],
    verdicts: |results| btp_verdicts::of_figure(results, Knob::Budget).into_iter().collect(),
    ..TABLES
};

/// Figure 3: against tau.
pub const TAUS: Experiment = Experiment {
    cells: |options, _| sweep(options, Knob::Tau, &TAU_VALUES),
    tables: |results| vec![btp_tables::sweep(results, Knob::Tau, "Figure 3")],
    verdicts: |results| btp_verdicts::of_figure(results, Knob::Tau).into_iter().collect(),
    ..TABLES
};

fn cells(options: &CompareOptions) -> Result<Vec<Cell>, Trouble> {
    let knobs = given_knobs(options);
    let is_chosen = !options.strategies.is_empty();
    let rows = match is_chosen {
        true => chosen(options),
        false => LOOPS.into_iter().flat_map(of_btp).collect(),
    };
    let mut cells = of_rows(options, &rows, &knobs);
    let is_of_paper = |(strategy, setting): &(Strategy, Setting)| {
        strategy.btp && (*setting == PAPER || is_chosen)
    };
    let unprotected: Vec<_> = rows.into_iter().filter(is_of_paper).collect();
    let knobs_off = swept(&knobs, Knob::Blacklist, &[0.0]);
    let usual = [RoleBindings::AsConfigured];
    for (strategy, setting) in unprotected {
        cells.extend(each(strategy, setting, &usual, &knobs_off));
    }
    let mut cells = distinct(cells.into_iter());
    if !is_chosen {
        cells.extend(characters(&knobs));
        cells.extend(by_agents(&knobs));
        cells.extend(parts(&knobs));
    }
    Ok(cells)
}

/// The loops with a plan as published, with each value of a knob.
fn sweep(options: &CompareOptions, knob: Knob, values: &[f64]) -> Result<Vec<Cell>, Trouble> {
    let planned = |base: Base| (Strategy { btp: true, ..base.into() }, PAPER);
    let rows = match options.strategies.is_empty() {
        true => LOOPS.map(planned).to_vec(),
        false => chosen(options),
    };
    Ok(distinct(of_rows(options, &rows, &swept(&given_knobs(options), knob, values)).into_iter()))
}

/// The defaults that all of BTP's experiments share.
fn settle(options: &CompareOptions, session: &mut SessionSpec) -> Result<(), Trouble> {
    without_reader(session);
    if session.costs.is_none() {
        session.costs = Some(COSTS.parse().map_err(Trouble::Usage)?);
    }
    if options.budgets.is_empty() {
        session.knobs.entry(Knob::Budget).or_insert(BUDGET);
    }
    Ok(())
}

/// The default warm-up strategies. Both loops try tools that a plan would avoid.
fn warm_up(options: &CompareOptions) -> WarmUp {
    match options.session.experience {
        None => WarmUp(vec![Base::React.into(), Base::ToolNet.into()]),
        Some(_) => WarmUp::default(),
    }
}

fn chosen(options: &CompareOptions) -> Vec<(Strategy, Setting)> {
    options.strategies.iter().map(|strategy| (*strategy, OURS)).collect()
}

fn of_rows(
    options: &CompareOptions,
    rows: &[(Strategy, Setting)],
    knobs: &[(Knob, Vec<f64>)],
) -> Vec<Cell> {
    let rows = rows.iter().flat_map(|(strategy, setting)| {
        each(*strategy, *setting, &played(options, *strategy), knobs)
    });
    rows.collect()
}

/// The knobs with these values of one more, unless it is among them.
fn swept(given: &[(Knob, Vec<f64>)], knob: Knob, usual: &[f64]) -> Vec<(Knob, Vec<f64>)> {
    let mut knobs = given.to_vec();
    if knobs.iter().all(|(given, _)| *given != knob) {
        knobs.insert(0, (knob, usual.to_vec()));
    }
    knobs
}

/// ReAct by the scripted agents.
fn by_agents(knobs: &[(Knob, Vec<f64>)]) -> impl Iterator<Item = Cell> {
    let knobs = combinations(knobs);
    agents::USUAL.into_iter().flat_map(move |agent| {
        let knobs = knobs.clone();
        of_btp(Base::React).into_iter().flat_map(move |row| {
            knobs.clone().into_iter().map(move |turned| of_agent(agent, row, &turned))
        })
    })
}

/// The rows of a loop in BTP's tables, and ours.
fn of_btp(base: Base) -> [(Strategy, Setting); 8] {
    let bare = Strategy::from(base);
    let (prompt, btp) = (Strategy { prompt: true, ..bare }, Strategy { btp: true, ..bare });
    [
        (bare, GIVEN),
        (prompt, GIVEN),
        (btp, PAPER),
        (btp, GIVEN),
        (bare, OURS),
        (prompt, OURS),
        (btp, OURS),
        (Strategy { prompt: true, ..btp }, OURS),
    ]
}

/// ReAct with our plan, each time without one of its parts, by every agent. A knob that is given is no part.
fn parts(given: &[(Knob, Vec<f64>)]) -> impl Iterator<Item = Cell> {
    let strategy = Strategy { btp: true, ..Base::React.into() };
    let agents = [None].into_iter().chain(agents::USUAL.map(Some));
    let open = PARTS.into_iter().filter(|(part, _)| given.iter().all(|(knob, _)| knob != part));
    let open: Vec<_> = open.collect();
    let given = combinations(given);
    agents.flat_map(move |agent| {
        let of_agent = |turned: &[(Knob, f64)]| match agent {
            Some(agent) => of_agent(agent, (strategy, OURS), turned),
            None => Cell::plain(strategy, turned),
        };
        let cells = open.iter().flat_map(|&(part, off)| {
            given.iter().map(move |turned| (part, [&turned[..], &[(part, off)]].concat()))
        });
        let cells = cells.map(|(part, turned)| Cell { without: Some(part), ..of_agent(&turned) });
        cells.collect::<Vec<_>>()
    })
}

/// DFSDT with simulated models that mind costs less and more, and that give up earlier and later.
fn characters(knobs: &[(Knob, Vec<f64>)]) -> impl Iterator<Item = Cell> {
    let dfsdt = Strategy::from(Base::Dfsdt);
    let rows = [
        (dfsdt, GIVEN),
        (Strategy { prompt: true, ..dfsdt }, GIVEN),
        (Strategy { btp: true, ..dfsdt }, PAPER),
        (Strategy { btp: true, ..dfsdt }, GIVEN),
    ];
    let usual = SimulatedSpec::default();
    let thrift = THRIFT.map(|thrift| SimulatedSpec { thrift: Some(thrift), ..usual });
    let patience = PATIENCE.map(|least| SimulatedSpec { patience: Some(least), ..usual });
    let others = thrift.into_iter().chain(patience);
    let knobs = combinations(knobs);
    others.flat_map(move |by| {
        let knobs = knobs.clone();
        rows.into_iter().flat_map(move |(strategy, setting)| {
            let cell = move |turned| {
                let played = RoleBindings::AsConfigured;
                simulated(Cell::new(strategy, setting, played, turned), by)
            };
            knobs.clone().into_iter().map(cell)
        })
    })
}
