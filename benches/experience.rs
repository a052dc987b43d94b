//! The store of past uses at the paper's size: 2.5 million uses of 16,000 tools, one of which everybody
//! uses.
//!
//! The set is made up, the same each time, in a folder that goes away afterwards; that takes about two
//! minutes. `EXPERIENCE_USES` is another number of uses.
#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a bench that cannot begin stops at once, and says what it made"
)]

use std::{fs, hint::black_box, path::Path, time::Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;
use toolyard::domain::{Knobs, ToolName};
use toolyard::papers::btp::{self, Candidate, Marginal, UsePlan, candidates};
use toolyard::store::experience::{Experience, Same, Use};

mod made_up;

use made_up::{Numbers, sentence};

criterion_group!(benches, experience);
criterion_main!(benches);

const USES: u64 = 2_500_000;
const TOOLS: u64 = 16_000;
/// ToolBench has 20 for each of its 126,000 instructions.
const USES_A_QUERY: u64 = 20;
const TOOLS_A_QUERY: u64 = 6;
/// One use in so many is one of the tool that everybody uses: 200,000 of 2.5 million.
const BUSY: u64 = 12;
const BATCH: usize = 5_000;

fn experience(c: &mut Criterion) {
    let uses = std::env::var("EXPERIENCE_USES").ok().and_then(|text| text.parse().ok());
    let folder = TempDir::new().expect("a folder for a while");
    let path = folder.path().join("experience.sqlite");
    make(&path, uses.unwrap_or(USES));

    let mut store = Experience::open_existing(&path).expect("it was just made");
    let mut numbers = Numbers::new();
    let query = store.query(&text(&mut numbers));
    let usual: Vec<_> = (1..=5).map(|i| tool(TOOLS * i / 6)).collect();
    let busiest: Vec<_> = (0..5).map(tool).collect();
    for (which, tools) in [("usual", &usual), ("busiest", &busiest)] {
        let found = store.history(&query, tools, Same::LeftOut).expect("a good store");
        let past: Vec<_> = found.iter().map(|history| history.past.len()).collect();
        eprintln!("past queries of the {which} 5 that are looked at: {past:?}");
        c.bench_function(&format!("history/of the {which} 5 of 16,000"), |b| {
            b.iter(|| black_box(store.history(&query, tools, Same::LeftOut)));
        });
    }
    for (which, tools) in [("usual", &usual), ("busiest", &busiest)] {
        c.bench_function(&format!("plan/from the past of the {which} 5 of 16,000"), |b| {
            b.iter(|| black_box(planned(&store, &text(&mut numbers), tools)));
        });
    }
    c.bench_function("helped/5 tools of similar queries", |b| {
        b.iter(|| black_box(store.helped(&query, 5, Same::LeftOut, |_| true)));
    });
    c.bench_function("query/made comparable", |b| {
        let text = text(&mut numbers);
        b.iter(|| black_box(store.query(&text)));
    });
    c.bench_function("add/one use", |b| {
        b.iter(|| store.add(&a_use(&mut numbers, "another query", 7)).expect("room"));
    });
    memory("after all");
}

/// All that a plan takes once its candidates are chosen: text, past, estimates, knapsack, and what more
/// would buy. Every text is another one, as every task is.
fn planned(store: &Experience, text: &str, tools: &[ToolName]) -> (UsePlan, Marginal) {
    let query = store.query(text);
    let histories = store.history(&query, tools, Same::LeftOut).expect("a good store");
    let knobs = Knobs::default();
    let candidates: Vec<Candidate> = histories
        .iter()
        .zip([2.0, 9.0, 3.0, 8.0, 6.0])
        .map(|(history, cost)| {
            let estimate = candidates::estimate(&knobs, &candidates::past(&history.past, 1.0));
            Candidate { cost, value: estimate.value, limit: estimate.limit }
        })
        .collect();
    let plan = btp::plan(&candidates, 20.0).expect("good numbers");
    let marginal = btp::marginal(&candidates, 20.0, &plan).expect("good numbers");
    (plan, marginal)
}

/// Fills a store.
fn make(path: &Path, uses: u64) {
    let begun = Instant::now();
    let mut store = Experience::open(path).expect("a new file");
    let mut numbers = Numbers::new();
    let mut batch = Vec::with_capacity(BATCH + USES_A_QUERY as usize);
    for _ in 0..uses / USES_A_QUERY {
        let query = text(&mut numbers);
        let tools: Vec<_> = (0..TOOLS_A_QUERY).map(|_| numbers.popular(TOOLS)).collect();
        for _ in 0..USES_A_QUERY {
            let any = tools[numbers.below(TOOLS_A_QUERY) as usize];
            let chosen = if numbers.below(BUSY) == 0 { 0 } else { any };
            batch.push(a_use(&mut numbers, &query, chosen));
        }
        if batch.len() >= BATCH {
            store.add_all(&batch).expect("room for the store");
            batch.clear();
        }
    }
    store.add_all(&batch).expect("room for the store");
    drop(store);
    let length = fs::metadata(path).map_or(0, |file| file.len());
    eprintln!("{uses} uses made in {:.0?}, {} MB", begun.elapsed(), length / 1_000_000);
    memory("after making them");
}

fn a_use(numbers: &mut Numbers, query: &str, of: u64) -> Use {
    Use {
        query: query.to_owned(),
        tool: tool(of),
        parameters: json!({ "of": of, "page": numbers.below(10) }),
        result: "A short answer, as long results are not read when a plan is made.".to_owned(),
        helpful: numbers.below(3) > 0,
        at: Timestamp::from_millisecond(1_700_000_000_000 + numbers.0 as i64).expect("in range"),
        source: "bench".to_owned(),
    }
}

/// A task's text.
fn text(numbers: &mut Numbers) -> String {
    let words = 8 + numbers.below(9);
    sentence(numbers, words, 20_000)
}

fn tool(i: u64) -> ToolName {
    ToolName::new(format!("tool_{i:05}"))
}

/// What this process holds, and the most that it held, where the system says it.
fn memory(when: &str) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"))
    {
        eprintln!("{when}: {line}");
    }
}
