//! The laboratory's tests that take longest: whole comparisons, the figures of papers, and the commands of its pages.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the helpers of tests stop a test as tests do"
)]

mod bench;
mod compare;
#[path = "../debugger.rs"]
#[expect(dead_code, reason = "the suite needs more of it")]
mod debugger;
mod figure_5;
mod figures;
#[path = "../../../tests/suite/markdown.rs"]
#[expect(dead_code, reason = "the program's guide needs more of it")]
mod markdown;
mod pages;
mod papers_learning;
mod planned;
#[path = "../../../tests/suite/program.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod program;
#[path = "../../../tests/suite/sitting.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod sitting;
#[path = "../../../tests/suite/pages.rs"]
mod steps;
#[path = "../../../tests/figures/mod.rs"]
#[expect(dead_code, reason = "the suite checks the list itself")]
mod told;

use self::debugger::{root, toolyard};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_toolyard-lab");

/// The list of the numbers of pages.
const FIGURES: &str = "figures.toml";
