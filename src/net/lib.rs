//! What clients of HTTP share: how they are made, which addresses they reach, what a server says about waiting, and the
//! secrets that must stay hidden.

use toolyard_domain as domain;

pub mod client;
mod decode;
pub mod guard;
pub mod known;
mod pieces;
pub mod secret;
mod spelling;
pub mod waiting;
