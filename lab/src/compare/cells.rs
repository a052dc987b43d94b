//! The settings and agents of papers' combinations.

use crate::agents::{self, Habits};
use crate::app::compare::grid::{Cell, RoleBindings, Setting};
use crate::app::session::SimulatedSpec;
use crate::domain::{Blacklist, Estimation, Knob, Strategy};

/// Number of tools that come with a query in BTP's paper.
const TASK_TOOLS: Option<usize> = Some(5);

/// Every tool may be offered, and `+btp` looks for candidates and for tools that are missing.
pub const OURS: Setting = Setting { name: "", task_tools: None, knobs: &[] };
/// The same five tools come with each task, for every strategy, as in BTP's paper.
pub const GIVEN: Setting = Setting { name: "given", task_tools: TASK_TOOLS, knobs: &[] };
/// As [`GIVEN`], with `+btp` as published: its estimates, a strict blacklist, no widening.
pub const PAPER: Setting = Setting {
    name: "paper",
    task_tools: TASK_TOOLS,
    knobs: &[
        (Knob::Estimate, Estimation::Paper as u8 as f64),
        (Knob::Blacklist, Blacklist::Strict as u8 as f64),
        (Knob::Widen, 0.0),
        (Knob::Spread, 0.0),
        (Knob::Sharpness, 1.0),
    ],
};

/// A combination of strategy, setting and knobs that this agent plays.
pub fn of_agent(
    agent: &Habits,
    (strategy, setting): (Strategy, Setting),
    turned: &[(Knob, f64)],
) -> Cell {
    let played = RoleBindings::By(agent.name.to_owned());
    Cell::new(strategy, setting, played, turned.to_vec())
}

/// The combination with another simulated model.
pub fn simulated(mut cell: Cell, by: SimulatedSpec) -> Cell {
    let thrift = by.thrift.map(|thrift| format!(" thrift={thrift}"));
    let patience = by.patience.map(|patience| format!(" patience={patience}"));
    let skill = by.skill.map(|skill| format!(" skill={skill}"));
    let priced = by.prices.map(|_| " priced".to_owned());
    cell.name.extend([thrift, patience, skill, priced].into_iter().flatten());
    cell.simulated = by;
    cell
}

/// The scripted agent that plays all roles of a combination.
pub fn agent(cell: &Cell) -> Option<&'static Habits> {
    agents::named(cell.model_alone()?)
}

/// Whether the simulated model, if it plays, has its usual settings.
pub fn is_of_usual_agent(cell: &Cell) -> bool {
    cell.simulated == SimulatedSpec::default() && agent(cell).is_none()
}

/// Whether the agent acts otherwise where the prompt states costs.
pub fn reads_costs(cell: &Cell) -> bool {
    agent(cell).is_none_or(Habits::reads_costs)
}

/// Whether the combination is compared with `bare`: the same loop without a plan.
pub fn is_against(cell: &Cell, bare: &Cell) -> bool {
    let given = |setting| if setting == PAPER { GIVEN } else { setting };
    let turned = &cell.turned[..cell.turned.len() - usize::from(cell.without.is_some())];
    !bare.strategy.btp
        && Strategy { btp: false, prompt: false, ..cell.strategy }
            == Strategy { prompt: false, ..bare.strategy }
        && given(cell.setting) == bare.setting
        && (&cell.played, turned) == (&bare.played, &bare.turned[..])
        && (cell.simulated, &cell.trial) == (bare.simulated, &bare.trial)
}
