//! A small agent that toolyard watches like any foreign one, and the endpoint that it calls: for a demo without a key
//! and without a network. Both use HTTP on this machine. The agent knows its questions, its tools and the answers so
//! far; the simulated model behind the endpoint decides which calls to make.

mod agent;
mod endpoint;

pub use self::agent::{NAME, QUESTIONS, work};
pub use self::endpoint::{serve, spec};

/// The endpoint's name of its model.
const MODEL: &str = "simulated";

/// The tool by which the agent hands a question to a sub-agent.
const DELEGATE: &str = "delegate";
