//! Probing: tools are called to learn what they return (ATC, section 4.3).

use std::sync::Arc;

use super::family::family;
use crate::id::{EffectId, TaskId, ToolName};
use crate::probe::{LearnedSchema, ProbeEnd, SchemaSource};
use crate::result_schema::Drift;

family! {
    /// Probing: tools are called to learn what they return (ATC, section 4.3).
    pub enum ProbeEvent {
        /// A task begins to probe these tools; the others are left out, each with the reason.
        ProbeStarted {
            task: TaskId,
            tools: Vec<ToolName>,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            left_out: Vec<(ToolName, String)>,
        },
        /// A program that probes a tool has ended.
        Probed {
            task: TaskId,
            tool: ToolName,
            /// 0: without other tools.
            pass: u32,
            /// From 1 within its pass; 0 without a program.
            sample: u32,
            /// The tools that it could use.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            helpers: Vec<ToolName>,
            /// Tokens that were sent and received for it.
            tokens: u64,
            end: ProbeEnd,
        },
        SchemaLearned {
            tool: ToolName,
            learned: Arc<LearnedSchema>,
            source: SchemaSource,
        },
        /// A result differs from the learned schema, which is widened to include it.
        SchemaDrifted {
            tool: ToolName,
            /// The call that returned it.
            call: EffectId,
            drift: Vec<Drift>,
        },
    }
}
