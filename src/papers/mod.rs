//! What the papers compute, as pure functions: a module each, with its equations.

pub mod btp;
pub mod grading;
pub mod metrics;
pub mod plan;
pub mod toolnet;
