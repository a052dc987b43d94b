//! The process of a watched agent, and what brings its model calls to toolyard.
//!
//! [`Recipes`] say which variables clients read. An [`Environment`] is made of them, and an [`Agent`] is started with it.
//! If no request comes, [`unseen`] says where the agent is connected to instead.

mod child;
mod command;
mod dotenv;
mod environment;
mod output;
mod recipes;
mod sockets;
mod terminal;
#[cfg(test)]
mod testing;
pub mod unseen;

pub use self::child::{Agent, Manner};
pub use self::command::StartError;
pub use self::environment::{Environment, Given, Lookup, Upstream};
pub use self::output::{AgentLine, Output, Stream};
pub use self::recipes::{Endpoint, ProgramRecipe, Recipes};
