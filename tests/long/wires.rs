//! What every format writes is read again, in a hundred thousand cases of each property.

use std::path::Path;
use std::process::Command;

/// Cases of each property. `src/wire/lib.rs` reads the variable.
const CASES: &str = "100000";

#[test]
fn every_format_reads_what_it_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tested = Command::new(env!("CARGO"))
        .args(["test", "--release", "--locked", "-p", "toolyard-wire"])
        .env("TOOLYARD_WIRE_CASES", CASES)
        .current_dir(root)
        .status()
        .expect("cargo runs");
    assert!(tested.success(), "{tested}");
}
