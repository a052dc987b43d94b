//! The client of MCP servers. Each server of a configuration is a provider of tools ([`McpServer`]), with a
//! connection that a task of the runtime opens, watches and opens again.
//!
//! The official SDK implements the protocol, in its revisions with and without `initialize`. It reads messages that
//! were repaired before (`mend.rs`): those of a program's lines (`lines.rs`), and those of HTTP (`http.rs`). The reaper
//! starts programs, so no program outlives toolyard.

pub(crate) mod answer;
mod call;
mod connect;
mod definition;
mod failure;
mod files;
mod http;
mod inherited_variables;
mod life;
mod lines;
mod list;
mod log;
mod message_repair;
mod request;
mod server;
mod server_requests;
mod stage;

pub use self::definition::{Definition, MAX_DESCRIPTION, MAX_SCHEMA};
pub use self::files::ServerFiles;
pub use self::inherited_variables::withheld;
pub use self::server::McpServer;
pub use self::stage::{Offer, Stage};
