//! Long runs: mutated inputs, kills and soaks. `cargo test --test long` runs each of them whole, which takes hours;
//! `tests/slow` runs a hundredth of each, and `.ci/run` with it. A real model is tried where two variables name one.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the helpers of tests stop a test as tests do"
)]

mod clouds;
mod coding;
mod figures;
mod forks;
mod frameworks;
mod logins;
mod packages;
mod real_model;
mod runner;
mod runs;
mod servers;
mod watched;
mod wires;

#[path = "../suite/forking.rs"]
mod forking;
#[path = "../suite/mutations.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod mutations;
#[path = "../suite/planted.rs"]
mod planted;
#[path = "../suite/program.rs"]
mod program;
#[path = "../suite/sitting.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod sitting;
#[path = "../suite/swept.rs"]
mod swept;
#[path = "../figures/mod.rs"]
#[expect(dead_code, reason = "the suite checks the list itself")]
mod told;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_toolyard");

/// The list of the numbers of pages.
const FIGURES: &str = "docs/figures.toml";

/// One part in this many of each run.
const PART: usize = 1;
