//! Every combination of what is compared.

use serde::Serialize;

use toolyard::{
    chance::Chance,
    knob::{Knob, KnobSpec},
    strategy::{Base, Strategy},
};

use super::args::{CompareArgs, Preset, WarmUp};
use crate::cli::{SessionArgs, trouble::Trouble};

/// The loops of BTP's experiments, and ToolNet's.
const LOOPS: [Base; 4] = [Base::React, Base::ToolNet, Base::Dfsdt, Base::TotDfs];

/// What a comparison with a name does where nothing else is said.
pub const SEEDS: &str = "0..4";
pub const COSTS: &str = "1..10";
pub const BUDGET: f64 = 20.0;
pub const BUDGETS: [f64; 6] = [5.0, 10.0, 15.0, 20.0, 25.0, 30.0];
pub const TAUS: [f64; 7] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];

/// One combination.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Unique among those that are compared, and the same in every comparison that has it.
    pub name: String,
    pub strategy: Strategy,
    /// What is turned in this combination, besides what holds for all.
    #[serde(skip)]
    pub turned: Vec<(Knob, f64)>,
}

/// What is combined: everything with everything else.
struct Axes {
    strategies: Vec<Strategy>,
    knobs: Vec<(Knob, Vec<f64>)>,
}

impl Cell {
    fn new(strategy: Strategy, turned: Vec<(Knob, f64)>) -> Self {
        let knobs =
            turned.iter().map(|(knob, value)| format!(" {knob}={}", exact(knob.spec(), *value)));
        let name = format!("{strategy}{}", knobs.collect::<String>());
        Self { name, strategy, turned }
    }

    /// A name for a folder, from which no other combination's folder differs only in what file systems
    /// do not tell apart.
    pub fn folder(&self) -> String {
        folder(&self.name)
    }

    /// The arguments of its sessions, but for seed and files.
    pub fn session(&self, of_all: &SessionArgs) -> SessionArgs {
        let mut args = of_all.clone();
        args.strategy = Some(self.strategy.to_string());
        for (knob, value) in &self.turned {
            match knob {
                Knob::Budget => args.budget = Some(*value),
                Knob::Tau => args.tau = Some(*value),
                knob => args.knob.push(format!("{knob}={}", exact(knob.spec(), *value))),
            }
        }
        args
    }

    /// What a knob is turned to in this combination.
    pub fn turned_to(&self, knob: Knob) -> Option<f64> {
        self.turned.iter().find(|(turned, _)| *turned == knob).map(|(_, value)| *value)
    }
}

/// As it can be read again, unlike what is rounded for people.
fn exact(spec: &KnobSpec, value: f64) -> String {
    match spec.kind {
        toolyard::knob::Kind::Real | toolyard::knob::Kind::Whole => value.to_string(),
        toolyard::knob::Kind::Switch | toolyard::knob::Kind::Choice(_) => spec.show(value),
    }
}

/// A name as that of a folder.
pub fn folder(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+=._-".contains(c);
    if name.chars().all(plain) && name.len() <= 100 {
        return name.to_owned();
    }
    let kept: String = name.chars().map(|c| if plain(c) { c } else { '_' }).take(100).collect();
    // Names that differ only in what is replaced must not share a folder.
    format!("{kept}.{:08x}", Chance::new(0).with(name.as_bytes()).bits() >> 32)
}

/// Every combination, each once.
///
/// # Errors
/// That there is nothing to compare.
pub fn cells(args: &CompareArgs) -> Result<Vec<Cell>, Trouble> {
    let mut cells: Vec<Cell> = Vec::new();
    for axes in axes(args)? {
        for strategy in axes.strategies {
            for turned in combinations(&axes.knobs) {
                let cell = Cell::new(strategy, turned);
                if cells.iter().all(|other| other.name != cell.name) {
                    cells.push(cell);
                }
            }
        }
    }
    Ok(cells)
}

fn axes(args: &CompareArgs) -> Result<Vec<Axes>, Trouble> {
    let named = |usual: &[&dyn Fn(&mut Strategy)]| -> Vec<Strategy> {
        if !args.strategies.is_empty() {
            return args.strategies.clone();
        }
        let each = LOOPS.into_iter().flat_map(|base| {
            usual.iter().map(move |change| {
                let mut strategy = Strategy::from(base);
                change(&mut strategy);
                strategy
            })
        });
        each.collect()
    };
    let with_btp: &dyn Fn(&mut Strategy) = &|strategy| strategy.btp = true;
    let with_prompt: &dyn Fn(&mut Strategy) = &|strategy| strategy.prompt = true;
    let knobs = given_knobs(args);
    let or = |knob: Knob, usual: &[f64]| {
        let mut knobs = knobs.clone();
        if knobs.iter().all(|(given, _)| *given != knob) {
            knobs.insert(0, (knob, usual.to_vec()));
        }
        knobs
    };
    Ok(match args.preset {
        Some(Preset::Btp) => {
            let strategies = named(&[&|_| {}, with_prompt, with_btp]);
            let planned = strategies.iter().copied().filter(|strategy| strategy.btp).collect();
            let bare = Axes { strategies: planned, knobs: or(Knob::Blacklist, &[0.0]) };
            vec![Axes { strategies, knobs }, bare]
        }
        Some(Preset::Budgets) => {
            vec![Axes { strategies: named(&[with_btp]), knobs: or(Knob::Budget, &BUDGETS) }]
        }
        Some(Preset::Taus) => {
            vec![Axes { strategies: named(&[with_btp]), knobs: or(Knob::Tau, &TAUS) }]
        }
        None if args.strategies.is_empty() => {
            let text = "nothing to compare: give --strategies react,react+btp, or a comparison with a \
                name: toolyard compare btp";
            return Err(Trouble::Usage(text.to_owned()));
        }
        None => vec![Axes { strategies: args.strategies.clone(), knobs }],
    })
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

/// One value of each knob, in every way.
fn combinations(knobs: &[(Knob, Vec<f64>)]) -> Vec<Vec<(Knob, f64)>> {
    knobs.iter().fold(vec![Vec::new()], |before, (knob, values)| {
        let with = |turned: Vec<(Knob, f64)>| {
            values.iter().map(move |value| [&turned[..], &[(*knob, *value)]].concat())
        };
        before.into_iter().flat_map(with).collect()
    })
}

/// Who gathers past uses first, where it is not said. Both loops try tools that a plan would avoid.
pub fn warm_up(args: &CompareArgs) -> WarmUp {
    let usual = match args.preset {
        Some(Preset::Btp | Preset::Budgets | Preset::Taus) if args.session.experience.is_none() => {
            WarmUp(vec![Base::React.into(), Base::ToolNet.into()])
        }
        Some(Preset::Btp | Preset::Budgets | Preset::Taus) | None => WarmUp::default(),
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
        let names: Vec<_> = combinations(&knobs)
            .into_iter()
            .map(|turned| Cell::new(strategy, turned).name)
            .collect();
        let right =
            ["budget=5 tau=0.1", "budget=5 tau=0.2", "budget=10 tau=0.1", "budget=10 tau=0.2"];
        assert_eq!(names, right.map(|knobs| format!("react {knobs}")));
        assert_eq!(combinations(&[]), [vec![]]);
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
