//! Shared parts of HTTP clients: their construction, the addresses that they may reach, compressed bodies, the
//! waiting times that servers ask for, and the secrets that must stay hidden.

use toolyard_domain as domain;

pub mod client;
pub mod coding;
mod decode;
pub mod guard;
pub mod kept_body;
pub mod known;
pub mod learn;
mod pieces;
pub mod retry_after;
pub mod secret;
mod spelling;
