//! Servers of models on this machine: the usual addresses, and which of them answer.

mod find;
mod places;

pub use self::find::{Absent, ModelServer, hosted, look};
pub use self::places::{ServerAddress, places};
