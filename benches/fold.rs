//! Folding: 100,000 events of a plausible session, and the reading of their journal.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use toolyard::domain::{Record, State};

#[path = "made_up/session.rs"]
mod made_up;

use made_up::session;

fn fold(c: &mut Criterion) {
    let records = session(100_000);
    let mut group = c.benchmark_group("fold");
    group.throughput(Throughput::Elements(records.len() as u64));
    group.sample_size(20);
    group.bench_function("100000_events", |b| b.iter(|| State::fold(black_box(&records))));
    let lines: Vec<_> =
        records.iter().map(|record| serde_json::to_string(record).unwrap_or_default()).collect();
    group.bench_function("100000_lines_read", |b| {
        b.iter(|| {
            for line in &lines {
                black_box(Record::read(line.as_bytes()).ok());
            }
        });
    });
    group.finish();
}

criterion_group!(benches, fold);
criterion_main!(benches);
