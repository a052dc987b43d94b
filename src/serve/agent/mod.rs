//! The process of a watched agent, and the variables that send its model calls to toolyard.
//!
//! [`Recipes`] define which variables clients read. They produce an [`Environment`], with which an [`Agent`] is
//! started. If no request comes, [`silence_hints`] shows the hosts to which the agent is connected instead.

mod bypass_variables;
mod child;
mod command;
mod dotenv;
mod environment;
mod foreign_addresses;
mod login;
mod output;
mod places;
mod recipes;
pub mod secrets;
pub mod silence_hints;
mod sockets;
mod terminal;
#[cfg(test)]
mod testing;

pub use self::child::{Agent, Manner};
pub use self::command::StartError;
pub use self::environment::{Environment, Upstream};
pub use self::foreign_addresses::LedAway;
pub use self::login::KnownLogin;
pub use self::output::{AgentLine, Output, Stream};
pub use self::places::{Given, Variables};
pub use self::recipes::{Endpoint, ProgramRecipe, Recipes, apart};
