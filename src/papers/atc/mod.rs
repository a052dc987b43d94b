//! ATC: a model writes one Python program over the tools for a whole task (Shi et al. 2024).
//!
//! [`schema`] learns what a tool answers from its results, and who has a missing key. [`metrics`] scores the tools that
//! a program called against a gold path.
//!
//! Everything here is pure: programs are parsed, and never run.

pub mod metrics;
pub mod schema;
