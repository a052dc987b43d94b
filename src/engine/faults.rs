//! The station at which things are made to go wrong.

use std::time::Duration;

use super::core::Core;
use crate::{
    domain::{
        chance::Chance,
        error::{ToolError, ToolErrorKind},
        fault::{FaultKind, Occasion},
        id::{EffectId, FaultId, ToolName},
        output::ToolOutput,
    },
    tool::{Invocation, Tool},
};

/// The fault that fires on this call, which has just started: the one armed first.
pub(super) fn firing(
    core: &Core,
    call: EffectId,
    tool: &ToolName,
    chance: Chance,
) -> Option<(FaultId, FaultKind)> {
    let task = core.state.call(call)?.task.0;
    let fault = core.state.faults.iter().find(|(id, fault)| {
        let chance = chance.with(b"fault").with(&id.0.to_le_bytes());
        fault.armed
            && fault.spec.tool == *tool
            && fault.spec.fires(Occasion { task, nth: fault.seen, chance })
    });
    fault.map(|(id, fault)| (*id, fault.spec.kind.clone()))
}

/// Runs the call as the fault has it, or as it is. To the agent both look alike.
pub(super) async fn run(
    fault: Option<FaultKind>,
    tool: &dyn Tool,
    invocation: &Invocation,
) -> Result<ToolOutput, ToolError> {
    match fault {
        None => tool.call(invocation).await,
        Some(FaultKind::Latency { ms }) => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            tool.call(invocation).await
        }
        Some(FaultKind::Timeout) => std::future::pending().await,
        Some(FaultKind::Error { text }) => Err(ToolError::new(ToolErrorKind::Failed, text)),
        Some(FaultKind::Empty) => Ok(ToolOutput { text: String::new(), cut_from: None }),
        Some(FaultKind::Garbage) => {
            Ok(ToolOutput { text: garbage(Chance::new(invocation.seed)), cut_from: None })
        }
    }
}

/// Forty characters that mean nothing.
fn garbage(chance: Chance) -> String {
    const SIGNS: &[u8] = b"#@%&$!?~^*+=<>|/0123456789abcdefxyzQWJK ";
    (0u8..40)
        .map(|i| {
            let at = chance.with(&[i]).bits() as usize % SIGNS.len();
            char::from(SIGNS[at])
        })
        .collect()
}
