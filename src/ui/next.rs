//! A beginning that takes the place of a session.

use std::path::PathBuf;

/// A beginning that takes the place of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextSession {
    /// The demo of this name.
    Demo(&'static str),
    /// A new project in the working directory.
    Project,
    /// The tools of the API that this file describes.
    Import(PathBuf),
}
