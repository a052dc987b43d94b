//! Journals: how fast they are written and read, and how fast any moment of a long one is reached.

#![expect(clippy::expect_used, reason = "a bench without its files is of no use")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use toolyard::domain::State;
use toolyard::store::journal::{Header, Journal, JournalReader, Marker};

#[path = "made_up/session.rs"]
mod made_up;

use made_up::session;

const EVENTS: usize = 200_000;

fn journal(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("long.jsonl");
    let header = Header::at(jiff::Timestamp::UNIX_EPOCH);
    let records = session(EVENTS);
    let write = |path: &std::path::Path, events: usize| {
        let mut journal = Journal::create(path, &header).expect("a new journal");
        records[..events].iter().for_each(|record| journal.append(record).expect("written"));
    };
    write(&path, records.len());
    let last = records.len() as u64;
    let mut group = c.benchmark_group("journal");
    group.sample_size(10);
    group.throughput(Throughput::Elements(10_000));
    let short = folder.path().join("short.jsonl");
    group.bench_function("10000_events_written", |b| {
        b.iter(|| {
            let _ = std::fs::remove_file(&short);
            write(&short, 10_000);
        });
    });
    group.throughput(Throughput::Elements(last));
    group.bench_function("200000_events_read", |b| {
        b.iter(|| JournalReader::open(&path).expect("a journal").map(black_box).count());
    });
    group.bench_function("200000_events_read_and_marked", |b| {
        b.iter(|| {
            let mut marker = Marker::open(&path, 0).expect("a journal");
            while marker.read().expect("an event").is_some() {}
        });
    });
    let mut marker = Marker::open(&path, 0).expect("a journal");
    while marker.read().expect("an event").is_some() {}
    let past = marker.past();
    group.throughput(Throughput::Elements(1));
    let mut n = 1;
    group.bench_function("jump_anywhere", |b| {
        b.iter(|| {
            n = (n * 7919 + 12_345) % last + 1;
            past.window(n).expect("a part of the journal").state(n, None)
        });
    });
    let middle = last / 2 + 777;
    let window = past.window(middle).expect("a part of the journal");
    let there = window.state(middle, None);
    group.bench_function("one_event_later", |b| {
        b.iter_batched(
            || there.clone(),
            |state: State| window.state(middle + 1, Some(state)),
            criterion::BatchSize::LargeInput,
        );
    });
    group.bench_function("one_event_earlier", |b| {
        b.iter(|| window.state(middle - 1, None));
    });
    group.finish();
}

criterion_group!(benches, journal);
criterion_main!(benches);
