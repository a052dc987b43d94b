//! Queries about tool servers.

use crate::id::ToolName;
use crate::state::{ChangedDefinition, State};

impl State {
    /// The changed definition of a tool, which a person has not accepted yet.
    pub fn changed_definition(&self, tool: &ToolName) -> Option<&ChangedDefinition> {
        self.servers.values().find_map(|server| server.changed.get(tool))
    }
}
