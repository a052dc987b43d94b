//! ATC: a model writes one Python program over the tools for a whole task (Shi et al. 2024).
//!
//! [`extract()`] takes the program out of a reply. [`blame`] finds the tool behind an error, from the program by data
//! flow or from a model's words. [`schema`] learns what a tool answers from its results, and who has a missing key.
//! [`metrics`] scores the tools that a program called against a gold path.
//!
//! Everything here is pure: programs are parsed, and never run.

pub mod blame;
mod extract;
mod fence;
pub mod metrics;
mod names;
mod place;
pub mod schema;
mod syntax;

pub use self::{
    extract::{NoProgram, extract},
    place::Span,
    syntax::{LONGEST, NoSyntax, Tree},
};
