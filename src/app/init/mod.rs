//! The beginning of a project: a configuration, a workspace with a first tool, and first tasks.

mod write;

pub use self::write::{WriteOutcome, files};
