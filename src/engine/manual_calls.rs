//! Tool calls that a person makes, beside the agent. They take the one path of all effects, with gate and faults, but
//! belong to no task: they have no budget, are not judged, and teach nothing.

use serde_json::Value;

use super::effect::{self, Effect, ToolCall};
use super::{
    handle::Handle,
    session::{Session, lanes::Waits},
};
use crate::domain::{By, TaskId, ToolName};

impl Session {
    /// Requests a call; it runs as soon as the engine is free.
    pub fn call_by_hand(&mut self, tool: ToolName, arguments: Value) -> Result<(), String> {
        if self.kit().tools.get(tool.as_str()).is_none() {
            return Err(format!("there is no tool {tool}"));
        }
        let task = self.state().shown_task().map_or(TaskId(0), |task| task.id);
        let call = ToolCall {
            step: 0,
            tool,
            arguments,
            evidence: None,
            by: By::User,
            line: None,
            guest: None,
        };
        let requested = effect::request(self, task, Effect::Tool(call), None, Waits::Person);
        self.queue_by_hand(requested);
        Ok(())
    }
}

/// Runs the calls that are requested, all beside each other.
pub(super) fn watch(handle: &Handle) {
    let (watched, called) = (handle.clone(), handle.read(Session::called_by_hand));
    handle.spawn(async move {
        loop {
            called.notified().await;
            for requested in watched.write(Session::take_by_hand) {
                let handle = watched.clone();
                watched.spawn(async move {
                    effect::perform(&handle, requested).await;
                });
            }
        }
    });
}
