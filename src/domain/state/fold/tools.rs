//! Tools that come and go, and the totals of their calls.

use std::sync::Arc;

use crate::id::{TaskId, ToolName};
use crate::spec::ToolSpec;
use crate::state::{State, ToolState};

impl State {
    pub(super) fn join(&mut self, spec: Arc<ToolSpec>) {
        let name = spec.name.clone();
        self.learning.graph.add_tool(name.clone());
        match self.tools.get_mut(&name) {
            Some(tool) => {
                // Results that were learned before the change of its manifest may be wrong now.
                tool.learned.take_if(|_| tool.spec != spec);
                tool.spec = spec;
                tool.present = true;
            }
            None => {
                self.tools.insert(name, ToolState::new(spec));
            }
        }
    }

    pub(super) fn leave(&mut self, name: &ToolName) {
        self.learning.graph.remove_tool(name.as_str());
        if let Some(tool) = self.tools.get_mut(name) {
            tool.present = false;
        }
    }

    /// A call of this tool starts.
    pub(super) fn count_call(&mut self, name: &ToolName, task: TaskId) {
        let Some(tool) = self.tools.get_mut(name) else { return };
        let cost = self.rates.tool(tool.spec.cost);
        tool.started += 1;
        tool.credits += cost;
        self.charge_call(task, name, cost);
    }

    /// A call of this tool ended, after this time of its own if it ran at all.
    pub(super) fn count_end(
        &mut self,
        name: &ToolName,
        micros: Option<u64>,
        count: impl FnOnce(&mut ToolState),
    ) {
        if let Some(tool) = self.tools.get_mut(name) {
            tool.micros = tool.micros.saturating_add(micros.unwrap_or(0));
            count(tool);
        }
    }
}
