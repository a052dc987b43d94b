//! The fold of the status and the output of tool servers.

use super::Family;
use crate::event::ServerEvent;
use crate::id::TaskId;
use crate::state::{ChangedDefinition, ServerStage, State, What};

impl Family for ServerEvent {
    fn fold(&self, state: &mut State, at: u64) {
        match self {
            ServerEvent::ServerStarted { server } => {
                let server = state.servers.entry(server.clone()).or_default();
                server.stage = ServerStage::Starting;
                server.starts += 1;
                server.started_at = at;
            }
            ServerEvent::ServerReady { server, program, revision, tools } => {
                let server = state.servers.entry(server.clone()).or_default();
                let is_listed_again = matches!(server.stage, ServerStage::Ready { .. });
                if !is_listed_again {
                    let micros = at.saturating_sub(server.started_at);
                    server.stage = ServerStage::Ready { micros };
                }
                server.program.clone_from(program);
                server.revision.clone_from(revision);
                server.tools = *tools;
            }
            ServerEvent::ServerDied { server, why, again_ms } => {
                let server = state.servers.entry(server.clone()).or_default();
                server.stage = ServerStage::Down { why: why.clone(), at, again_ms: *again_ms };
            }
            ServerEvent::ServerOff { server, why } => {
                let server = state.servers.entry(server.clone()).or_default();
                server.stage = ServerStage::Off { why: why.clone() };
            }
            ServerEvent::DefinitionChanged { server, tool, hash, difference } => {
                let changed =
                    ChangedDefinition { hash: hash.clone(), difference: difference.clone() };
                let server = state.servers.entry(server.clone()).or_default();
                server.changed.insert(tool.clone(), changed);
            }
            ServerEvent::DefinitionAccepted { server, tool, .. } => {
                state.servers.entry(server.clone()).or_default().changed.remove(tool);
            }
            ServerEvent::ServerSaid { server, lines, left_out } => {
                state.servers.entry(server.clone()).or_default().say(lines, *left_out);
            }
        }
    }

    /// Leaves out servers that start or end: starts are not news, and the list of tools shows what happens to their
    /// tools.
    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            ServerEvent::ServerOff { .. }
            | ServerEvent::DefinitionChanged { .. }
            | ServerEvent::DefinitionAccepted { .. } => What::told(self.clone()),
            ServerEvent::ServerStarted { .. }
            | ServerEvent::ServerReady { .. }
            | ServerEvent::ServerDied { .. }
            | ServerEvent::ServerSaid { .. } => None,
        }
    }
}
