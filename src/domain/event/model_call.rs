//! Model calls, from the request to the end.

use std::sync::Arc;

use super::{Bill, EffectRef, family::family};
use crate::chat::{Reply, Request, Role};
use crate::finite::Finite;
use crate::id::{ModelName, TaskId};
use crate::sent_body::SentBody;
use crate::wire_answer::WireAnswer;
use crate::{error::ModelError, plan::EvidenceId};

family! {
    /// Model calls, from the request to the end.
    pub enum ModelCallEvent {
        /// The agent wants to call a model: exactly what the model will see. Nothing has been sent
        /// yet.
        ModelCallRequested {
            effect: EffectRef,
            task: TaskId,
            role: Role,
            model: ModelName,
            request: Arc<Request>,
            /// The evidence of a plan that the call must find.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            evidence: Option<EvidenceId>,
        },
        ModelCallStarted {
            effect: EffectRef,
        },
        /// A watched agent's own body, as it went to the endpoint.
        ModelCallSent {
            effect: EffectRef,
            body: SentBody,
        },
        /// The endpoint's answer to a watched agent, as it came, once it is complete.
        ModelCallAnswered {
            effect: EffectRef,
            answer: Arc<WireAnswer>,
        },
        /// More of the answer arrived. Many small pieces are one event.
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
            /// The cost; `None` if the price is unknown.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            dollars: Option<Finite>,
        },
        ModelCallFailed {
            effect: EffectRef,
            error: ModelError,
            /// The probable cost despite the failure; `None` if no part of an answer had arrived.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            billed: Option<Bill>,
        },
    }
}
