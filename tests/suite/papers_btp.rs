//! BTP against golden values: equations 3 and 4 in both modes, the plans of algorithm 1; and against
//! trying every plan there is.

use proptest::prelude::*;
use serde_json::Value;
use toolyard::domain::Estimation;
use toolyard::papers::btp::{
    BadInput, Candidate, CandidateField, Estimate, Evidence, UseChange, UsePlan, Why, marginal,
    plan, why,
};

fn vectors() -> Value {
    serde_json::from_str(&crate::vectors("btp.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn candidates(costs: &[f64], values: &[f64], limits: &[u32]) -> Vec<Candidate> {
    let each = costs.iter().zip(values).zip(limits);
    each.map(|((&cost, &value), &limit)| Candidate { cost, value, limit }).collect()
}

#[test]
fn plans_are_those_of_algorithm_1() {
    let vectors = vectors();
    let cases = vectors["plans"].as_array().unwrap();
    assert_eq!(cases.len(), 150);
    for case in cases {
        let limits: Vec<u32> = serde_json::from_value(case["F"].clone()).unwrap();
        let tools = candidates(&numbers(&case["cost"]), &numbers(&case["value"]), &limits);
        let plan = plan(&tools, case["R"].as_f64().unwrap()).unwrap();
        let right: Vec<u32> = serde_json::from_value(case["plan"].clone()).unwrap();
        assert_eq!(plan.uses, right, "{case}");
        assert_eq!(plan.cost, case["spent"].as_f64().unwrap(), "{case}");
        assert!((plan.value - case["V"].as_f64().unwrap()).abs() < 1e-9, "{case}");
    }
}

#[test]
fn estimates_are_those_of_equations_3_and_4() {
    let vectors = vectors();
    let cases = vectors["estimates"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        for (mode, name) in [(Estimation::Paper, "paper"), (Estimation::Smoothed, "smoothed")] {
            let mut evidence = Evidence::new(mode);
            for one in case["history"].as_array().unwrap() {
                evidence.add_use(one[0].as_f64().unwrap(), one[1] == 1);
            }
            for one in case["counts"].as_array().unwrap() {
                let uses = u32::try_from(one[1].as_u64().unwrap()).unwrap();
                evidence.add_query(one[0].as_f64().unwrap(), uses, true);
            }
            let Estimate { value, limit, .. } = evidence.estimate(0.15);
            let right = numbers(&case[name]);
            assert!((value - right[0]).abs() < 1e-6, "{value} in {name} of {case}");
            assert_eq!(f64::from(limit), right[1], "{name} of {case}");
        }
    }
}

#[test]
fn some_golden_plans_need_nothing_beside_the_project() {
    for (budget, costs, values, limits, right, value, spent) in [
        (
            30.0,
            &[8.0, 1.0, 6.0][..],
            &[0.415, 0.097, 0.1][..],
            &[1, 1, 2][..],
            &[1, 1, 2][..],
            0.712,
            21.0,
        ),
        (20.0, &[8.0, 10.0, 6.0], &[0.361, 0.519, 0.131], &[2, 4, 3], &[0, 2, 0], 1.038, 20.0),
        (
            20.0,
            &[9.0, 5.0, 7.0, 5.0, 4.0],
            &[0.852, 0.972, 0.754, 0.438, 0.866],
            &[0, 1, 1, 1, 1],
            &[0, 1, 1, 0, 1],
            2.592,
            16.0,
        ),
    ] {
        let plan = plan(&candidates(costs, values, limits), budget).unwrap();
        assert_eq!(plan, UsePlan { uses: right.to_vec(), value, cost: spent, gap: None });
    }
}

/// The values that OR-tools' branch and bound proves to be the best. With one unit per cost these plans have
/// too many combinations for a search that knows no good plan.
#[test]
fn thousands_of_tools_with_real_costs_get_the_best_plan() {
    for (tools, budget, best) in
        [(3000, 1500.0, 636.912185368067), (4000, 2500.0, 986.517863949701)]
    {
        let mut number = 1_u64;
        let mut unit = || {
            number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (number >> 11) as f64 / (1_u64 << 53) as f64
        };
        let tool = |_| Candidate { cost: 1.0 + 9.0 * unit(), value: unit(), limit: 3 };
        let candidates: Vec<_> = (0..tools).map(tool).collect();
        let plan = plan(&candidates, budget).unwrap();
        assert!((plan.value - best).abs() < 1e-9, "{} for {tools} tools", plan.value);
        assert!(plan.cost <= budget);
    }
}

/// The best plan, by trying all. Costs are in `1/per_credit`, values in thousandths, so that sums are
/// exact.
fn brute_force(tools: &[(u64, u64, u32)], budget: u64) -> Vec<u32> {
    let (mut best, mut best_value, mut best_cost) = (vec![0; tools.len()], 0, 0);
    let mut uses = vec![0; tools.len()];
    loop {
        let sum = |of: fn(&(u64, u64, u32)) -> u64| -> u64 {
            tools.iter().zip(&uses).map(|(tool, &n)| of(tool) * u64::from(n)).sum()
        };
        let (value, cost) = (sum(|tool| tool.1), sum(|tool| tool.0));
        let key = |value, cost| (value, std::cmp::Reverse(cost));
        let better = (key(value, cost), &uses) > (key(best_value, best_cost), &best);
        if cost <= budget && better {
            (best, best_value, best_cost) = (uses.clone(), value, cost);
        }
        // The next combination, like an odometer.
        let Some(at) = (0..tools.len()).find(|&at| uses[at] < tools[at].2) else { return best };
        uses[at] += 1;
        uses[..at].fill(0);
    }
}

fn tools_of(tools: &[(u64, u64, u32)], per_credit: f64) -> Vec<Candidate> {
    let tool = |&(cost, value, limit): &(u64, u64, u32)| Candidate {
        cost: cost as f64 / per_credit,
        value: value as f64 / 1000.0,
        limit,
    };
    tools.iter().map(tool).collect()
}

fn small(costs: u64, values: u64) -> impl Strategy<Value = Vec<(u64, u64, u32)>> {
    prop::collection::vec((0..=costs, 0..=values, 0..=3_u32), 0..=6)
}

fn large() -> impl Strategy<Value = Vec<(u64, u64, u32)>> {
    prop::collection::vec((0..=5_000_u64, 0..=1_000_u64, 0..=9_u32), 1..=300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn no_plan_is_better(tools in small(10, 1_000), budget in 0..=45_u64) {
        let plan = plan(&tools_of(&tools, 1.0), budget as f64).unwrap();
        prop_assert_eq!(plan.uses, brute_force(&tools, budget));
    }

    /// Few different values: hardly a plan without its equals.
    #[test]
    fn of_equal_plans_it_is_the_cheapest_and_then_the_earliest(
        tools in small(4, 4), budget in 0..=20_u64
    ) {
        let plan = plan(&tools_of(&tools, 1.0), budget as f64).unwrap();
        prop_assert_eq!(plan.uses, brute_force(&tools, budget));
    }

    #[test]
    fn decimal_costs_are_exact(tools in small(300, 10), budget in 0..=900_u64) {
        let plan = plan(&tools_of(&tools, 100.0), budget as f64 / 100.0).unwrap();
        prop_assert_eq!(plan.uses, brute_force(&tools, budget));
    }

    /// In 1/2⁴⁰ of a credit, which is no short decimal, sums are exact as well.
    #[test]
    fn real_costs_are_exact(
        tools in small(1 << 44, 1_000), budget in 0..=1_u64 << 46
    ) {
        let per_credit = (1_u64 << 40) as f64;
        let plan = plan(&tools_of(&tools, per_credit), budget as f64 / per_credit).unwrap();
        prop_assert_eq!(plan.uses, brute_force(&tools, budget));
    }

    #[test]
    fn with_value_in_proportion_to_cost_sums_are_what_matters(
        costs in prop::collection::vec((1..=1_u64 << 20, 0..=2_u32), 0..=6), budget in 0..=1_u64 << 22
    ) {
        let tools: Vec<_> = costs.iter().map(|&(cost, limit)| (cost, cost, limit)).collect();
        let plan = plan(&tools_of(&tools, 7.0), budget as f64 / 7.0).unwrap();
        let units = |uses: &[u32]| -> u64 {
            tools.iter().zip(uses).map(|(tool, &n)| tool.0 * u64::from(n)).sum()
        };
        // A seventh is rounded to a double: a use may not fit that would just fit.
        let best = units(&brute_force(&tools, budget));
        prop_assert!(units(&plan.uses) == best || best == budget, "{:?}", plan);
    }
}

/// Items whose value per credit is nearly the price: quotients of gains exceed 64 bits.
#[test]
fn an_item_near_the_price_is_not_passed_over() {
    let tools = [(747_538, 747_538, 1), (12_377, 12_377, 1), (582_277, 582_277, 1)];
    let plan = plan(&tools_of(&tools, 7.0), 844_841.0 / 7.0).unwrap();
    assert_eq!((plan.uses, plan.gap), (vec![1, 1, 0], None));
}

/// Exactly, for numbers of less than 40 bits after the point.
fn true_cost(tools: &[Candidate], plan: &UsePlan) -> u128 {
    let exact = |cost: f64| (cost * (1_u64 << 40) as f64) as u128;
    tools.iter().zip(&plan.uses).map(|(tool, &n)| exact(tool.cost) * u128::from(n)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_plan_is_over_budget_or_over_a_limit(tools in large(), budget in 0..=100_000_u64) {
        for per_credit in [1.0, 100.0, 1024.0, 7.0] {
            let candidates = tools_of(&tools, per_credit);
            let credits = budget as f64 / per_credit;
            let plan = plan(&candidates, credits).unwrap();
            let spent: u64 = tools.iter().zip(&plan.uses).map(|(tool, &n)| tool.0 * u64::from(n)).sum();
            prop_assert!(spent <= budget, "{spent} of {budget}");
            prop_assert!(plan.cost <= credits);
            prop_assert!((plan.cost - spent as f64 / per_credit).abs() < 1e-6);
            prop_assert!(candidates.iter().zip(&plan.uses).all(|(tool, &n)| n <= tool.limit));
        }
    }

    #[test]
    fn real_costs_stay_within_the_budget(
        tools in prop::collection::vec((0.0..9.0_f64, 0.0..1.0_f64, 0..=5_u32), 1..=200),
        budget in 0.0..300.0_f64
    ) {
        let tool = |(cost, value, limit)| {
            // With 40 bits after the point, so that the test can sum them exactly.
            let unit = (1_u64 << 40) as f64;
            Candidate { cost: f64::trunc(cost * unit) / unit, value, limit }
        };
        let tools: Vec<_> = tools.into_iter().map(tool).collect();
        let plan = plan(&tools, budget).unwrap();
        prop_assert!(true_cost(&tools, &plan) as f64 <= budget * (1_u64 << 40) as f64);
        prop_assert!(plan.cost <= budget);
    }

    #[test]
    fn more_budget_is_worth_no_less(tools in large(), mut budgets in [0..=90_000_u64, 0..=90_000]) {
        budgets.sort_unstable();
        for per_credit in [1.0, 7.0] {
            let tools = tools_of(&tools, per_credit);
            let worth = budgets.map(|budget| plan(&tools, budget as f64 / per_credit).unwrap().value);
            prop_assert!(worth[0] <= worth[1] + 1e-9, "{:?}", worth);
        }
    }

    #[test]
    fn what_more_credits_buy_is_what_the_next_plan_has(tools in small(9, 9), budget in 0..=30_u64) {
        let candidates = tools_of(&tools, 1.0);
        let plan_of = |more: u64| plan(&candidates, (budget + more) as f64).unwrap();
        let (now, then) = (plan_of(0), plan_of(1));
        let marginal = marginal(&candidates, budget as f64, &now).unwrap();
        prop_assert!((marginal.one.value - (then.value - now.value)).abs() < 1e-9);
        let mut changed = now.uses.clone();
        for UseChange { candidate, before, after } in marginal.one.changes {
            prop_assert_eq!(std::mem::replace(&mut changed[candidate], after), before);
        }
        prop_assert_eq!(changed, then.uses);
        // The costs are no more than 9 credits.
        let first = (1..=10).find(|&more| plan_of(more).value > now.value);
        prop_assert_eq!(marginal.next.map(|next| next.credits), first.map(|first| first as f64));
    }
}

fn uses(tools: &[(f64, f64, u32)], budget: f64) -> Vec<u32> {
    let tool = |&(cost, value, limit): &(f64, f64, u32)| Candidate { cost, value, limit };
    plan(&tools.iter().map(tool).collect::<Vec<_>>(), budget).unwrap().uses
}

#[test]
fn decimals_tie_as_people_add_them() {
    // 0.1 + 0.2 is 0.3, in values as in costs.
    assert_eq!(uses(&[(2.0, 0.3, 1), (1.0, 0.1, 1), (1.0, 0.2, 1)], 2.0), [1, 0, 0]);
    assert_eq!(uses(&[(1.0, 0.1, 1), (2.0, 0.3, 1), (1.0, 0.2, 1)], 2.0), [1, 0, 1]);
    assert_eq!(uses(&[(0.1, 1.0, 1), (0.2, 1.0, 1)], 0.3), [1, 1]);
    let sum = plan(&candidates(&[0.1, 0.2], &[0.1, 0.2], &[1, 1]), 0.3).unwrap();
    assert_eq!((sum.value, sum.cost), (0.3, 0.3));
    // Seven tenths, one at a time.
    assert_eq!(uses(&[(0.1, 1.0, 9)], 0.7), [7]);
}

#[test]
fn nothing_and_too_much_are_planned_sensibly() {
    assert_eq!(plan(&[], 20.0).unwrap(), UsePlan::default());
    assert_eq!(
        uses(&[(1.0, 0.5, 3), (0.0, 0.5, 3), (0.0, 0.0, 2), (2.0, 0.9, 1)], 0.0),
        [0, 3, 2, 0]
    );
    assert_eq!(uses(&[(1.0, 0.5, 3), (0.0, 0.5, u32::MAX), (2.0, 0.9, 1)], 1.0), [1, u32::MAX, 0]);
    assert_eq!(uses(&[(1.0, 0.0, 3), (21.0, 0.9, 1), (1e300, 1.0, 1)], 20.0), [0, 0, 0]);
    // All fits; nothing is as wide as this budget.
    assert_eq!(uses(&[(3.0, 0.5, 7), (1e6, 0.1, 2)], 1e12), [7, 2]);
    assert_eq!(uses(&[(3.0, 0.5, 7), (1e6, 0.1, 2)], f64::MAX), [7, 2]);
    assert_eq!(uses(&[(1.0, 1.0, u32::MAX)], f64::from(u32::MAX) - 1.0), [u32::MAX - 1]);
    assert_eq!(uses(&[(1e-300, 1e-300, 9), (1e-5, 1e5, 9)], 1e-299), [9, 0]);
    assert_eq!(uses(&[(1e300, 1e300, 9), (1e299, 1e298, 9)], 1e301), [9, 9]);
    assert_eq!(uses(&[(5e-324, f64::MAX, u32::MAX)], 5e-324).len(), 1);
    // Wide and fine: 10¹² units of budget, not all of them needed.
    let fine = [(999_999_999_989.0, 0.9, 3), (333_333_333_337.0, 0.3, 3), (1.0, 0.001, 9)];
    assert_eq!(uses(&fine, 1e12), [1, 0, 9]);
}

#[test]
fn what_is_no_number_of_credits_is_refused_by_name() {
    let good = Candidate { cost: 1.0, value: 0.5, limit: 1 };
    for bad in [f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY] {
        let costs = plan(&[good, Candidate { cost: bad, ..good }], 1.0).unwrap_err();
        assert!(matches!(
            costs,
            BadInput::Candidate { candidate: 1, field: CandidateField::Cost, .. }
        ));
        let value =
            marginal(&[Candidate { value: bad, ..good }], 1.0, &UsePlan::default()).unwrap_err();
        assert!(matches!(
            value,
            BadInput::Candidate { candidate: 0, field: CandidateField::Value, .. }
        ));
        assert!(matches!(plan(&[good], bad).unwrap_err(), BadInput::Budget(_)));
    }
    let said = plan(&[Candidate { cost: -2.5, ..good }], 1.0).unwrap_err().to_string();
    assert_eq!(said, "candidate 0: its cost is -2.5; expected a finite number, at least 0");
    // Zero with a sign is zero.
    assert_eq!(uses(&[(-0.0, 0.5, 2)], -0.0), [2]);
}

#[test]
fn a_next_use_has_its_price() {
    let tools = candidates(&[7.0, 3.0], &[0.9, 0.2], &[2, 1]);
    let marginal = |tools: &[Candidate], budget| {
        marginal(tools, budget, &plan(tools, budget).unwrap()).unwrap()
    };
    let at_nine = marginal(&tools, 9.0);
    assert_eq!(at_nine.one.value, 0.2);
    assert_eq!(at_nine.one.changes, [UseChange { candidate: 1, before: 0, after: 1 }]);
    assert_eq!(at_nine.next, Some(at_nine.one));
    let at_ten = marginal(&tools, 10.0);
    assert_eq!((at_ten.one.value, at_ten.one.changes.len()), (0.0, 0));
    let next = at_ten.next.unwrap();
    assert_eq!((next.credits, next.value), (4.0, 0.7));
    assert_eq!(
        next.changes,
        [
            UseChange { candidate: 0, before: 1, after: 2 },
            UseChange { candidate: 1, before: 1, after: 0 }
        ]
    );
    let rich = marginal(&tools, 17.0);
    assert_eq!((rich.one.changes.len(), rich.next), (0, None));
    let real = marginal(&candidates(&[2.25, 0.1], &[1.0, 0.1], &[1, 1]), 0.1);
    assert_eq!(real.next.unwrap().credits, 2.15);
}

#[test]
fn every_candidate_hears_why() {
    let tools = candidates(
        &[2.0, 9.0, 5.0, 21.0, 1.0, 6.0, 1.0],
        &[0.9, 0.3, 0.6, 1.0, 0.0, 0.5, 0.9],
        &[1, 1, 2, 1, 1, 2, 0],
    );
    let planned = plan(&tools, 20.0).unwrap();
    assert_eq!(planned.uses, [1, 0, 2, 0, 0, 1, 0]);
    let whys = why(&tools, 20.0, &planned);
    let right = [
        Why::InFull,
        Why::CrowdedOut,
        Why::InFull,
        Why::TooDear,
        Why::Worthless,
        Why::InPart,
        Why::NotAllowed,
    ];
    assert_eq!(whys, right);
    assert_eq!(whys[0].by_estimate(&Estimate::UNKNOWN), Why::NoExperience);
    assert_eq!(whys[6].by_estimate(&Estimate::UNKNOWN), Why::BelowTau);
    assert_eq!(whys[3].by_estimate(&Estimate::UNKNOWN), Why::TooDear);
    let alone = candidates(&[8.0], &[0.9], &[4]);
    assert_eq!(why(&alone, 20.0, &plan(&alone, 20.0).unwrap()), [Why::FillsBudget]);
}
