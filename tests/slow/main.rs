//! The tests that take longest: comparisons of many sessions, and every command of the guide. `cargo test` leaves them out;
//! `cargo test --test slow` runs them, and `.ci/run` does.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the helpers of tests stop a test as tests do"
)]

mod compare;
mod figures;
mod first_hour;
mod guide;
#[cfg(target_os = "linux")]
mod hostile_memory;
#[cfg(target_os = "linux")]
mod idle;
mod mcp_sdk;
mod mcp_servers;
mod pictures;
mod sdks;
mod watched;

#[path = "../suite/fake_endpoint.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod fake_endpoint;
#[path = "../suite/markdown.rs"]
mod markdown;
#[path = "../suite/mutations.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod mutations;
#[path = "../suite/pages.rs"]
mod pages;
#[path = "../suite/program.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod program;
#[path = "../long/runs/mod.rs"]
mod runs;
#[path = "../suite/sitting.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod sitting;
#[path = "../figures/mod.rs"]
#[expect(dead_code, reason = "the suite checks the list itself")]
mod told;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_toolyard");

/// The list of the numbers of pages.
const FIGURES: &str = "docs/figures.toml";

/// One part in this many of each long run.
const PART: usize = 100;
