//! The relay of an MCP server that is reached by streamable HTTP: a proxy on loopback in front of it. Requests and answers
//! pass as they came, but the calls of tools, about which a session decides as about those of
//! [`crate::mcp::relay`].

mod answers;
mod call;
mod events;
mod listen;
mod out;

pub use self::listen::{Relaying, serve};
