//! Agents with classes of alternative tools and a planted set of faults. The search sees the agent only.

use std::convert::Infallible;

use toolyard::app::fault_search::{FaultSearch, FaultSet, SearchEnd, SearchPlan, Seen, Trials};
use toolyard::domain::{FaultKind, FaultSpec, Target, ToolName};

/// The most faults of a set.
const MOST: usize = 3;

/// A tool that fails with one of the last five kinds gives way to the next of its class.
const KINDS: [&str; 8] =
    ["truncated", "empty", "garbage", "error", "auth-expired", "reset", "timeout", "crash"];
const SOFT: usize = 3;

pub fn kinds() -> Vec<FaultKind> {
    let kind = |name: &&str| format!("a:{name}").parse::<FaultSpec>().unwrap().kind;
    KINDS.iter().map(kind).collect()
}

/// An agent that tries the tools of each class that it needs in its own order.
pub struct PlantedAgent {
    pub classes: Vec<Vec<ToolName>>,
    pub planted: Option<FaultSet>,
}

impl PlantedAgent {
    fn act(&self, armed: &FaultSet) -> Seen {
        let mut seen = Seen { passed: true, times: (0, 1), ..Seen::default() };
        for class in &self.classes {
            let mut got = false;
            for tool in class {
                seen.called.insert(tool.clone());
                let Some(kind) = armed.get(tool) else {
                    got = true;
                    break;
                };
                seen.fired.insert(tool.clone());
                if *kind < SOFT {
                    got = true;
                    break;
                }
            }
            seen.passed &= got;
        }
        let has_all = |planted: &FaultSet| {
            planted
                .iter()
                .all(|(tool, kind)| armed.get(tool) == Some(kind) && seen.fired.contains(tool))
        };
        seen.passed &= !self.planted.as_ref().is_some_and(has_all);
        seen
    }
}

impl Trials for &PlantedAgent {
    type Error = Infallible;

    fn outcomes(&mut self, sets: &[Vec<FaultSpec>]) -> Result<Vec<Seen>, Infallible> {
        let kinds = kinds();
        let place = |spec: &FaultSpec| {
            let Target::Tool(tool) = &spec.target else { panic!("{spec}") };
            (tool.clone(), kinds.iter().position(|kind| *kind == spec.kind).unwrap())
        };
        Ok(sets.iter().map(|set| self.act(&set.iter().map(place).collect())).collect())
    }
}

/// Numbers that a seed decides.
pub struct Draws(pub u64);

impl Draws {
    pub fn below(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    fn shuffled<T>(&mut self, mut all: Vec<T>) -> Vec<T> {
        (1..all.len()).rev().for_each(|at| all.swap(at, self.below(at + 1)));
        all
    }
}

/// An agent that needs three of five classes of four tools, and a planted set of this size on calls that can happen together.
pub fn agent(draws: &mut Draws, size: usize) -> PlantedAgent {
    let classes = draws.shuffled((0..5).collect());
    let tool = |n: usize| ToolName::from(format!("tool_{n}"));
    let class = |draws: &mut Draws, class: usize| {
        draws.shuffled((4 * class..4 * class + 4).map(tool).collect::<Vec<_>>())
    };
    let classes: Vec<_> = classes[..3].iter().map(|of| class(draws, *of)).collect();
    let mut agent = PlantedAgent { classes, planted: None };
    while size > 0 && agent.planted.is_none() {
        let mut planted = FaultSet::new();
        while planted.len() < size {
            let place = draws.below(3);
            let class = &agent.classes[draws.below(3)];
            planted
                .entry(class[place.saturating_sub(1)].clone())
                .or_insert(draws.below(KINDS.len()));
        }
        let seen = agent.act(&planted);
        agent.planted = Some(planted).filter(|set| set.keys().all(|it| seen.fired.contains(it)));
    }
    agent
}

/// Searches that find the planted set among so many; each set that is found fails, and passes without any one of its faults.
pub fn found(size: usize, agents: usize, runs: usize, draws: &mut Draws) -> usize {
    let mut found = 0;
    for _ in 0..agents {
        let agent = agent(draws, size);
        let plan = SearchPlan { kinds: kinds(), most: MOST, runs, seed: draws.below(1000) as u64 };
        let mut search = FaultSearch::new(plan, &agent);
        let Ok(SearchEnd::Found(smallest)) = search.run() else { continue };
        let outcome =
            |faults: &[FaultSpec]| (&mut &agent).outcomes(&[faults.to_vec()]).unwrap().remove(0);
        assert!(!outcome(&smallest.faults).passed);
        for at in 0..smallest.faults.len() {
            let mut less = smallest.faults.clone();
            less.remove(at);
            assert!(outcome(&less).passed, "{:?} without {at}", smallest.faults);
        }
        let place = |spec: &FaultSpec| kinds().iter().position(|kind| *kind == spec.kind).unwrap();
        let name = |spec: &FaultSpec| spec.target.to_string();
        let set: Vec<_> = smallest.faults.iter().map(|spec| (name(spec), place(spec))).collect();
        let planted = agent.planted.as_ref().unwrap().iter();
        found += usize::from(
            set == planted.map(|(tool, kind)| (tool.to_string(), *kind)).collect::<Vec<_>>(),
        );
    }
    found
}

/// Draws of a new seed at each run; a failure prints it.
pub fn draws() -> Draws {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let seed = std::env::var("SEARCH_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or(now.as_nanos() as u64);
    Draws(seed)
}
