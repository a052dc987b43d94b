//! Tests of `tests/slow/watched` with longer times, and what its tests and the long runs share.

#[path = "../slow/watched/http.rs"]
pub mod http;
#[path = "../slow/watched/started.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
pub mod started;

use std::path::Path;
use std::process::Command;

#[test]
fn many_streams_go_on_for_five_minutes() {
    test("watched::streams", &[("TOOLYARD_WATCH_SECONDS", "300")]);
}

#[test]
fn clients_that_wait_for_ten_seconds_are_held_for_ninety() {
    test("watched::held", &[("TOOLYARD_PATIENCE", "10"), ("TOOLYARD_HELD", "90")]);
}

#[test]
fn toolyard_is_killed_at_482_moments() {
    test("watched::random_kills", &[("TOOLYARD_WATCH_KILLS", "482")]);
}

#[test]
fn a_hundred_thousand_damaged_streams_pass() {
    test("watched::mutated", &[("TOOLYARD_WATCH_STREAMS", "100000")]);
}

fn test(name: &str, variables: &[(&str, &str)]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tested = Command::new(env!("CARGO"))
        .args(["test", "--release", "--locked", "--test", "slow", name, "--", "--nocapture"])
        .envs(variables.iter().copied())
        .current_dir(root)
        .status()
        .expect("cargo runs");
    assert!(tested.success(), "{tested}");
}
