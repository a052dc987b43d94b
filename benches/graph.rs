//! The tool graph and retrieval at the sizes that a large library has.
#![expect(clippy::expect_used, reason = "a bench that cannot begin stops at once")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::json;
use toolyard::domain::{EffectClass, Lexical, Pins, Prior, Scores, ToolGraph, ToolName, ToolSpec};
use toolyard::papers::toolnet::{Learner, Weights};

mod made_up;

use made_up::{Numbers, sentence};

criterion_group!(benches, weights, learning, retrieval);
criterion_main!(benches);

fn tool(i: u64) -> ToolName {
    ToolName::new(format!("tool_{i:05}"))
}

fn weights(c: &mut Criterion) {
    const ROW: u64 = 4_000;
    let mut learner = Learner::new();
    for i in 0..ROW {
        learner.add(&[tool(ROW), tool(i)]).expect("good names");
    }
    let (row, hub) = (learner.finish(), tool(ROW));
    let mut scores = Scores::new();
    for i in 0..ROW {
        scores.set(tool(i), i as f64 % 7.0 - 3.0).expect("small numbers");
    }
    let pins = Pins::new();
    c.bench_function("weights/update a row of 4,000", |b| {
        let mut step = 1.0;
        b.iter(|| {
            step = -step;
            scores.add(tool(7), step).expect("small numbers");
            let weights =
                Weights { graph: &row, scores: &scores, alpha: 0.5, beta: 0.5, pins: &pins };
            black_box(weights.row(hub.as_str()))
        });
    });

    let mut implied = ToolGraph::new(Prior::Uninformed);
    for i in 0..16_000 {
        implied.add_tool(tool(i));
    }
    let mut few = Scores::new();
    for i in 0..200 {
        few.set(tool(i * 80), i as f64 % 7.0 - 3.0).expect("small numbers");
    }
    let weights = Weights { graph: &implied, scores: &few, alpha: 0.5, beta: 0.5, pins: &pins };
    c.bench_function("weights/top 10 of 16,000 implied, 200 scored", |b| {
        b.iter(|| black_box(weights.top("tool_00000", 10)));
    });
}

fn learning(c: &mut Criterion) {
    let mut chance = Numbers::new();
    let trajectories: Vec<Vec<ToolName>> = (0..100_000)
        .map(|_| (0..chance.below(8)).map(|_| tool(chance.below(2_000))).collect())
        .collect();
    let mut group = c.benchmark_group("learning");
    group.sample_size(20);
    group.bench_function("100,000 trajectories, 2,000 tools", |b| {
        b.iter(|| black_box(toolyard::papers::toolnet::learn(&trajectories)));
    });
}

fn retrieval(c: &mut Criterion) {
    let tools = library(16_000);
    let mut group = c.benchmark_group("retrieval");
    group.sample_size(10);
    group.bench_function("index 16,000 tools", |b| {
        b.iter_batched(|| (), |()| black_box(Lexical::new(&tools)), BatchSize::PerIteration);
    });
    let lexical = Lexical::new(&tools);
    let mut chance = Numbers::new();
    for words in [8, 100] {
        let text = sentence(&mut chance, words, 4_000);
        group.bench_function(format!("top 10 of 16,000 for {words} words"), |b| {
            b.iter(|| black_box(lexical.search(&text).take(10).collect::<Vec<_>>()));
        });
    }
}

/// Tools that describe themselves in thirty words of a vocabulary in which few words are common.
fn library(n: u64) -> Vec<ToolSpec> {
    let mut chance = Numbers::new();
    (0..n)
        .map(|i| ToolSpec {
            name: tool(i),
            description: sentence(&mut chance, 30, 4_000),
            parameters: json!({ "type": "object" }).into(),
            class: String::new(),
            cost: None,
            effect: EffectClass::Read,
            timeout_ms: 1_000,
            source: "bench".into(),
            examples: Vec::new(),
            disabled: None,
            proposed: None,
            served_as: None,
            returns: None,
            request: None,
        })
        .collect()
}
