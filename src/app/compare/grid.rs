//! The combinations of a comparison.

use serde::Serialize;

use super::args::CompareOptions;
pub use super::setting::{RoleBindings, Setting, Trial};
use crate::domain::knob::KnobKind;
use crate::domain::{Chance, Decides, Knob, KnobSpec, Role, Strategy};
use crate::session::{SessionSpec, SimulatedSpec, TaskSource};
use crate::shell::trouble::Trouble;

/// A combination: strategy, setting, models, knobs and trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Name that is unique in a comparison, and the same in every comparison that contains the combination.
    pub name: String,
    pub strategy: Strategy,
    #[serde(skip_serializing_if = "Setting::is_none")]
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
    /// The knob whose effect the combination shows: the last one of `turned`.
    #[serde(skip)]
    pub without: Option<Knob>,
}

impl Cell {
    /// The model's name, if one model plays alone.
    pub fn model_alone(&self) -> Option<&str> {
        match &self.played {
            RoleBindings::By(model) => Some(model),
            RoleBindings::Pair { planner, solver } if planner == solver => planner.as_deref(),
            RoleBindings::Pair { .. } | RoleBindings::AsConfigured => None,
        }
    }

    pub fn new(
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
        Self::new(strategy, Setting::default(), RoleBindings::AsConfigured, turned.to_vec())
    }

    /// The combination in this trial.
    pub fn under(mut self, trial: Trial) -> Self {
        let tools = trial.tools.map(|tools| format!(" tools={tools}"));
        let fault = trial.fault.as_ref().map(|fault| format!(" {fault}"));
        self.name.extend(tools.into_iter().chain(fault));
        Self { trial, ..self }
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
        spec.endpoints.retain(|model, _| self.model_alone() == Some(model.as_str()));
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
        if !self.trial.own_tasks.is_empty() {
            (spec.tasks_limit, spec.tasks) = (None, TaskSource::List(self.trial.own_tasks.clone()));
        }
        spec.faults.extend(self.trial.fault.clone());
        spec.task_tools = spec.task_tools.or(self.setting.task_tools);
        spec.knobs.extend(self.setting.knobs.iter().chain(&self.turned).copied());
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

/// Each strategy of the options with all its models and knobs.
///
/// # Errors
/// There is nothing to compare.
pub fn cells(options: &CompareOptions) -> Result<Vec<Cell>, Trouble> {
    if options.strategies.is_empty() {
        let text = "nothing to compare: give --strategies react,react+btp, or a predefined comparison: \
            toolyard compare resilience";
        return Err(Trouble::Usage(text.to_owned()));
    }
    let knobs = given_knobs(options);
    let cells = options.strategies.iter().flat_map(|strategy| {
        let played = played(options, *strategy);
        each(*strategy, Setting::default(), &played, &knobs)
    });
    Ok(distinct(cells))
}

/// A strategy by all these models with all combinations of the knobs.
pub fn each(
    strategy: Strategy,
    setting: Setting,
    played: &[RoleBindings],
    knobs: &[(Knob, Vec<f64>)],
) -> Vec<Cell> {
    let cells = played.iter().flat_map(|played| {
        let cell = |turned| Cell::new(strategy, setting, played.clone(), turned);
        combinations(knobs).into_iter().map(cell)
    });
    cells.collect()
}

/// The names of a list of models, as in `--planner A,B`.
pub fn names(list: Option<&str>) -> Vec<String> {
    list.iter().flat_map(|list| list.split(',')).map(|name| name.trim().to_owned()).collect()
}

/// The models of a strategy: the pairs of the options if it has a planner and a solver.
pub fn played(options: &CompareOptions, strategy: Strategy) -> Vec<RoleBindings> {
    let session = &options.session;
    let lists = [&session.planner, &session.solver].map(|list| names(list.as_deref()));
    pairs(strategy, lists)
}

/// All pairs of these planners and solvers, if the strategy has both; empty lists: the configured ones.
pub fn pairs(strategy: Strategy, [planners, solvers]: [Vec<String>; 2]) -> Vec<RoleBindings> {
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
pub fn given_knobs(options: &CompareOptions) -> Vec<(Knob, Vec<f64>)> {
    let mut knobs: Vec<(Knob, Vec<f64>)> = Vec::new();
    let budgets = options.budgets.iter().map(|budget| (Knob::Budget, *budget));
    let taus = options.taus.iter().map(|tau| (Knob::Tau, *tau));
    let varied =
        options.vary.iter().flat_map(|vary| vary.values.iter().map(|value| (vary.knob, *value)));
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
pub fn combinations(knobs: &[(Knob, Vec<f64>)]) -> Vec<Vec<(Knob, f64)>> {
    knobs.iter().fold(vec![Vec::new()], |before, (knob, values)| {
        let with = |turned: Vec<(Knob, f64)>| {
            values.iter().map(move |value| [&turned[..], &[(*knob, *value)]].concat())
        };
        before.into_iter().flat_map(with).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Base;

    #[test]
    fn every_combination_comes_once_and_in_order() {
        let knobs = [(Knob::Budget, vec![5.0, 10.0]), (Knob::Tau, vec![0.1, 0.2])];
        let strategy = Strategy::from(Base::React);
        let cell =
            |turned| Cell::new(strategy, Setting::default(), RoleBindings::AsConfigured, turned);
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
        let cell = Cell::new(Base::Workers.into(), Setting::default(), pair, Vec::new());
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
