//! Rows: sets of faults, each of which covers many smaller sets by one run.

use std::collections::{BTreeSet, HashSet};

use super::{FaultSearch, FaultSet, TOGETHER, Trials, is_in};
use crate::domain::ToolName;

impl<T: Trials> FaultSearch<T> {
    /// Rows for sets of this size that no run has covered yet. `depth`: the faults of such a set, and those after which its
    /// tools are called.
    pub(super) fn rows(&mut self, size: usize, depth: usize) -> Vec<FaultSet> {
        let mut wanted = self.uncovered(size, depth);
        let (mut rows, mut planned) = (Vec::new(), HashSet::new());
        while rows.len() < TOGETHER && !wanted.is_empty() {
            let want = wanted.swap_remove(self.random(wanted.len()));
            if planned.contains(&want) {
                continue;
            }
            let row = self.with_lineage(&want).map(|row| self.filled(row, size, &planned));
            // A set that does not come to act in its row is not tried again.
            self.covered.insert(want);
            let new = row.filter(|row| !self.seen.contains_key(row) && !rows.contains(row));
            if let Some(row) = new {
                planned.extend(parts(&row, size));
                rows.push(row);
            }
        }
        rows
    }

    /// The sets of this size and depth that no run has covered.
    fn uncovered(&self, size: usize, depth: usize) -> Vec<FaultSet> {
        let tools: Vec<_> = self.lineage.iter().collect();
        let kinds = self.plan.kinds.len();
        let mut found = Vec::new();
        for chosen in choices(tools.len(), size) {
            let chosen: Vec<_> = chosen.into_iter().map(|at| tools[at]).collect();
            let needed: BTreeSet<&ToolName> =
                chosen.iter().flat_map(|(tool, lineage)| lineage.keys().chain([*tool])).collect();
            if needed.len() != depth {
                continue;
            }
            let mut sets = vec![FaultSet::new()];
            for (tool, _) in &chosen {
                let with = |set: &FaultSet, kind| {
                    let mut set = set.clone();
                    set.insert((*tool).clone(), kind);
                    set
                };
                sets = sets
                    .iter()
                    .flat_map(|set| (0..kinds).map(move |kind| with(set, kind)))
                    .collect();
            }
            found.extend(sets.into_iter().filter(|set| !self.covered.contains(set)));
        }
        found
    }

    /// A set, with the faults after which its tools are called; `None`: one of its faults does not lead there.
    fn with_lineage(&self, set: &FaultSet) -> Option<FaultSet> {
        let mut row = set.clone();
        for tool in set.keys() {
            let lineage = &self.lineage[tool];
            let is_own =
                lineage.len() == 1 && lineage.keys().all(|before| set.contains_key(before));
            if is_own && !self.leads_to(set, tool) {
                return None;
            }
            for (before, kind) in lineage {
                row.entry(before.clone()).or_insert(*kind);
            }
        }
        Some(row)
    }

    /// Whether a tool is called with these faults, as far as runs with one fault have shown.
    fn leads_to(&self, row: &FaultSet, tool: &ToolName) -> bool {
        self.lineage[tool].keys().all(|before| {
            let alone = row.get(before).map(|kind| FaultSet::from([(before.clone(), *kind)]));
            let seen = alone.and_then(|alone| self.seen.get(&alone));
            seen.is_some_and(|seen| seen.called.contains(tool))
        })
    }

    /// A row with faults on further tools, each of the kind that covers most.
    fn filled(&mut self, mut row: FaultSet, size: usize, planned: &HashSet<FaultSet>) -> FaultSet {
        let is_free = |(tool, lineage): &(&ToolName, &FaultSet)| {
            !row.contains_key(*tool) && lineage.len() <= 1
        };
        let mut tools: Vec<ToolName> =
            self.lineage.iter().filter(is_free).map(|(tool, _)| tool.clone()).collect();
        for at in (1..tools.len()).rev() {
            let other = self.random(at + 1);
            tools.swap(at, other);
        }
        // What was called at once comes before what was called instead.
        tools.sort_by_key(|tool| self.lineage[tool].len());
        for tool in tools {
            if !self.leads_to(&row, &tool) {
                continue;
            }
            let (kinds, first) = (self.plan.kinds.len(), self.random(self.plan.kinds.len()));
            let mut best: Option<(usize, FaultSet)> = None;
            for kind in (0..kinds).map(|kind| (first + kind) % kinds) {
                let mut with = row.clone();
                with.insert(tool.clone(), kind);
                if self.large.iter().any(|large| is_in(large, &with)) {
                    continue;
                }
                let is_new = |part: &FaultSet| {
                    part.contains_key(&tool)
                        && !self.covered.contains(part)
                        && !planned.contains(part)
                };
                let new = parts(&with, size).iter().filter(|part| is_new(part)).count();
                if best.as_ref().is_none_or(|(most, _)| new > *most) {
                    best = Some((new, with));
                }
            }
            row = best.map_or(row, |(_, with)| with);
        }
        row
    }

    /// A number below this one (SplitMix64).
    fn random(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below.max(1) as u64).unwrap_or_default()
    }
}

/// The parts of a set that have this size.
pub(super) fn parts(set: &FaultSet, size: usize) -> Vec<FaultSet> {
    let all: Vec<_> = set.iter().collect();
    let part = |chosen: Vec<usize>| chosen.into_iter().map(|at| (all[at].0.clone(), *all[at].1));
    choices(all.len(), size).into_iter().map(|chosen| part(chosen).collect()).collect()
}

/// All ways to choose this many of the first numbers, each in ascending order.
fn choices(of: usize, size: usize) -> Vec<Vec<usize>> {
    let mut chosen = vec![Vec::new()];
    for _ in 0..size {
        let longer = |before: Vec<usize>| {
            let next = before.last().map_or(0, |last| last + 1);
            (next..of).map(move |at| [&before[..], &[at]].concat())
        };
        chosen = chosen.into_iter().flat_map(longer).collect();
    }
    chosen
}
