//! Servers of tools: how they stand, and what they say beside their answers.

use std::sync::Arc;

use super::{By, family::family};
use crate::id::ToolName;

family! {
    /// Servers of tools: how they stand, and what they say beside their answers. `server` is the key of its entry in the
    /// configuration.
    pub enum ServerEvent {
        /// It is being started: for the first time, or again.
        ServerStarted {
            server: Arc<str>,
        },
        /// It has listed its tools. How long that took is the time since its start.
        ServerReady {
            server: Arc<str>,
            /// Its own name and version, for people; empty where it does not say them.
            program: String,
            /// The agreed revision of the protocol.
            revision: String,
            /// How many tools it has, with those that are not offered.
            tools: u32,
        },
        /// It has ended, or could not be started.
        ServerDied {
            server: Arc<str>,
            why: String,
            /// After how many milliseconds it is started again.
            again_ms: u64,
        },
        /// It is never started.
        ServerOff {
            server: Arc<str>,
            why: String,
        },
        /// The definition of a tool is not the one that was seen before; the tool is disabled until a person accepts it.
        DefinitionChanged {
            server: Arc<str>,
            tool: ToolName,
            /// SHA-256 of the new definition, in hexadecimal.
            hash: Arc<str>,
            /// How both differ, as lines that begin with `+`, `-` or a space.
            difference: Arc<str>,
        },
        DefinitionAccepted {
            server: Arc<str>,
            tool: ToolName,
            hash: Arc<str>,
            by: By,
        },
        /// Lines of its standard error and its log.
        ServerSaid {
            server: Arc<str>,
            lines: Vec<String>,
            /// How many lines before these are left out, since it wrote too many at once.
            #[serde(default, skip_serializing_if = "is_zero")]
            left_out: u64,
        },
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
