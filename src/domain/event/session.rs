//! The contents of a session, and its end.

use std::sync::Arc;

use super::{Opening, Reach, Totals, family::family};
use crate::id::{ModelName, ToolName};
use crate::{
    pairs::PairTally,
    spec::{ModelSpec, ToolSpec},
};

family! {
    /// The contents of a session, and its end.
    pub enum SessionEvent {
        /// First event of every session.
        SessionOpened {
            #[serde(flatten)]
            opening: Box<Opening>,
        },
        /// No event follows.
        SessionEnded {
            why: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            totals: Option<Box<Totals>>,
        },
        /// Tools that can be used from now on: all of them at the start, later ones live. A tool with a known name
        /// replaces the old one.
        ToolsAdded {
            tools: Vec<Arc<ToolSpec>>,
        },
        /// Models that were not known before, such as those that a watched agent calls.
        ModelsAdded {
            models: Vec<Arc<ModelSpec>>,
        },
        /// Tools that no longer exist.
        ToolsRemoved {
            tools: Vec<ToolName>,
        },
        /// Results per planner/solver pair from earlier sessions in this workspace.
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
            /// For people.
            text: String,
        },
        /// A notice for the user that changes nothing.
        Noticed {
            text: String,
        },
        /// A command could not be applied.
        CommandRefused {
            command: String,
            why: String,
        },
    }
}
