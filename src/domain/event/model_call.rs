//! Model calls, from the request to the end.

use std::sync::Arc;

use super::{Bill, EffectRef, family::family};
use crate::domain::chat::{Reply, Request, Role};
use crate::domain::id::{ModelName, TaskId};
use crate::domain::{error::ModelError, plan::EvidenceId};

family! {
    /// Model calls, from the request to the end.
    pub enum ModelCallEvent {
        /// The agent wants to call a model: exactly what it will see. Nothing was sent yet.
        ModelCallRequested {
            effect: EffectRef,
            task: TaskId,
            role: Role,
            model: ModelName,
            request: Arc<Request>,
            /// The evidence of a plan that it is to find.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            evidence: Option<EvidenceId>,
        },
        ModelCallStarted {
            effect: EffectRef,
        },
        /// More of the answer came. Many small pieces are one event.
        ModelCallProgressed {
            effect: EffectRef,
            text: String,
            reasoning: String,
        },
        ModelCallRetried {
            effect: EffectRef,
            attempt: u32,
            wait_ms: u64,
            why: String,
        },
        ModelCallFinished {
            effect: EffectRef,
            reply: Arc<Reply>,
            /// What it cost; `None` where the price is unknown.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            dollars: Option<f64>,
        },
        ModelCallFailed {
            effect: EffectRef,
            error: ModelError,
            /// What it will have cost all the same; `None` where nothing of an answer had come.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            billed: Option<Bill>,
        },
    }
}
