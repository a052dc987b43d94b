//! ATC: a model writes one Python program over the tools for a whole task (Shi et al. 2024).
//!
//! [`extract`] takes the program out of a reply. [`flaws`] says what keeps it from running, and [`prepare`] rewrites it
//! so that it can be stopped and its calls have places. [`blame`] finds the tool behind an error, from the program by
//! data flow or from a model's words. [`probing`] is the order in which tools are probed. [`record`] runs a program again,
//! and [`compare`] what two of them called. [`metrics`] scores the tools that a program called against a gold path,
//! [`measures`] the programs of a task.
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
