//! Scripted agents behind an endpoint of this machine, for comparisons: they show whether a result also holds for an
//! agent unrelated to the simulated model. They share no code with that, have other habits and words, and see only the
//! requests of a session.
//!
//! Like the simulated model, they know which steps a task needs, but no result before a tool has returned it. What they
//! do never depends on the order of the tools in a request: an order is drawn by the seed of the session.

mod chain;
mod habits;
mod seen;
mod server;

pub use self::habits::Habits;
pub use self::server::serve;

/// Agents for every comparison.
pub const USUAL: [&Habits; 4] = [&habits::REGULAR, &habits::ROVER, &habits::SCOUT, &habits::CLERK];

/// An agent for large catalogues: a search by its words finds no tool.
pub const MUMBLER: &Habits = &habits::MUMBLER;

/// All agents, by the names of their models.
pub const AGENTS: [&Habits; 5] = [USUAL[0], USUAL[1], USUAL[2], USUAL[3], MUMBLER];

/// The agent whose model has this name.
pub fn named(model: &str) -> Option<&'static Habits> {
    AGENTS.into_iter().find(|agent| agent.name == model)
}
