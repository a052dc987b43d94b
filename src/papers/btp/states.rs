//! The combinations of a search, each with the steps that led to it.

/// A combination of uses, in whole units.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnapsackState {
    pub(super) cost: i64,
    pub(super) value: i64,
    /// The index of the last step in the history.
    entry: u32,
}

/// More or fewer uses of one item.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnapsackStep {
    pub(super) item: u32,
    pub(super) uses: i64,
    pub(super) cost: i64,
    pub(super) value: i64,
}

/// Combinations that are worth more than every cheaper one. Costs and values rise.
pub(super) struct States {
    pub(super) list: Vec<KnapsackState>,
    /// The previous list, kept to reuse its memory.
    spare: Vec<KnapsackState>,
    steps: Vec<KnapsackStep>,
    /// Pairs of the preceding entry and the step. The first entry is the start, without a step.
    history: Vec<(u32, u32)>,
    /// For comparisons.
    differences: Vec<(u32, i64)>,
    /// Combinations that were made or compared, a measure of time that is the same in every run.
    pub(super) work: usize,
}

impl States {
    pub(super) fn new(cost: i64, value: i64) -> Self {
        let list = vec![KnapsackState { cost, value, entry: 0 }];
        let (spare, steps, differences) = (Vec::new(), Vec::new(), Vec::new());
        Self { list, spare, steps, history: vec![(0, 0)], differences, work: 0 }
    }

    /// Adds the extension by this step to all combinations. Combinations that fail `may` cannot become part of a plan
    /// and are dropped.
    pub(super) fn extend(&mut self, step: KnapsackStep, may: impl Fn(i64, i64) -> bool) {
        let old = std::mem::take(&mut self.list);
        let mut new = std::mem::take(&mut self.spare);
        new.clear();
        new.reserve(2 * old.len());
        self.work += 2 * old.len();
        let number = self.steps.len() as u32;
        self.steps.push(step);
        let (mut plain, mut stepped) = (0, 0);
        while stepped < old.len() || plain < old.len() {
            let with = old.get(stepped).map(|one| KnapsackState {
                cost: one.cost.saturating_add(step.cost),
                value: one.value.saturating_add(step.value),
                ..*one
            });
            let (one, is_new) = match (with, old.get(plain)) {
                (Some(with), Some(without)) if with.cost >= without.cost => (*without, false),
                (Some(with), _) => (with, true),
                (None, Some(without)) => (*without, false),
                (None, None) => break,
            };
            if is_new {
                stepped += 1;
            } else {
                plain += 1;
            }
            self.keep(&mut new, one, is_new.then_some(number), &may);
        }
        (self.list, self.spare) = (new, old);
    }

    fn keep(
        &mut self,
        list: &mut Vec<KnapsackState>,
        mut one: KnapsackState,
        step: Option<u32>,
        may: impl Fn(i64, i64) -> bool,
    ) {
        let last = list.last().copied();
        let is_beaten = |last: KnapsackState| {
            last.value > one.value || (last.value == one.value && last.cost < one.cost)
        };
        if last.is_some_and(is_beaten) || !may(one.cost, one.value) {
            return;
        }
        if let Some(step) = step {
            self.history.push((one.entry, step));
            one.entry = (self.history.len() - 1) as u32;
        }
        match last {
            Some(last) if last.cost == one.cost => {
                if last.value < one.value || self.is_earlier(one, last) {
                    list.pop();
                    list.push(one);
                }
            }
            Some(_) | None => list.push(one),
        }
    }

    /// Whether the first of two equal combinations has more uses of the first item in which they differ.
    pub(super) fn is_earlier(&mut self, one: KnapsackState, other: KnapsackState) -> bool {
        let (mut one, mut other) = (one.entry, other.entry);
        let mut differences = std::mem::take(&mut self.differences);
        differences.clear();
        // An entry always comes after its predecessor.
        while one != other {
            let (last, sign) = if one > other { (&mut one, 1) } else { (&mut other, -1) };
            let (before, step) = self.history[*last as usize];
            let KnapsackStep { item, uses, .. } = self.steps[step as usize];
            differences.push((item, sign * uses));
            *last = before;
        }
        // Old entries are far away in memory.
        self.work += 8 * differences.len();
        differences.sort_unstable();
        let items = differences.chunk_by(|one, other| one.0 == other.0);
        let more = |of: &[(u32, i64)]| of.iter().map(|(_, uses)| uses).sum::<i64>();
        let is_earlier = items.map(more).find(|more| *more != 0).is_some_and(|more| more > 0);
        self.differences = differences;
        is_earlier
    }

    /// The best plan that is one step from a combination: the most valuable one with a cost of at most `most`, or if
    /// there is a value to reach, the cheapest one with at least that value.
    pub(super) fn one_step_behind(
        &mut self,
        mut options: Vec<KnapsackStep>,
        most: i64,
        reach: Option<i64>,
    ) -> Option<KnapsackState> {
        self.work += self.list.len() + options.len();
        // The cheapest plan of a value becomes the most valuable one of a cost if both are exchanged and negated.
        let turned =
            |cost: i64, value: i64| if reach.is_some() { (-value, -cost) } else { (cost, value) };
        let limit = reach.map_or(most, |least| -least);
        options.sort_unstable_by_key(|step| (turned(step.cost, step.value), step.item));
        let mut options = options.into_iter().peekable();
        let (mut step, mut found): (
            Option<KnapsackStep>,
            Option<(i64, KnapsackState, KnapsackStep)>,
        ) = (None, None);
        let mut meet = |one: &KnapsackState| {
            let (cost, value) = turned(one.cost, one.value);
            let fits = |step: &KnapsackStep| turned(step.cost, step.value).0 <= limit - cost;
            while let Some(next) = options.next_if(fits) {
                let worth = |step: KnapsackStep| turned(step.cost, step.value).1;
                step = Some(step.filter(|step| worth(*step) >= worth(next)).unwrap_or(next));
            }
            let Some(step) = step else { return };
            let value = value + turned(step.cost, step.value).1;
            if found.is_none_or(|found| found.0 < value) {
                found = Some((value, *one, step));
            }
        };
        match reach {
            Some(_) => self.list.iter().for_each(&mut meet),
            None => self.list.iter().rev().for_each(&mut meet),
        }
        let (_, one, step) = found?;
        self.steps.push(step);
        self.history.push((one.entry, (self.steps.len() - 1) as u32));
        let (cost, value) = (one.cost + step.cost, one.value + step.value);
        Some(KnapsackState { cost, value, entry: (self.history.len() - 1) as u32 })
    }

    /// The uses of a combination: those of the beginning, changed by each step.
    pub(super) fn uses(&self, state: KnapsackState, beginning: &[u64]) -> Vec<u64> {
        let mut uses = beginning.to_vec();
        let mut entry = state.entry;
        while entry > 0 {
            let (before, step) = self.history[entry as usize];
            let KnapsackStep { item, uses: more, .. } = self.steps[step as usize];
            let of = &mut uses[item as usize];
            *of = of.saturating_add_signed(more);
            entry = before;
        }
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(item: u32, cost: i64, value: i64) -> KnapsackStep {
        KnapsackStep { item, uses: if cost > 0 { 1 } else { -1 }, cost, value }
    }

    fn pairs(states: &States) -> Vec<(i64, i64)> {
        states.list.iter().map(|one| (one.cost, one.value)).collect()
    }

    #[test]
    fn each_cost_is_there_once_and_no_value_that_is_not_higher() {
        let mut states = States::new(5, 5);
        let all = |_, _| true;
        states.extend(step(0, 2, 4), all);
        assert_eq!(pairs(&states), [(5, 5), (7, 9)]);
        states.extend(step(1, -2, -5), all);
        assert_eq!(pairs(&states), [(3, 0), (5, 5), (7, 9)], "of two at 5 the more valuable");
        states.extend(step(2, 1, 1), |cost, _| cost < 8);
        assert_eq!(pairs(&states), [(3, 0), (4, 1), (5, 5), (6, 6), (7, 9)]);
        assert_eq!(states.uses(states.list[1], &[0, 1, 0]), [0, 0, 1]);
    }

    #[test]
    fn a_plan_may_be_one_step_behind_a_combination() {
        let mut states = States::new(5, 5);
        states.extend(step(0, 4, 3), |_, _| true);
        let options = vec![step(1, 2, 4), step(2, 3, 5), step(3, -2, -1)];
        let mut behind = |most, reach| {
            let found = states.one_step_behind(options.clone(), most, reach)?;
            Some((found.cost, found.value, states.uses(found, &[0, 0, 0, 1])))
        };
        assert_eq!(behind(7, None), Some((7, 9, vec![0, 1, 0, 1])));
        assert_eq!(behind(8, None), Some((8, 10, vec![0, 0, 1, 1])));
        assert_eq!(behind(2, None), None);
        assert_eq!(behind(i64::MAX, Some(10)), Some((8, 10, vec![0, 0, 1, 1])));
        assert_eq!(behind(i64::MAX, Some(11)), Some((11, 12, vec![1, 1, 0, 1])));
        assert_eq!(behind(i64::MAX, Some(14)), None);
    }

    #[test]
    fn of_equals_the_one_with_more_uses_of_an_earlier_item_stays() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut states = States::new(0, 0);
            for item in order {
                states.extend(step(item, 1, 1), |_, _| true);
            }
            let uses = |at: usize| states.uses(states.list[at], &[0; 3]);
            assert_eq!((uses(1), uses(2)), (vec![1, 0, 0], vec![1, 1, 0]), "{order:?}");
        }
    }
}
