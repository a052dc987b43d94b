//! The relay of an MCP server that is reached by streamable HTTP: a proxy on loopback in front of it. Requests and
//! answers pass unchanged, except for tool calls: a session decides about them as about those of [`crate::mcp::relay`].

mod client_answer;
mod events;
mod listen;
mod sides;
mod target;

pub use self::listen::{Relaying, serve};
pub use self::target::RelayTarget;
