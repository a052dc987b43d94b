//! What outlives a session: journals, experience, tasks, prices, and what other programs recorded.

pub mod experience;
pub mod import;
pub mod journal;
pub mod kept;
pub mod prices;
pub mod prompts;
pub mod tasks;
