//! All combinations of a comparison.

use serde::Serialize;

use super::args::{CompareArgs, Preset, WarmUp};
pub use super::setting::{RoleBindings, Setting, Trial};
use crate::cli::trouble::Trouble;
use crate::domain::knob::KnobKind;
use crate::domain::probe::Probe;
use crate::domain::{Base, Chance, Decides, Estimation, Knob, KnobSpec, Role, Strategy, Task};
use crate::outside::{self, Habits};
use crate::session::{SessionSpec, SimulatedSpec, TaskSource};

/// The loops of BTP's experiments, and ToolNet's.
pub const LOOPS: [Base; 4] = [Base::React, Base::ToolNet, Base::Dfsdt, Base::TotDfs];

/// The defaults of a predefined comparison.
pub const SEEDS: &str = "0..4";
pub const COSTS: &str = "1..10";
/// Credits. With costs from 1 to 10 a bare loop spends about as much, so that it binds.
pub const BUDGET: f64 = 10.0;
pub const BUDGETS: [f64; 6] = [5.0, 10.0, 15.0, 20.0, 25.0, 30.0];
pub const TAUS: [f64; 7] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];

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

/// A combination: strategy, setting, models, knobs and trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Name that is unique in a comparison, and the same in every comparison that contains the combination.
    pub name: String,
    pub strategy: Strategy,
    /// Setup of BTP's experiment.
    #[serde(skip_serializing_if = "Setting::is_ours")]
    pub setting: Setting,
    #[serde(skip_serializing_if = "RoleBindings::is_as_configured")]
    pub played: RoleBindings,
    /// Settings of the simulated model that differ from the configured ones.
    #[serde(skip)]
    pub simulated: SimulatedSpec,
    /// Knobs of this combination, in addition to those of all combinations.
    #[serde(skip)]
    pub turned: Vec<(Knob, f64)>,
    #[serde(skip)]
    pub trial: Trial,
    /// The part of our plan that is left out here; its knob is the last one of `turned`.
    #[serde(skip)]
    pub without: Option<Knob>,
}

impl Cell {
    /// Whether the combination is compared with this one: the same loop without a plan.
    pub fn is_against(&self, bare: &Cell) -> bool {
        let given = |setting| match setting {
            Setting::Paper => Setting::Given,
            Setting::Given | Setting::Ours => setting,
        };
        let turned = &self.turned[..self.turned.len() - usize::from(self.without.is_some())];
        !bare.strategy.btp
            && Strategy { btp: false, prompt: false, ..self.strategy }
                == Strategy { prompt: false, ..bare.strategy }
            && given(self.setting) == bare.setting
            && (&self.played, turned) == (&bare.played, &bare.turned[..])
            && (self.simulated, &self.trial) == (bare.simulated, &bare.trial)
    }

    /// Whether the agent acts otherwise where the prompt states costs.
    pub fn reads_costs(&self) -> bool {
        self.agent().is_none_or(Habits::reads_costs)
    }

    /// Whether the simulated model, if it plays, has its usual settings.
    pub fn is_of_usual_agent(&self) -> bool {
        self.simulated == SimulatedSpec::default() && self.agent().is_none()
    }

    /// The scripted agent that plays all roles.
    pub fn agent(&self) -> Option<&'static Habits> {
        outside::named(self.model_alone()?)
    }

    /// A combination that this agent plays.
    pub fn by(agent: &Habits, strategy: Strategy, turned: &[(Knob, f64)]) -> Self {
        Self::of_agent(agent, (strategy, Setting::Ours), turned)
    }

    fn of_agent(
        agent: &Habits,
        (strategy, setting): (Strategy, Setting),
        turned: &[(Knob, f64)],
    ) -> Self {
        let played = RoleBindings::By(agent.name.to_owned());
        Self::new(strategy, setting, played, turned.to_vec())
    }

    /// The model's name, if one model plays alone.
    pub fn model_alone(&self) -> Option<&str> {
        match &self.played {
            RoleBindings::By(model) => Some(model),
            RoleBindings::Pair { planner, solver } if planner == solver => planner.as_deref(),
            RoleBindings::Pair { .. } | RoleBindings::AsConfigured => None,
        }
    }

    fn new(
        strategy: Strategy,
        setting: Setting,
        played: RoleBindings,
        turned: Vec<(Knob, f64)>,
    ) -> Self {
        let knobs =
            turned.iter().map(|(knob, value)| format!(" {knob}={}", exact(knob.spec(), *value)));
        let (mark, knobs) = (setting.mark(), knobs.collect::<String>());
        let name = format!("{strategy}{mark}{played}{knobs}");
        let (simulated, trial) = (SimulatedSpec::default(), Trial::default());
        Self { name, strategy, setting, played, simulated, turned, trial, without: None }
    }

    /// A combination with the configured models and these knobs.
    pub fn plain(strategy: Strategy, turned: &[(Knob, f64)]) -> Self {
        Self::new(strategy, Setting::Ours, RoleBindings::AsConfigured, turned.to_vec())
    }

    /// The combination in this trial.
    pub fn under(mut self, trial: Trial) -> Self {
        let tools = trial.tools.map(|tools| format!(" tools={tools}"));
        let fault = trial.fault.as_ref().map(|fault| format!(" {fault}"));
        let probe = trial.probe.then(|| " probe".to_owned());
        self.name.extend(tools.into_iter().chain(fault).chain(probe));
        Self { trial, ..self }
    }

    /// The combination with another simulated model.
    pub fn with(mut self, simulated: SimulatedSpec) -> Self {
        let thrift = simulated.thrift.map(|thrift| format!(" thrift={thrift}"));
        let patience = simulated.patience.map(|patience| format!(" patience={patience}"));
        let skill = simulated.skill.map(|skill| format!(" skill={skill}"));
        let priced = simulated.prices.map(|_| " priced".to_owned());
        self.name.extend([thrift, patience, skill, priced].into_iter().flatten());
        Self { simulated, ..self }
    }

    /// Returns the name without the models.
    pub fn label(&self) -> String {
        self.name.replacen(&self.played.to_string(), "", 1)
    }

    /// A folder name that stays unique even on file systems that ignore case.
    pub fn folder(&self) -> String {
        folder(&self.name)
    }

    /// The spec of the combination's sessions, without seed and files.
    pub fn session(&self, of_all: &SessionSpec) -> SessionSpec {
        let mut spec = SessionSpec { strategy: Some(self.strategy), ..of_all.clone() };
        spec.outside = spec.outside.filter(|_| self.agent().is_some());
        match &self.played {
            RoleBindings::AsConfigured => {}
            RoleBindings::By(model) => spec.model = Some(model.as_str().into()),
            RoleBindings::Pair { planner, solver } => {
                let pair = [
                    (Role::Planner, planner),
                    (Role::Classifier, planner),
                    (Role::Solver, solver),
                    // The worker that is a model.
                    (Role::Actor, solver),
                ];
                let bound =
                    |(role, model): (_, &Option<String>)| Some((role, model.clone()?.into()));
                spec.roles.extend(pair.into_iter().filter_map(bound));
            }
        }
        spec.simulated = self.simulated;
        if self.simulated.prices.is_some() {
            // Made-up prices must not end a session.
            spec.max_dollars = spec.max_dollars.or(Some(1e4));
        }
        spec.tools_total = self.trial.tools.or(spec.tools_total);
        spec.tasks_limit = self.trial.tasks.or(spec.tasks_limit);
        if self.trial.probe {
            (spec.tasks_limit, spec.tasks) =
                (None, TaskSource::List(vec![Task::of_probe(Probe::default())]));
        }
        spec.faults.extend(self.trial.fault.clone());
        spec.task_tools = spec.task_tools.or(self.setting.task_tools());
        spec.knobs.extend(self.setting.knobs().iter().chain(&self.turned).copied());
        spec
    }

    /// The value of a knob in this combination.
    pub fn turned_to(&self, knob: Knob) -> Option<f64> {
        self.turned.iter().find(|(turned, _)| *turned == knob).map(|(_, value)| *value)
    }
}

/// Removes repeated combinations, by name. Several tables may contain the same one.
pub fn distinct(cells: impl Iterator<Item = Cell>) -> Vec<Cell> {
    let mut distinct: Vec<Cell> = Vec::new();
    for cell in cells {
        if distinct.iter().all(|other| other.name != cell.name) {
            distinct.push(cell);
        }
    }
    distinct
}

/// Formats a value so that it can be parsed again, unlike the rounded form for people.
fn exact(spec: &KnobSpec, value: f64) -> String {
    match spec.kind {
        KnobKind::Real | KnobKind::Whole => value.to_string(),
        KnobKind::Switch | KnobKind::Choice(_) => spec.show(value),
    }
}

/// A name as a folder name.
pub fn folder(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+=._-".contains(c);
    if name.chars().all(plain) && name.len() <= 100 {
        return name.to_owned();
    }
    let kept: String = name.chars().map(|c| if plain(c) { c } else { '_' }).take(100).collect();
    // Names that differ only in replaced characters must not share a folder.
    format!("{kept}.{:08x}", Chance::new(0).with(name.as_bytes()).bits() >> 32)
}

/// All combinations, each once. `models` are those of the configuration.
///
/// # Errors
/// There is nothing to compare.
pub fn cells(args: &CompareArgs, models: &[String]) -> Result<Vec<Cell>, Trouble> {
    let given = given_knobs(args);
    let swept = |knob: Knob, usual: &[f64]| {
        let mut knobs = given.clone();
        if knobs.iter().all(|(given, _)| *given != knob) {
            knobs.insert(0, (knob, usual.to_vec()));
        }
        knobs
    };
    let knobs = match args.preset {
        Some(Preset::Btp | Preset::Pairs | Preset::ToolNet | Preset::Resilience | Preset::Atc)
        | None => given.clone(),
        Some(Preset::Budgets) => swept(Knob::Budget, &BUDGETS),
        Some(Preset::Taus) => swept(Knob::Tau, &TAUS),
    };
    let mut cells: Vec<Cell> = Vec::new();
    let mut add = |(strategy, setting): (Strategy, Setting),
                   played: Vec<RoleBindings>,
                   knobs: &[(Knob, Vec<f64>)]| {
        for played in played {
            for turned in combinations(knobs) {
                let cell = Cell::new(strategy, setting, played.clone(), turned);
                if cells.iter().all(|other| other.name != cell.name) {
                    cells.push(cell);
                }
            }
        }
    };
    let strategies = strategies(args)?;
    for (strategy, setting) in strategies.iter().copied() {
        add((strategy, setting), played(args, strategy, models), &knobs);
    }
    if args.preset == Some(Preset::Btp) {
        let unprotected = swept(Knob::Blacklist, &[0.0]);
        let is_of_paper = |(strategy, setting): &(Strategy, Setting)| {
            strategy.btp && (*setting == Setting::Paper || !args.strategies.is_empty())
        };
        for row in strategies.into_iter().filter(is_of_paper) {
            add(row, vec![RoleBindings::AsConfigured], &unprotected);
        }
        if args.strategies.is_empty() {
            cells.extend(characters(&knobs));
            cells.extend(agents(&knobs));
            cells.extend(parts(&knobs));
        }
    }
    Ok(cells)
}

/// ReAct by the scripted agents.
fn agents(knobs: &[(Knob, Vec<f64>)]) -> impl Iterator<Item = Cell> {
    let knobs = combinations(knobs);
    outside::USUAL.into_iter().flat_map(move |agent| {
        let knobs = knobs.clone();
        of_btp(Base::React).into_iter().flat_map(move |row| {
            knobs.clone().into_iter().map(move |turned| Cell::of_agent(agent, row, &turned))
        })
    })
}

/// The rows of a loop in BTP's tables, and ours.
fn of_btp(base: Base) -> [(Strategy, Setting); 8] {
    let bare = Strategy::from(base);
    let (prompt, btp) = (Strategy { prompt: true, ..bare }, Strategy { btp: true, ..bare });
    [
        (bare, Setting::Given),
        (prompt, Setting::Given),
        (btp, Setting::Paper),
        (btp, Setting::Given),
        (bare, Setting::Ours),
        (prompt, Setting::Ours),
        (btp, Setting::Ours),
        (Strategy { prompt: true, ..btp }, Setting::Ours),
    ]
}

/// ReAct with our plan, each time without one of its parts, by every agent. A knob that is given is no part.
fn parts(given: &[(Knob, Vec<f64>)]) -> impl Iterator<Item = Cell> {
    let strategy = Strategy { btp: true, ..Base::React.into() };
    let agents = [None].into_iter().chain(outside::USUAL.map(Some));
    let open = PARTS.into_iter().filter(|(part, _)| given.iter().all(|(knob, _)| knob != part));
    let open: Vec<_> = open.collect();
    let given = combinations(given);
    agents.flat_map(move |agent| {
        let of_agent = |turned: &[(Knob, f64)]| match agent {
            Some(agent) => Cell::by(agent, strategy, turned),
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
        (dfsdt, Setting::Given),
        (Strategy { prompt: true, ..dfsdt }, Setting::Given),
        (Strategy { btp: true, ..dfsdt }, Setting::Paper),
        (Strategy { btp: true, ..dfsdt }, Setting::Given),
    ];
    let usual = SimulatedSpec::default();
    let thrift = THRIFT.map(|thrift| SimulatedSpec { thrift: Some(thrift), ..usual });
    let patience = PATIENCE.map(|least| SimulatedSpec { patience: Some(least), ..usual });
    let simulated = thrift.into_iter().chain(patience);
    let knobs = combinations(knobs);
    simulated.flat_map(move |simulated| {
        let knobs = knobs.clone();
        rows.into_iter().flat_map(move |(strategy, setting)| {
            let cell = move |turned| {
                let played = RoleBindings::AsConfigured;
                Cell::new(strategy, setting, played, turned).with(simulated)
            };
            knobs.clone().into_iter().map(cell)
        })
    })
}

/// The given strategies, or those of the paper, each with its setting.
fn strategies(args: &CompareArgs) -> Result<Vec<(Strategy, Setting)>, Trouble> {
    let ours = |strategy| (strategy, Setting::Ours);
    let bare = Strategy::from;
    let with_btp = |base| Strategy { btp: true, ..bare(base) };
    match args.preset {
        _ if !args.strategies.is_empty() => Ok(args.strategies.iter().copied().map(ours).collect()),
        Some(Preset::Btp) => Ok(LOOPS.into_iter().flat_map(of_btp).collect()),
        Some(Preset::Budgets | Preset::Taus) => {
            Ok(LOOPS.map(|base| (with_btp(base), Setting::Paper)).to_vec())
        }
        Some(Preset::Pairs) => {
            Ok([Base::Direct, Base::Rewoo, Base::Workers].map(bare).map(ours).to_vec())
        }
        Some(Preset::ToolNet | Preset::Resilience | Preset::Atc) | None => {
            let text = "nothing to compare: give --strategies react,react+btp, or a predefined comparison: \
                toolyard compare btp";
            Err(Trouble::Usage(text.to_owned()))
        }
    }
}

/// The models for a strategy: pairs if it has a planner and a solver. Among pairs, the other
/// strategies are baselines with one model.
fn played(args: &CompareArgs, strategy: Strategy, models: &[String]) -> Vec<RoleBindings> {
    let is_pairs = args.preset == Some(Preset::Pairs);
    let given = |list: &Option<String>| -> Vec<String> {
        match list {
            Some(list) => list.split(',').map(|name| name.trim().to_owned()).collect(),
            None if is_pairs => models.to_vec(),
            None => Vec::new(),
        }
    };
    let (planners, solvers) = (given(&args.session.planner), given(&args.session.solver));
    if is_pairs && strategy.base != Base::Workers {
        let mut each: Vec<String> = planners;
        each.extend(solvers);
        return each.into_iter().map(RoleBindings::By).collect();
    }
    let is_planned = strategy.base.spec().decides == Decides::AtOnce;
    if !is_planned || planners.is_empty() && solvers.is_empty() {
        return vec![RoleBindings::AsConfigured];
    }
    let or_none = |list: Vec<String>| -> Vec<Option<String>> {
        if list.is_empty() { vec![None] } else { list.into_iter().map(Some).collect() }
    };
    let solvers = or_none(solvers);
    let pairs = or_none(planners).into_iter().flat_map(|planner| {
        solvers.iter().map(move |solver| RoleBindings::Pair {
            planner: planner.clone(),
            solver: solver.clone(),
        })
    });
    pairs.collect()
}

/// The knobs of the command line, each with all its values.
fn given_knobs(args: &CompareArgs) -> Vec<(Knob, Vec<f64>)> {
    let mut knobs: Vec<(Knob, Vec<f64>)> = Vec::new();
    let budgets = args.budgets.iter().map(|budget| (Knob::Budget, *budget));
    let taus = args.taus.iter().map(|tau| (Knob::Tau, *tau));
    let varied =
        args.vary.iter().flat_map(|vary| vary.values.iter().map(|value| (vary.knob, *value)));
    for (knob, value) in budgets.chain(taus).chain(varied) {
        match knobs.iter_mut().find(|(known, _)| *known == knob) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => knobs.push((knob, vec![value])),
        }
    }
    knobs
}

/// All combinations of one value of each knob.
fn combinations(knobs: &[(Knob, Vec<f64>)]) -> Vec<Vec<(Knob, f64)>> {
    knobs.iter().fold(vec![Vec::new()], |before, (knob, values)| {
        let with = |turned: Vec<(Knob, f64)>| {
            values.iter().map(move |value| [&turned[..], &[(*knob, *value)]].concat())
        };
        before.into_iter().flat_map(with).collect()
    })
}

/// The default warm-up strategies. Both loops try tools that a plan would avoid.
pub fn warm_up(args: &CompareArgs) -> WarmUp {
    let usual = if args.is_btp() && args.session.experience.is_none() {
        WarmUp(vec![Base::React.into(), Base::ToolNet.into()])
    } else {
        WarmUp::default()
    };
    args.warm_up.clone().unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_comes_once_and_in_order() {
        let knobs = [(Knob::Budget, vec![5.0, 10.0]), (Knob::Tau, vec![0.1, 0.2])];
        let strategy = Strategy::from(Base::React);
        let cell = |turned| Cell::new(strategy, Setting::Ours, RoleBindings::AsConfigured, turned);
        let names: Vec<_> =
            combinations(&knobs).into_iter().map(|turned| cell(turned).name).collect();
        let right =
            ["budget=5 tau=0.1", "budget=5 tau=0.2", "budget=10 tau=0.1", "budget=10 tau=0.2"];
        assert_eq!(names, right.map(|knobs| format!("react {knobs}")));
        assert_eq!(combinations(&[]), [vec![]]);
    }

    #[test]
    fn a_pair_plays_every_role_of_its_strategy() {
        let named = |name: &str| Some(name.to_owned());
        let pair = RoleBindings::Pair { planner: named("a"), solver: named("b") };
        let cell = Cell::new(Base::Workers.into(), Setting::Ours, pair, Vec::new());
        let roles = cell.session(&SessionSpec::default()).roles;
        let right = [
            (Role::Actor, "b".into()),
            (Role::Planner, "a".into()),
            (Role::Solver, "b".into()),
            (Role::Classifier, "a".into()),
        ];
        assert_eq!(roles, right.into());
    }

    #[test]
    fn folders_are_plain_and_as_many_as_names() {
        assert_eq!(folder("react+btp"), "react+btp");
        let hostile = ["../x", "a b", "a_b", "a/b", "A b", "a\u{1b}b"];
        let folders: std::collections::BTreeSet<_> =
            hostile.iter().map(|name| folder(name).to_lowercase()).collect();
        assert_eq!(folders.len(), hostile.len(), "{folders:?}");
        assert!(folders.iter().all(|folder| !folder.contains('/')), "{folders:?}");
    }
}
