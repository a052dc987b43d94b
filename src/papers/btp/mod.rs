//! BTP's budget planning: the value of each tool for a query, and how often it may be used within
//! the budget.
//!
//! [`Evidence`] turns past uses of a tool into its expected value and a limit of its uses
//! (equations 3 and 4). [`plan`] solves the bounded knapsack of algorithm 1 over these,
//! [`marginal`] computes the value of more credits, and [`reasons`] explains the result for each
//! candidate.
//!
//! [`candidates`] chooses and values the tools for a task's plan, and [`policy`] enforces the plan.
//!
//! # How a plan is found
//!
//! Algorithm 1 as printed fills a table of tools × credits × uses. Here most tools are decided
//! before any table is made, so that a plan of 16,000 tools follows a knob that is dragged:
//!
//! 1. `scale` makes costs and values whole numbers, so that ties are ties.
//! 2. `reduce` narrows each tool's uses to those possible in the best plan: by tools that are
//!    better in both respects, and by the value of a credit.
//! 3. The few remaining tools go through one of two exact searches that break ties alike: `table`, with one cell per
//!    unit of budget, or `middle`, which works with any precision of costs. Its work is bounded: an unfinished search
//!    gives a good plan with a bound of its gap.
//!
//! Everything here is pure: no files, no clock, no randomness.

pub mod candidates;
mod count;
mod estimate;
#[cfg(test)]
mod families;
mod knapsack;
mod marginal;
mod middle;
mod plan;
pub mod policy;
mod reasons;
mod reduce;
mod scale;
mod spread;
mod states;
mod table;

pub use estimate::{Estimate, Evidence};
pub use marginal::{Marginal, MarginalStep, UseChange, marginal};
pub use plan::CandidateField;
pub use plan::{BadInput, Candidate, UsePlan, plan};
pub use reasons::{Why, why};
pub use spread::{spread, spread_marginal};
