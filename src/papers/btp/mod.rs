//! BTP's budget planning: how much each tool is worth to a query, and how often it may be used so that
//! the budget holds.
//!
//! [`Evidence`] turns past uses of a tool into its expected value and a limit of its uses (equations 3
//! and 4). [`plan`] solves the bounded knapsack of algorithm 1 over these, [`marginal`] says what more
//! credits would buy, and [`why`] tells a person what became of each candidate.
//!
//! [`candidates`] chooses and values the tools that a task is planned with, and [`policy`] holds a task to
//! its plan.
//!
//! # How a plan is found
//!
//! Algorithm 1 as printed fills a table of tools × credits × uses. Here most tools are decided before
//! any table is made, so that a plan of 16,000 tools follows a knob that is dragged:
//!
//! 1. `scale` makes costs and values whole numbers, so that ties are ties.
//! 2. `reduce` narrows each tool's uses to those that the best plan can have: by tools that are better
//!    in both respects, and by what a credit is worth.
//! 3. The few tools that are left open go through one of two exact searches that break ties alike:
//!    `table`, one cell for each unit of budget, or `frontier`, which keeps only combinations worth
//!    having and does not mind how fine costs are.
//!
//! Everything here is pure: no files, no clock, no chance.

pub mod candidates;
mod estimate;
mod frontier;
mod knapsack;
mod marginal;
mod plan;
pub mod policy;
mod reduce;
mod scale;
mod table;
mod why;

pub use estimate::{Estimate, Evidence};
pub use marginal::{Change, Marginal, Step, marginal};
pub use plan::{BadInput, Candidate, Field, Plan, plan};
pub use why::{Why, why};
