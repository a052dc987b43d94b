//! `toolyard --version --json`: which program this is, for scripts and reports of faults.

use serde::Serialize;

/// The program, and how it was built.
#[derive(Debug, Serialize)]
pub struct Version {
    name: &'static str,
    version: &'static str,
    /// The commit of its sources; `None`: it was not built for a release.
    commit: Option<&'static str>,
    /// The platform, such as `x86_64-unknown-linux-gnu`.
    target: &'static str,
    features: Vec<&'static str>,
    /// Cargo's profile: `dev`, `daily`, `release` or `dist`.
    profile: &'static str,
}

impl Version {
    /// The version of the program with this name.
    pub fn of(name: &'static str) -> Self {
        Self {
            name,
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("TOOLYARD_COMMIT"),
            target: env!("TOOLYARD_TARGET"),
            features: cfg!(feature = "stage").then_some("stage").into_iter().collect(),
            profile: env!("TOOLYARD_PROFILE"),
        }
    }
}
