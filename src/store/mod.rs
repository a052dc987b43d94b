//! Data that outlives a session: journals, experience, tasks, prices, and imports from other
//! programs.

pub mod breakpoints;
pub mod experience;
pub mod few_shots;
pub mod import;
pub mod journal;
pub mod kept;
pub mod prices;
pub mod prompts;
mod sqlite;
pub mod states;
pub mod tasks;
