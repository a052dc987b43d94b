//! What the laboratory repeats of the program's workspace is the same there.

use std::fs;

use toml::{Table, Value};

fn read(path: &str) -> Table {
    fs::read_to_string(crate::root().join(path)).unwrap().parse().unwrap()
}

#[test]
fn versions_lints_and_profiles_are_those_of_the_program() {
    let (own, all) = (read("lab/Cargo.toml"), read("Cargo.toml"));
    let workspace = &all["workspace"];
    assert_eq!(own["lints"], workspace["lints"]);
    assert_eq!(own["profile"]["dev"], all["profile"]["dev"]);
    for field in ["version", "edition", "rust-version", "license"] {
        assert_eq!(own["package"][field], workspace["package"][field], "{field}");
    }
    let shared = workspace["dependencies"].as_table().unwrap();
    for list in ["dependencies", "dev-dependencies"] {
        for (name, version) in own[list].as_table().unwrap() {
            let is_room = |value: &Value| value.get("path").is_some();
            let same = shared.get(name).filter(|value| !is_room(value));
            assert!(same.is_none_or(|same| same == version), "{name}: {version}, not {same:?}");
        }
    }
}

#[test]
fn crates_of_others_have_the_versions_that_the_program_has() {
    let versions = |path: &str| -> Vec<(String, String)> {
        let lock = read(path);
        let packages = lock["package"].as_array().unwrap().iter();
        let text = |package: &Value, field: &str| package[field].as_str().unwrap().to_owned();
        packages.map(|package| (text(package, "name"), text(package, "version"))).collect()
    };
    let (own, all) = (versions("lab/Cargo.lock"), versions("Cargo.lock"));
    let others = own.iter().filter(|(name, version)| {
        let is_there = all.iter().any(|(known, _)| known == name);
        is_there && !all.contains(&(name.clone(), version.clone()))
    });
    let others: Vec<_> = others.collect();
    assert!(others.is_empty(), "other versions than in ../Cargo.lock: {others:?}");
}
