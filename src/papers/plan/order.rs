//! The order in which calls can be made: each needs the evidence that its input names, and nothing
//! else.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{EvidenceId, Plan, plan::references};

/// The needs of each piece of evidence, as positions in writing order. References to missing
/// evidence, and to itself, are left out: [`check`](super::check()) finds them.
pub(super) struct Needs {
    pub ids: Vec<EvidenceId>,
    pub needs: Vec<Vec<usize>>,
}

impl Needs {
    pub(super) fn of(plan: &Plan) -> Self {
        let ids: Vec<EvidenceId> = plan.evidence().map(|evidence| evidence.id).collect();
        let mut at = BTreeMap::new();
        for (index, id) in ids.iter().enumerate() {
            at.entry(*id).or_insert(index);
        }
        let named = |(own, input): (usize, &String)| -> Vec<usize> {
            let named = references(input).into_iter().filter_map(|id| at.get(&id).copied());
            named.filter(|index| *index != own).collect()
        };
        let inputs = plan.evidence().map(|evidence| &evidence.input);
        Self { needs: inputs.enumerate().map(named).collect(), ids }
    }

    /// Positions by depth: first those without needs, then those that need only the first, and so on. Evidence in a
    /// circle, or waiting for one, is in no level.
    pub(super) fn levels(&self) -> Vec<Vec<usize>> {
        let mut done = vec![false; self.ids.len()];
        let mut levels = Vec::new();
        loop {
            let is_ready =
                |at: &usize| !done[*at] && self.needs[*at].iter().all(|need| done[*need]);
            let level: Vec<usize> = (0..self.ids.len()).filter(is_ready).collect();
            if level.is_empty() {
                return levels;
            }
            level.iter().for_each(|at| done[*at] = true);
            levels.push(level);
        }
    }
}

/// The evidence that is not `done`, but whose needs are all done; in writing order, including evidence in progress.
/// Null or failed evidence is done.
pub fn ready(plan: &Plan, done: &BTreeSet<EvidenceId>) -> Vec<EvidenceId> {
    let open = plan.evidence().filter(|evidence| !done.contains(&evidence.id));
    let is_ready = |input: &str| references(input).iter().all(|id| done.contains(id));
    open.filter(|evidence| is_ready(&evidence.input)).map(|evidence| evidence.id).collect()
}

/// The evidence by the number of calls that it waits for in a row, in writing order within a level. Evidence in a
/// circle is in no level.
pub fn levels(plan: &Plan) -> Vec<Vec<EvidenceId>> {
    let needs = Needs::of(plan);
    let named = |level: Vec<usize>| level.into_iter().map(|at| needs.ids[at]).collect();
    needs.levels().into_iter().map(named).collect()
}

/// The calls that determine the total duration, in the order in which they run: the chain of needs with the largest sum
/// of `durations` (such as milliseconds). Of equal chains a shorter one, then the first written. Only needs count: with
/// fewer workers than calls it takes longer.
pub fn critical_path(plan: &Plan, durations: impl Fn(EvidenceId) -> u64) -> Vec<EvidenceId> {
    let needs = Needs::of(plan);
    let mut ends = vec![0u64; needs.ids.len()];
    let mut last = None;
    for at in needs.levels().into_iter().flatten() {
        let begins = needs.needs[at].iter().map(|need| ends[*need]).max().unwrap_or(0);
        ends[at] = begins.saturating_add(durations(needs.ids[at]));
        if last.is_none_or(|last: usize| ends[at] > ends[last]) {
            last = Some(at);
        }
    }
    let mut path = Vec::new();
    while let Some(at) = last {
        path.push(needs.ids[at]);
        // `min_by_key` takes the first of equals, `max_by_key` the last.
        last = needs.needs[at].iter().copied().min_by_key(|need| (u64::MAX - ends[*need], *need));
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanTools, parse};

    fn ids(ids: &[EvidenceId]) -> String {
        ids.iter().map(EvidenceId::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn calls_run_as_soon_as_what_they_name_is_there() {
        // E5 names evidence that is written after it, which is unusual but valid.
        let plan = parse(
            "Plan: a\n#E1 = f[]\n#E5 = g[#E4]\nPlan: b\n#E2 = f[]\n#E3 = g[#E1 #E2]\n#E4 = g[#E3 #E1]",
            &PlanTools::default(),
        )
        .unwrap();
        let ready =
            |done: &[u32]| ids(&ready(&plan, &done.iter().map(|id| EvidenceId(*id)).collect()));
        assert_eq!(ready(&[]), "E1 E2");
        assert_eq!(ready(&[1]), "E2");
        assert_eq!(ready(&[1, 2]), "E3");
        assert_eq!(ready(&[1, 2, 3, 4]), "E5");
        assert_eq!(ready(&[1, 2, 3, 4, 5]), "");
        let levels: Vec<String> = levels(&plan).iter().map(|level| ids(level)).collect();
        assert_eq!(levels, ["E1 E2", "E3", "E4", "E5"]);
        assert_eq!(ids(&critical_path(&plan, |_| 1)), "E1 E3 E4 E5");
        assert_eq!(ids(&critical_path(&plan, |id| u64::from(id.0 == 2))), "E2");
        assert_eq!(ids(&critical_path(&plan, |id| u64::from(id.0 != 1))), "E2 E3 E4 E5");
        assert_eq!(ids(&critical_path(&plan, |_| u64::MAX)), "E1");
        assert_eq!(ids(&critical_path(&Plan::default(), |_| 1)), "");
    }

    #[test]
    fn a_circle_never_becomes_ready_and_ends_no_search() {
        let plan = parse(
            "Plan: a\n#E1 = f[#E2]\n#E2 = f[#E1]\n#E3 = f[#E2]\n#E4 = f[]",
            &PlanTools::default(),
        )
        .unwrap();
        assert_eq!(levels(&plan), [[EvidenceId(4)]]);
        assert_eq!(ids(&critical_path(&plan, |_| 1)), "E4");
        assert_eq!(ids(&ready(&plan, &BTreeSet::new())), "E4");
    }
}
