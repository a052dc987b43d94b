//! The search for a smallest set of faults under which a session no longer does what is expected. It follows what was called
//! (as in Alvaro et al., "Lineage-driven Fault Injection", SIGMOD 2015): a fault is tried only on a tool that a run has called,
//! first alone, then on what the agent called instead. Sets of faults are covered, several by each run, and not enumerated.
//!
//! ```text
//! no fault ──► each kind on each called tool ──► rows that cover pairs and triples ──► a run that fails ──► smallest set
//!                      └── tools called instead ──────────────▲
//! ```

mod cover;
mod minimal;
mod trial;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::domain::{FaultKind, FaultSpec, Target, ToolName};

pub use self::minimal::Smallest;
pub use self::trial::{ScenarioTrials, TrialError, TrialRun, several};

/// For each tool with a fault the place of its kind in the list of kinds.
pub type FaultSet = BTreeMap<ToolName, usize>;

/// Sets that are tried together. It does not depend on the number of workers, so that the result does not either.
const TOGETHER: usize = 8;

/// A set needs at most this many faults for each of its own: those after which its tools are called.
const DEEPEST: usize = 2;

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    pub passed: bool,
    /// The tools that it called.
    pub called: BTreeSet<ToolName>,
    /// The tools whose fault hit a call.
    pub fired: BTreeSet<ToolName>,
    /// The expectations that were not met, with what was found.
    pub failed: Vec<String>,
    /// How often it failed, and how often it ran.
    pub times: (u32, u32),
}

/// Runs sessions with faults.
pub trait Trials {
    type Error;

    /// The outcome of each set, in their order.
    ///
    /// # Errors
    /// A session cannot run, or the search is to end.
    fn outcomes(&mut self, sets: &[Vec<FaultSpec>]) -> Result<Vec<Seen>, Self::Error>;
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchEnd {
    /// The scenario fails without faults.
    FailsAlone(Seen),
    /// No tool was called.
    NoTool,
    Found(Smallest),
    /// No set was found. `is_covered`: every set that the search would try has been covered by a run.
    Nothing {
        is_covered: bool,
    },
}

/// The limits of a search.
#[derive(Clone, Debug)]
pub struct SearchPlan {
    /// The kinds that are tried, the mildest first.
    pub kinds: Vec<FaultKind>,
    /// The most faults of a set.
    pub most: usize,
    /// The most runs before a set is found.
    pub runs: usize,
    /// Seed of the order in which sets are covered.
    pub seed: u64,
}

/// A search, with what it has seen.
pub struct FaultSearch<T> {
    plan: SearchPlan,
    trials: T,
    /// The number of runs so far.
    pub made: usize,
    seen: HashMap<FaultSet, Seen>,
    /// For each known tool a smallest set of faults after which it was called.
    lineage: BTreeMap<ToolName, FaultSet>,
    /// Sets that a run that passed has covered, and those that need not be tried again.
    covered: HashSet<FaultSet>,
    /// Smallest sets that are larger than wanted.
    large: Vec<FaultSet>,
    random: u64,
}

impl<T: Trials> FaultSearch<T> {
    pub fn new(plan: SearchPlan, trials: T) -> Self {
        Self {
            random: plan.seed,
            plan,
            trials,
            made: 0,
            seen: HashMap::new(),
            lineage: BTreeMap::new(),
            covered: HashSet::new(),
            large: Vec::new(),
        }
    }

    /// Searches until a set is found, or the runs are used up.
    ///
    /// # Errors
    /// As [`Trials::outcomes`].
    pub fn run(&mut self) -> Result<SearchEnd, T::Error> {
        let Some(alone) = self.try_one(&FaultSet::new())? else {
            return Ok(SearchEnd::Nothing { is_covered: false });
        };
        if !alone.passed {
            return Ok(SearchEnd::FailsAlone(alone));
        }
        if alone.called.is_empty() {
            return Ok(SearchEnd::NoTool);
        }
        let called = alone.called.iter().map(|tool| (tool.clone(), FaultSet::new()));
        self.lineage.extend(called);
        let kinds = 0..self.plan.kinds.len();
        let one = |tool: &ToolName, kind| FaultSet::from([(tool.clone(), kind)]);
        let singles =
            alone.called.iter().flat_map(|tool| kinds.clone().map(move |kind| one(tool, kind)));
        if let Some(found) = self.find(&singles.collect::<Vec<_>>())? {
            return Ok(SearchEnd::Found(found));
        }
        // What needs few faults at once comes first. A tool that was called instead may need fewer than the last ones.
        let mut depth = 2;
        while depth <= DEEPEST * self.plan.most && self.left() > 0 {
            let sizes = 2..=self.plan.most.min(depth);
            let rows = sizes.map(|size| self.rows(size, depth)).find(|rows| !rows.is_empty());
            let Some(rows) = rows else {
                depth += 1;
                continue;
            };
            let known = self.lineage.len();
            if let Some(found) = self.find(&rows)? {
                return Ok(SearchEnd::Found(found));
            }
            if self.lineage.len() > known {
                depth = 2;
            }
        }
        Ok(SearchEnd::Nothing { is_covered: self.left() > 0 })
    }

    /// The number of tools that are known.
    pub fn tools(&self) -> usize {
        self.lineage.len()
    }

    fn left(&self) -> usize {
        self.plan.runs.saturating_sub(self.made)
    }

    /// Tries these sets until one fails. Returns its smallest part that fails, unless that is larger than wanted.
    fn find(&mut self, sets: &[FaultSet]) -> Result<Option<Smallest>, T::Error> {
        for together in sets.chunks(TOGETHER) {
            for (set, seen) in self.try_all(together)? {
                let fired = fired(&set, &seen);
                if seen.passed {
                    self.learn(&fired, &seen)?;
                    continue;
                }
                if self.large.iter().any(|large| is_in(large, &fired)) {
                    continue;
                }
                let small = self.shrunk(set, fired)?;
                if small.len() <= self.plan.most {
                    return self.smallest(small).map(Some);
                }
                self.large.push(small);
            }
        }
        Ok(None)
    }

    /// Notes what a run that passed has covered, and the tools that it called for the first time.
    fn learn(&mut self, fired: &FaultSet, seen: &Seen) -> Result<(), T::Error> {
        for size in 2..=self.plan.most {
            self.covered.extend(cover::parts(fired, size));
        }
        let new: Vec<_> =
            seen.called.iter().filter(|tool| !self.lineage.contains_key(*tool)).cloned().collect();
        for tool in new {
            let mut least = fired.clone();
            least.remove(&tool);
            for other in fired.keys().filter(|other| **other != tool) {
                let mut less = least.clone();
                less.remove(other);
                if self.try_one(&less)?.is_some_and(|seen| seen.called.contains(&tool)) {
                    least = less;
                }
            }
            self.lineage.insert(tool, least);
        }
        Ok(())
    }

    /// The outcomes of these sets, as many as the runs that are left allow.
    fn try_all(&mut self, sets: &[FaultSet]) -> Result<Vec<(FaultSet, Seen)>, T::Error> {
        let mut new: Vec<FaultSet> = Vec::new();
        for set in sets {
            if !self.seen.contains_key(set) && !new.contains(set) && new.len() < self.left() {
                new.push(set.clone());
            }
        }
        let specs: Vec<_> = new.iter().map(|set| self.specs(set)).collect();
        let outcomes = if specs.is_empty() { Vec::new() } else { self.trials.outcomes(&specs)? };
        self.made += new.len();
        self.seen.extend(new.into_iter().zip(outcomes));
        let known = sets.iter().filter_map(|set| Some((set.clone(), self.seen.get(set)?.clone())));
        Ok(known.collect())
    }

    fn try_one(&mut self, set: &FaultSet) -> Result<Option<Seen>, T::Error> {
        Ok(self.try_all(std::slice::from_ref(set))?.pop().map(|(_, seen)| seen))
    }

    /// The faults of a set.
    fn specs(&self, set: &FaultSet) -> Vec<FaultSpec> {
        let spec = |(tool, kind): (&ToolName, &usize)| FaultSpec {
            target: Target::Tool(tool.clone()),
            kind: self.plan.kinds[*kind].clone(),
            trigger: Default::default(),
        };
        set.iter().map(spec).collect()
    }
}

/// The faults of a set that hit a call.
fn fired(set: &FaultSet, seen: &Seen) -> FaultSet {
    let hit = set.iter().filter(|(tool, _)| seen.fired.contains(*tool));
    hit.map(|(tool, kind)| (tool.clone(), *kind)).collect()
}

/// Whether the first set is a part of the second.
fn is_in(part: &FaultSet, whole: &FaultSet) -> bool {
    part.iter().all(|(tool, kind)| whole.get(tool) == Some(kind))
}
