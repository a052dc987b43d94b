//! The laboratory: its program, its agents and its imports.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the helpers of tests stop a test as tests do, and say what was skipped"
)]

mod agents;
mod bench;
mod compare;
mod cotools;
mod cotools_vectors;
#[path = "../debugger.rs"]
mod debugger;
mod drawings;
mod figures;
mod graph;
#[path = "../../../tests/suite/honesty.rs"]
mod honesty;
#[path = "../../../tests/suite/hostile_home.rs"]
mod hostile_home;
mod import_api_bank;
mod import_qa;
mod manifest;
mod printed;
#[path = "../../../tests/suite/program.rs"]
mod program;
mod programs;
#[path = "../../../tests/figures/mod.rs"]
#[expect(dead_code, reason = "other tests run what the list names")]
mod told;

use self::debugger::{root, shared, toolyard};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_toolyard-lab");

/// The list of the numbers of pages.
const FIGURES: &str = "figures.toml";
