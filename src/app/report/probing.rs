//! What a probing of tools reached, and what it took (ATC, table 5).

use serde::Serialize;

use crate::domain::State;

/// The last probing of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProbingReport {
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
}

impl ProbingReport {
    /// `None` without a probing.
    pub fn of(state: &State) -> Option<Self> {
        let probing = state.probing.as_ref()?;
        let (reached, tools) = probing.reached();
        let task = state.tasks.iter().rfind(|task| task.task.probe.is_some());
        Some(Self {
            reached,
            tools,
            passes: probing.pass,
            programs: probing.rows.values().map(|row| row.samples).sum(),
            calls: task.map_or(0, |task| task.tool_calls.len()),
            tokens: probing.rows.values().map(|row| row.tokens).sum(),
        })
    }
}
