//! A beginning that takes the place of a session.

use std::path::PathBuf;

/// A beginning that takes the place of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextSession {
    /// The demo of this name.
    Demo(&'static str),
    /// A new project in the working directory.
    Project,
    /// A watched session of the agent with this command.
    Watch(Vec<String>),
    /// The tools of the API that this file describes.
    Import(PathBuf),
}
