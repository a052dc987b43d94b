//! The beginning of a project: a configuration, a workspace with a first tool, and first tasks.

mod find;
mod write;

pub use self::find::{Found, find};
pub use self::write::{Written, files};
