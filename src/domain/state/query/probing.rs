//! Results of the last probing of tools, and its cost (ATC, table 5). Probing is accounted separately: no task pays for
//! it.

use serde::Serialize;

use crate::finite::Finite;
use crate::state::State;

/// The last probing of a session.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbingSums {
    /// Tools that answered.
    pub reached: usize,
    /// Tools that were to be probed.
    pub tools: usize,
    /// The last pass; 0: no other tools were used.
    pub passes: u32,
    /// Programs that were run.
    pub programs: u32,
    /// Calls of tools.
    pub calls: usize,
    /// Tokens of the prober, in and out.
    pub tokens: u64,
    /// Credits of all calls.
    pub credits: Finite,
}

impl State {
    /// `None` without a probing.
    pub fn probing_sums(&self) -> Option<ProbingSums> {
        let probing = self.probing.as_ref()?;
        let (reached, tools) = probing.reached();
        let task =
            self.tasks.iter().rfind(|task| task.task.probe.is_some() && task.started.is_some());
        Some(ProbingSums {
            reached,
            tools,
            passes: probing.pass,
            programs: probing.rows.values().map(|row| row.samples).sum(),
            calls: task.map_or(0, |task| task.tool_calls.len()),
            tokens: probing.rows.values().fold(0, |sum, row| row.tokens.saturating_add(sum)),
            credits: task.map_or(0.0, |task| task.credits()).into(),
        })
    }
}
