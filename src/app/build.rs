//! Tells the program for which target and by which profile it is built. Cargo says the profile of the user in no variable,
//! so it is read from the path of this script's output.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = env::var("TARGET").unwrap_or_default();
    let out = env::var("OUT_DIR").unwrap_or_default();
    // FOLDER/PROFILE/build/toolyard-app-HASH/out
    let profile = Path::new(&out).ancestors().nth(3).and_then(Path::file_name);
    let profile = profile.and_then(|name| name.to_str()).unwrap_or_default();
    println!("cargo::rustc-env=TOOLYARD_TARGET={target}");
    println!(
        "cargo::rustc-env=TOOLYARD_PROFILE={}",
        if profile == "debug" { "dev" } else { profile }
    );
}
