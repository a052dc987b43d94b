//! Tool servers: their status, and their output besides results.

use std::sync::Arc;

use super::{By, family::family};
use crate::id::ToolName;

family! {
    /// Tool servers: their status, and their output besides results. `server` is the key of the server in the
    /// configuration.
    pub enum ServerEvent {
        /// A server is being started, for the first time or again.
        ServerStarted {
            server: Arc<str>,
        },
        /// A server has listed its tools. The time since `ServerStarted` is its startup time.
        ServerReady {
            server: Arc<str>,
            /// Name and version that the server reports, for people; empty if it reports none.
            program: String,
            /// The agreed revision of the protocol.
            revision: String,
            /// Number of its tools, including those that are not offered.
            tools: u32,
        },
        /// A server has ended, or could not be started.
        ServerDied {
            server: Arc<str>,
            why: String,
            /// Milliseconds until the server is started again.
            again_ms: u64,
        },
        /// A server is never started.
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
            /// Difference between the old and the new definition, as lines that begin with `+`, `-` or a space.
            difference: Arc<str>,
        },
        DefinitionAccepted {
            server: Arc<str>,
            tool: ToolName,
            hash: Arc<str>,
            by: By,
        },
        /// Lines of a server's standard error and log.
        ServerSaid {
            server: Arc<str>,
            lines: Vec<String>,
            /// Number of lines left out before these, because the server wrote too many at once.
            #[serde(default, skip_serializing_if = "is_zero")]
            left_out: u64,
        },
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
