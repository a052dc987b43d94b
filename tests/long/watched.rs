//! The streams of `tests/slow/watched` for five minutes.

use std::path::Path;
use std::process::Command;

#[test]
fn many_streams_go_on_for_five_minutes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tested = Command::new(env!("CARGO"))
        .args([
            "test",
            "--release",
            "--locked",
            "--test",
            "slow",
            "watched::streams",
            "--",
            "--nocapture",
        ])
        .env("TOOLYARD_WATCH_SECONDS", "300")
        .current_dir(root)
        .status()
        .expect("cargo runs");
    assert!(tested.success(), "{tested}");
}
