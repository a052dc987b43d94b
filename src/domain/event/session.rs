//! What a session is made of, and how it ends.

use std::sync::Arc;

use super::{Opening, Reach, family::family};
use crate::domain::id::{ModelName, ToolName};
use crate::domain::{pairs::PairTally, spec::ToolSpec};

family! {
    /// What a session is made of, and how it ends.
    pub enum SessionEvent {
        /// First event of every session.
        SessionOpened {
            #[serde(flatten)]
            opening: Box<Opening>,
        },
        /// Nothing follows.
        SessionEnded {
            why: String,
        },
        /// These tools can be used from now on (all of them at the start, later ones live). A tool of a
        /// known name replaces the old one.
        ToolsAdded {
            tools: Vec<Arc<ToolSpec>>,
        },
        /// These tools are gone.
        ToolsRemoved {
            tools: Vec<ToolName>,
        },
        /// The results of tasks in earlier sessions of this workspace, by pair of planner and solver.
        PairsLoaded {
            pairs: Vec<PairTally>,
        },
        /// The probe of these models has started; it costs no tokens.
        ModelsProbed {
            models: Vec<ModelName>,
        },
        ModelReached {
            model: ModelName,
            how: Reach,
            /// For a person.
            text: String,
        },
        /// Something that a person should know and that changes nothing.
        Noticed {
            text: String,
        },
        /// A wish could not be granted.
        CommandRefused {
            command: String,
            why: String,
        },
    }
}
