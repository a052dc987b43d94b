//! The tests that take longest: comparisons of many sessions, and the figures of papers. `cargo test` leaves them out;
//! `cargo test --test slow` runs them, and `.ci/run` does.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers of tests stop a test as tests do"
)]

mod compare;
mod figure_5;
mod papers_learning;
mod planned;

#[path = "../suite/program.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod program;
