//! Compares plans of ten families of problems with all useful combinations of uses.

use super::{Candidate, marginal, plan};

/// Costs in 1/per_credit of a credit, values in millionths, limits; and the budget in the unit of costs.
struct Case {
    tools: Vec<(u64, u64, u32)>,
    per_credit: f64,
    budget: u64,
}

struct FamilyNumbers(u64);

impl FamilyNumbers {
    fn up_to(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % (most + 1)
    }
}

const FAMILIES: [&str; 10] = [
    "whole, uncorrelated",
    "real, uncorrelated",
    "whole, weakly correlated",
    "real, weakly correlated",
    "whole, strongly correlated",
    "real, strongly correlated",
    "inverse",
    "subset sum",
    "spanner",
    "tiny and huge budgets",
];

fn case(family: &str, numbers: &mut FamilyNumbers) -> Case {
    let is_real = family.starts_with("real");
    // Sums of real costs are kept exact, although none of them is a short decimal number.
    let (count, most, per_credit) = match is_real {
        true => (2 + numbers.up_to(6), 10 << 20, (1_u64 << 20) as f64),
        false => (2 + numbers.up_to(28), 100, 1.0),
    };
    let limit = if is_real { 2 } else { 3 };
    let keys: Vec<(u64, u64)> =
        (0..3).map(|_| (1 + numbers.up_to(9), 1 + numbers.up_to(99_999))).collect();
    let tool = |_| {
        let cost = 1 + numbers.up_to(most - 1);
        let share = cost * 900_000 / most;
        let (cost, value) = match family {
            _ if family.ends_with("weakly correlated") => (cost, share + numbers.up_to(100_000)),
            _ if family.ends_with("strongly correlated") => (cost, share + 100_000),
            "inverse" => (cost + 10, share),
            "subset sum" => (cost, cost * 10_000),
            "spanner" => {
                let ((cost, value), times) =
                    (keys[numbers.up_to(2) as usize], 1 + numbers.up_to(9));
                (cost * times, value * times)
            }
            _ => (cost, numbers.up_to(1_000_000)),
        };
        (cost, value, numbers.up_to(limit) as u32)
    };
    let tools: Vec<_> = (0..count).map(tool).collect();
    let all: u64 = tools.iter().map(|tool| tool.0 * u64::from(tool.2)).sum();
    let budget = match (family, numbers.up_to(2)) {
        ("tiny and huge budgets", 0) => numbers.up_to(3),
        ("tiny and huge budgets", 1) => all - all.min(numbers.up_to(3)),
        ("tiny and huge budgets", _) => 1_000_000_000_000,
        _ => numbers.up_to(all),
    };
    Case { tools, per_credit, budget }
}

/// Cost and value of all combinations that are worth more than every cheaper one.
fn combinations(tools: &[(u64, u64, u32)]) -> Vec<(u64, u64)> {
    let mut list = vec![(0, 0)];
    for &(cost, value, limit) in tools {
        let more = |uses: u64| (cost * uses, value * uses);
        let with = |one: (u64, u64)| {
            (0..=u64::from(limit)).map(move |uses| (one.0 + more(uses).0, one.1 + more(uses).1))
        };
        let mut all: Vec<(u64, u64)> = list.into_iter().flat_map(with).collect();
        all.sort_unstable_by_key(|&(cost, value)| (cost, std::cmp::Reverse(value)));
        list = Vec::new();
        for one in all {
            if list.last().is_none_or(|last: &(u64, u64)| last.1 < one.1) {
                list.push(one);
            }
        }
    }
    list
}

#[test]
fn plans_of_ten_families_are_the_best_and_their_next_steps_the_cheapest() {
    let mut numbers = FamilyNumbers(44);
    for family in FAMILIES {
        for at in 0..40 {
            let Case { tools, per_credit, budget } = case(family, &mut numbers);
            let tool = |&(cost, value, limit): &(u64, u64, u32)| {
                let (cost, value) = (cost as f64 / per_credit, value as f64 / 1e6);
                Candidate { cost, value, limit }
            };
            let candidates: Vec<Candidate> = tools.iter().map(tool).collect();
            let credits = budget as f64 / per_credit;
            let now = plan(&candidates, credits).unwrap();
            let sum = |of: fn(&(u64, u64, u32)) -> u64, uses: &[u32]| -> u64 {
                tools.iter().zip(uses).map(|(tool, uses)| of(tool) * u64::from(*uses)).sum()
            };
            let all = combinations(&tools);
            let fitting = all.partition_point(|one| one.0 <= budget);
            let found = (sum(|tool| tool.0, &now.uses), sum(|tool| tool.1, &now.uses));
            assert_eq!((found, now.gap), (all[fitting - 1], None), "{family}, {at}");
            let next = marginal(&candidates, credits, &now).unwrap().next;
            let next = next.map(|next| {
                let mut uses = now.uses.clone();
                next.changes.iter().for_each(|change| uses[change.candidate] = change.after);
                assert!(
                    (next.credits - (sum(|tool| tool.0, &uses) as f64 / per_credit - credits))
                        .abs()
                        < 1e-6
                );
                (sum(|tool| tool.0, &uses), sum(|tool| tool.1, &uses))
            });
            assert_eq!(next, all.get(fitting).copied(), "{family}, {at}");
        }
    }
}
