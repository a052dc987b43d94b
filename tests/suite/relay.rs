//! `toolyard mcp`: a relay between a client and a server, which are small programs of these tests.

mod client;
mod ends;
mod equal;
mod faults;
mod http;
mod recorded;
mod server;
mod sessions;
mod started;
