//! One test binary: each concern is a module, and the crate is linked once.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the helpers of tests stop a test as tests do, and say what was skipped"
)]

use std::path::PathBuf;

mod answers;
mod architecture;
mod ask;
mod atc_films;
mod atc_programs;
mod atc_vectors;
mod attach;
mod brush;
mod circles;
mod cli;
mod config;
mod configured;
mod copied;
mod doctor;
mod dollars;
mod doors;
mod encoder;
mod endpoint_cases;
mod ends;
mod engine;
mod experience;
mod fake_endpoint;
mod fault_search;
mod figures;
mod forgetting;
mod forking;
mod forks;
mod grading;
mod graph;
mod graph_exports;
mod honest;
mod honesty;
mod hostile;
mod hostile_home;
mod hostile_numbers;
mod http_tools;
mod import;
mod import_cases;
mod import_forms;
mod import_openapi;
mod index;
mod inputs;
mod intercept;
mod interrupted;
mod jobs;
mod journal;
mod keys;
mod lines;
mod listing;
mod manifest_cases;
mod markdown;
mod mcp;
mod menus;
mod model_http;
mod model_llmock;
mod model_native;
mod model_openai;
mod model_text;
mod modules;
mod mutated;
mod mutations;
mod odd_input;
mod outside;
mod packed;
mod pairing;
mod panes;
mod papers_btp;
mod papers_toolnet;
mod plan_styles;
mod plan_text;
mod planned;
mod planted;
mod playing;
mod policy;
mod prices;
mod processes;
mod program;
mod programs;
mod pty;
mod reactions;
mod reader;
mod reader_hostile;
mod readme;
mod relay;
mod resilience;
mod role_settings;
mod rules;
mod samples;
mod scenarios;
mod score;
mod screens;
mod secrets;
mod secrets_watched;
mod session;
mod sitting;
mod sources;
mod spare;
mod spending;
mod stage;
mod story;
mod strict;
mod supply;
mod sweeps;
mod swept;
mod symbols;
mod terminal;
mod themes;
mod time;
#[path = "../figures/mod.rs"]
#[expect(dead_code, reason = "other tests run what the list names")]
mod told;
mod told_figures;
mod told_states;
mod tools;
mod trials;
mod trust;
mod tuning;
mod twins;
mod walls;
mod watched_demo;
mod watching;
mod wording;
mod working;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_toolyard");

/// The list of the numbers of pages.
const FIGURES: &str = "docs/figures.toml";

/// A file of golden values, which are part of the project: every clone asserts them.
fn vectors(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A file or folder of the data of others that lies beside the project; `None`, loudly, where it is not there.
fn shared(path: &str) -> Option<PathBuf> {
    let full = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared").join(path);
    if full.exists() {
        return Some(full);
    }
    eprintln!("SKIPPED: this test needs ../shared/{path}");
    None
}
