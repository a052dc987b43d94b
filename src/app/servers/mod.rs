//! Servers of models on this machine: where they usually listen, and which of them answer.

mod find;
mod places;

pub use self::find::{Absent, ModelServer, hosted, look};
pub use self::places::{ServerAddress, places};
