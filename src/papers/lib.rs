//! The algorithms of the papers, as pure functions: one module each, with its equations.

use toolyard_domain as domain;

pub mod agent_verdict;
pub mod atc;
pub mod btp;
pub mod calls;
pub mod cotools;
pub mod facts;
pub mod grading;
pub mod metrics;
pub mod noise;
pub mod plan;
pub mod reaction;
pub mod resilience;
pub mod share;
pub mod sweep;
pub mod toolnet;
