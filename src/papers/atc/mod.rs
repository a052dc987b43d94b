//! ATC: a model writes one Python program over the tools for a whole task (Shi et al. 2024).
//!
//! [`extract`] takes the program out of a reply. [`flaws`] finds the errors that keep it from running, and [`prepare`]
//! rewrites it so that it can be stopped and its calls have places. [`blame`] finds the tool behind an error, by data
//! flow in the program or from a model's words. [`probing`] orders the probing of tools. [`record`] runs a program
//! again, and [`compare`] compares the calls of two. [`metrics`] scores the tools that a program called against a gold
//! path, and [`measures`] the programs of a task.
//!
//! Everything here is pure: programs are parsed, and never run.

pub mod blame;
mod bound;
mod builtins;
pub mod calls;
pub mod compare;
pub mod extra;
mod extract;
mod fence;
pub mod flaws;
pub mod identifiers;
pub mod literal;
pub mod measures;
pub mod metrics;
mod names;
mod place;
pub mod prepare;
pub mod probing;
pub mod record;
pub mod source;
mod syntax;

pub use self::extract::extract;
