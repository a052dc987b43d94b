//! The search from the middle. It begins with the most valuable uses per credit until the budget is full, and lets more
//! and more items around that place have fewer or more uses (Pisinger's expanding core).
//!
//! Items far from that place are rarely decided differently, and bounds show that before the search reaches them. Costs
//! can have any precision. The work is bounded: an unfinished search has a good plan and the value that no plan
//! exceeds.

use std::cmp::Reverse;

use super::reduce::{CreditPrice, KnapsackItem, value};
use super::states::{KnapsackState, KnapsackStep, States};

/// Combinations made in all before the search ends: some hundredths of a second.
pub(super) const MOST_WORK: usize = 2_000_000;

/// The greatest number of uses.
const MOST_USES: i128 = u64::MAX as i128;

/// Number of combinations up to which none that may become the best plan is dropped.
const LONGEST: usize = 65_536;

/// Number of combinations with the highest gains that are kept beyond that.
const WIDTH: usize = 4_096;

/// The objective of the search. Among equal plans, the one with most uses of the first item wins, then of the second,
/// and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The most valuable plan; among equals, the cheapest.
    Value,
    /// The cheapest plan; among equals, the most valuable.
    Cost,
}

/// The end of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SearchEnd {
    /// The best uses that were found; `None` if no plan met both limits.
    pub(super) uses: Option<Vec<u64>>,
    /// Set if the search was given up: no plan within the cost is worth more than this.
    pub(super) bound: Option<i64>,
}

/// Uses of each item, whose `low` are 0, with a value of at least `least` and a cost of at most `most`. At most `work`
/// combinations are made.
pub(super) fn search(
    items: &[KnapsackItem],
    goal: Goal,
    least: i64,
    most: u64,
    work: usize,
) -> SearchEnd {
    let mut search = MiddleSearch::new(items, goal, least, most);
    let is_ended = search.run(work);
    let bound = (!is_ended).then(|| search.bound().max(search.least));
    let uses = search.best.map(|best| search.states.uses(best, &search.beginning));
    SearchEnd { uses, bound }
}

struct MiddleSearch<'i> {
    items: &'i [KnapsackItem],
    goal: Goal,
    /// A plan of interest is worth at least this …
    least: i64,
    /// … and costs at most this.
    most: i64,
    price: CreditPrice,
    /// The gain of the uses at the beginning, which no plan exceeds.
    gain: i128,
    beginning: Vec<u64>,
    /// Items that get more uses, and those that get fewer.
    sides: [MiddleSide; 2],
    states: States,
    best: Option<KnapsackState>,
    /// The highest gain of the combinations that were dropped.
    lost: i128,
}

impl<'i> MiddleSearch<'i> {
    fn new(items: &'i [KnapsackItem], goal: Goal, least: i64, most: u64) -> Self {
        let mut order: Vec<usize> = (0..items.len()).collect();
        let worth = |one: &KnapsackItem, beside: &KnapsackItem| {
            i128::from(one.value) * i128::from(beside.cost)
        };
        order.sort_unstable_by(|&one, &other| {
            let (a, b) = (&items[one], &items[other]);
            worth(b, a).cmp(&worth(a, b)).then(one.cmp(&other))
        });
        let mut beginning = vec![0; items.len()];
        let (mut left, mut total, mut cut) = (most, 0, order.len());
        for (at, &place) in order.iter().enumerate() {
            let item = &items[place];
            let taken = item.high.min(left / item.cost);
            beginning[place] = taken;
            left -= taken * item.cost;
            total += value(item, taken);
            if taken < item.high {
                cut = at;
                break;
            }
        }
        let last = order.get(cut).or(order.last());
        let price =
            last.map_or(CreditPrice { value: 0, cost: 1 }, |&at| CreditPrice::of(&items[at]));
        let cost = (most - left) as i64;
        let more = order[cut..].iter().map(|&at| (at, items[at].high - beginning[at]));
        let fewer = order[..order.len().min(cut + 1)].iter().rev().map(|&at| (at, beginning[at]));
        let sides = [MiddleSide::new(more), MiddleSide::new(fewer)];
        let (gain, most) = (price.gain(total, cost as u64), most as i64);
        let states = States::new(cost, total);
        let (best, lost) = (None, i128::MIN);
        Self { items, goal, least, most, price, gain, beginning, sides, states, best, lost }
    }

    /// Runs the search; returns whether it is complete.
    fn run(&mut self, work: usize) -> bool {
        self.note();
        let (mut side, mut is_long) = (0, false);
        loop {
            self.pass_over();
            let Some(step) = self.step(side).or_else(|| self.step(1 - side)) else { break };
            side = 1 - side;
            self.pass_over();
            let [more, fewer] = [0, 1].map(|side: usize| self.next_item(side));
            let (least, most) = (self.least, self.most);
            self.states.extend(step, |cost, value| {
                let (free, lack) = (i128::from(most - cost), i128::from(least) - i128::from(value));
                // Uses that fill the rest, or that are removed because the cost is too high.
                match if free >= 0 { more } else { fewer } {
                    Some(item) => free * i128::from(item.value) >= lack * i128::from(item.cost),
                    None => free >= 0 && lack <= 0,
                }
            });
            self.note();
            let is_last = self.states.work > work;
            let was_long = is_long;
            is_long |= self.states.work > work / 3 * 2 || self.states.list.len() > LONGEST;
            if is_last || is_long != was_long {
                self.look_behind();
            }
            if is_last {
                return false;
            }
            if is_long && self.states.list.len() > 2 * WIDTH {
                self.narrow();
            }
        }
        // The results of all other combinations are known.
        self.states.list.clear();
        self.lost == i128::MIN
    }

    /// Passes over the items that a plan of interest cannot decide differently.
    fn pass_over(&mut self) {
        let slack = self.gain - self.price.gain(self.least, self.most as u64);
        let (items, price) = (self.items, self.price);
        for side in &mut self.sides {
            side.pass_over(|at| {
                slack.checked_div(price.gain(items[at].value, items[at].cost).abs())
            });
        }
    }

    fn next_item(&self, side: usize) -> Option<&'i KnapsackItem> {
        self.sides[side].places.get(self.sides[side].at).map(|&(place, _)| &self.items[place])
    }

    fn step(&mut self, side: usize) -> Option<KnapsackStep> {
        let (item, uses) = self.sides[side].next()?;
        let sign = if side == 0 { 1 } else { -1 };
        let (cost, value) = ((uses * self.items[item].cost) as i64, value(&self.items[item], uses));
        let (uses, cost, value) = (sign * uses as i64, sign * cost, sign * value);
        Some(KnapsackStep { item: item as u32, uses, cost, value })
    }

    /// Notes the best plan among the combinations.
    fn note(&mut self) {
        let list = &self.states.list;
        let found = match self.goal {
            Goal::Value => {
                list[..list.partition_point(|one| one.cost <= self.most)].last().copied()
            }
            Goal::Cost => list.get(list.partition_point(|one| one.value < self.least)).copied(),
        };
        self.improve(found);
    }

    /// Notes the best plan that has one more or one fewer use of an item that is not reached yet.
    fn look_behind(&mut self) {
        let mut options = Vec::new();
        for (side, sign) in self.sides.iter().zip([1, -1]) {
            options.extend(side.places[side.at..].iter().map(|&(place, _)| {
                let KnapsackItem { cost, value, .. } = self.items[place];
                let (cost, value) = (sign * cost as i64, sign * value);
                KnapsackStep { item: place as u32, uses: sign, cost, value }
            }));
        }
        let reach = (self.goal == Goal::Cost).then_some(self.least);
        let found = self.states.one_step_behind(options, self.most, reach);
        self.improve(found);
    }

    /// Takes a plan if it is better than the best so far; all others must then match it.
    fn improve(&mut self, found: Option<KnapsackState>) {
        let matches = |one: &KnapsackState| one.value >= self.least && one.cost <= self.most;
        let Some(found) = found.filter(matches) else { return };
        let key = |one: KnapsackState| match self.goal {
            Goal::Value => (one.value, -one.cost),
            Goal::Cost => (-one.cost, one.value),
        };
        let is_better = match self.best {
            None => true,
            Some(best) if key(best) == key(found) => self.states.is_earlier(found, best),
            Some(best) => key(found) > key(best),
        };
        if is_better {
            self.best = Some(found);
            match self.goal {
                Goal::Value => self.least = found.value,
                Goal::Cost => self.most = found.cost,
            }
        }
    }

    /// Keeps only the combinations with the highest gains.
    fn narrow(&mut self) {
        let list = &mut self.states.list;
        self.states.work += list.len();
        let gain = |one: &KnapsackState| self.price.gain(one.value, one.cost as u64);
        let mut places: Vec<(Reverse<i128>, usize)> =
            list.iter().enumerate().map(|(at, one)| (Reverse(gain(one)), at)).collect();
        let (_, (Reverse(lost), _), _) = places.select_nth_unstable(WIDTH);
        self.lost = self.lost.max(*lost);
        places.truncate(WIDTH);
        places.sort_unstable_by_key(|&(_, at)| at);
        *list = places.into_iter().map(|(_, at)| list[at]).collect();
    }

    /// An upper bound on the value of all plans, by the price of a credit, from the gains of dropped and of open
    /// combinations.
    fn bound(&self) -> i64 {
        let gains = self.states.list.iter().map(|one| self.price.gain(one.value, one.cost as u64));
        let most = gains.fold(self.lost, i128::max);
        let most = most.saturating_add(i128::from(self.price.value) * i128::from(self.most));
        i64::try_from(most.div_euclid(i128::from(self.price.cost))).unwrap_or(i64::MAX)
    }
}

/// The items on one side of the middle, the nearest first, each with the uses that can change.
struct MiddleSide {
    places: Vec<(usize, u64)>,
    at: usize,
    /// Uses of the first item that were given out already, as packs of 1, 2, 4 … and a rest, which can form every
    /// number of uses.
    given: u64,
}

impl MiddleSide {
    fn new(places: impl Iterator<Item = (usize, u64)>) -> Self {
        Self { places: places.filter(|(_, uses)| *uses > 0).collect(), at: 0, given: 0 }
    }

    /// Passes over items without uses that may change. At most `most` uses of an item may change; `None`: all.
    fn pass_over(&mut self, most: impl Fn(usize) -> Option<i128>) {
        while let Some((place, uses)) = self.places.get_mut(self.at) {
            // Far more uses than there are if the item is worth nearly the price.
            let most = most(*place).map_or(u64::MAX, |most| most.clamp(0, MOST_USES) as u64);
            *uses = most.min(*uses).max(self.given);
            if self.given < *uses {
                return;
            }
            (self.at, self.given) = (self.at + 1, 0);
        }
    }

    fn next(&mut self) -> Option<(usize, u64)> {
        let &(place, uses) = self.places.get(self.at)?;
        let pack = (self.given + 1).min(uses - self.given);
        self.given += pack;
        Some((place, pack))
    }
}
