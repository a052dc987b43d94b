//! A beginning that takes the place of a session.

use std::path::PathBuf;

use crate::domain::{EffectId, edit::Edit};

/// A beginning that takes the place of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum NextSession {
    /// The demo of this name.
    Demo(&'static str),
    /// A new project in the working directory.
    Project,
    /// A watched session with these arguments of `toolyard watch`.
    Watch(Vec<String>),
    /// The tools of the API that this file describes.
    Import(PathBuf),
    /// A fork of the session of this journal.
    Fork(PathBuf, ForkPlace),
}

/// The moment of a fork on a screen, and what changes there.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkPlace {
    /// The number of the event that is looked at.
    pub at: u64,
    /// The call that changes; the fork is where that part of it is known.
    pub edit: Option<(EffectId, Box<Edit>)>,
}
