//! Plans under a budget: the paper's size, and the sizes that a large library has.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use toolyard::domain::{Chance, Estimation};
use toolyard::papers::btp::{Candidate, Evidence, marginal, plan};

criterion_group!(benches, few, many, estimate);
criterion_main!(benches);

/// Numbers from 0 to 1 without pattern, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 += 1;
        (Chance::new(self.0).bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn whole(&mut self, least: u32, most: u32) -> f64 {
        (self.next() * f64::from(most - least + 1)).floor() + f64::from(least)
    }
}

fn tools(n: usize, mut tool: impl FnMut(&mut Numbers) -> Candidate) -> Vec<Candidate> {
    let mut numbers = Numbers(0);
    (0..n).map(|_| tool(&mut numbers)).collect()
}

fn few(c: &mut Criterion) {
    let tools = |limit| {
        tools(5, |numbers| Candidate { cost: numbers.whole(1, 10), value: numbers.next(), limit })
    };
    for limit in [3, 9] {
        let tools = tools(limit);
        c.bench_function(&format!("plan/5 tools, limit {limit}, budget 20"), |b| {
            b.iter(|| plan(black_box(&tools), 20.0));
        });
    }
    let tools = tools(3);
    c.bench_function("marginal/5 tools, budget 20", |b| {
        let Ok(now) = plan(&tools, 20.0) else { return };
        b.iter(|| marginal(black_box(&tools), 20.0, &now));
    });
    let real: Vec<_> =
        tools.iter().map(|tool| Candidate { cost: tool.cost * 1.01_f64.sqrt(), ..*tool }).collect();
    c.bench_function("plan/5 tools, real costs, budget 20", |b| {
        b.iter(|| plan(black_box(&real), 20.0));
    });
}

fn many(c: &mut Criterion) {
    const LIMIT: u32 = 3;
    let tools = |tool: fn(&mut Numbers) -> Candidate| tools(16_000, tool);
    let cases = [
        (
            "costs 1–10",
            tools(|n| Candidate { cost: n.whole(1, 10), value: n.next(), limit: LIMIT }),
        ),
        (
            "costs 1–100",
            tools(|n| Candidate { cost: n.whole(1, 100), value: n.next(), limit: LIMIT }),
        ),
        (
            "costs 1–1,000",
            tools(|n| Candidate { cost: n.whole(1, 1000), value: n.next(), limit: LIMIT }),
        ),
        (
            "real costs",
            tools(|n| Candidate { cost: 1.0 + 9.0 * n.next(), value: n.next(), limit: LIMIT }),
        ),
        (
            "values in twentieths",
            tools(|n| Candidate {
                cost: n.whole(1, 10),
                value: n.whole(0, 20) / 20.0,
                limit: LIMIT,
            }),
        ),
        ("no experience", tools(|n| Candidate { cost: n.whole(1, 10), value: 0.1, limit: 1 })),
        (
            "no experience, real costs",
            tools(|n| Candidate { cost: 1.0 + 9.0 * n.next(), value: 0.1, limit: 1 }),
        ),
        // The hardest: every use is worth the same for its cost, so that nothing is decided early.
        (
            "worth what it costs",
            tools(|n| {
                let cost = n.whole(1, 100);
                Candidate { cost, value: cost / 100.0, limit: LIMIT }
            }),
        ),
        (
            "worth what it costs and a little, real costs",
            tools(|n| {
                let cost = 1.0 + 9.0 * n.next();
                Candidate { cost, value: (cost + 1.0) / 10.0, limit: LIMIT }
            }),
        ),
        (
            "nearly worth what it costs, real costs",
            tools(|n| {
                let cost = 1.0 + 9.0 * n.next();
                Candidate { cost, value: cost / 10.0 * (0.9 + 0.1 * n.next()), limit: LIMIT }
            }),
        ),
        (
            "worth what it costs less a little, real costs",
            tools(|n| {
                let cost = 1.0 + 9.0 * n.next();
                Candidate { cost, value: (cost - 0.9) / 10.0, limit: LIMIT }
            }),
        ),
        (
            "worth what it costs, real costs",
            tools(|n| {
                let cost = 1.0 + 9.0 * n.next();
                Candidate { cost, value: cost / 10.0, limit: LIMIT }
            }),
        ),
        (
            "multiples of three, costs 1–1,000",
            tools(|n| {
                let (times, cost) = (n.whole(1, 10), [17.0, 59.0, 91.0][n.whole(0, 2) as usize]);
                Candidate {
                    cost: cost * times,
                    value: (cost + 20.0) * times / 2_000.0,
                    limit: LIMIT,
                }
            }),
        ),
    ];
    let mut group = c.benchmark_group("plan 16,000 tools");
    group.sample_size(10);
    for (name, tools) in &cases {
        group.bench_function(format!("budget 9,999, {name}"), |b| {
            b.iter(|| plan(black_box(tools), 9_999.0));
        });
        let Ok(now) = plan(tools, 9_999.0) else { continue };
        group.bench_function(format!("more than 9,999, {name}"), |b| {
            b.iter(|| marginal(black_box(tools), 9_999.0, &now));
        });
    }
    for budget in [20.0, 100_000.0, 1e12] {
        group.bench_function(format!("budget {budget}, costs 1–10"), |b| {
            b.iter(|| plan(black_box(&cases[0].1), budget));
        });
    }
    group.finish();
}

fn estimate(c: &mut Criterion) {
    let mut numbers = Numbers(0);
    let uses: Vec<(f64, bool)> =
        (0..10_000).map(|_| (numbers.next(), numbers.next() < 0.5)).collect();
    c.bench_function("estimate/10,000 uses", |b| {
        b.iter(|| {
            let mut evidence = Evidence::new(Estimation::Smoothed);
            for &(similarity, helpful) in &uses {
                evidence.add_use(similarity, helpful);
                evidence.add_query(similarity, 2, helpful);
            }
            evidence.estimate(0.15)
        });
    });
}
