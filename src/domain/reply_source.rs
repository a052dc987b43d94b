//! Endpoint that wrote a reply, and the fields that it wants back with the reply.
//!
//! Some endpoints put fields of their own into a reply, and refuse the conversation without them: signatures of
//! thoughts in calls (Gemini), reasoning beside calls (DeepSeek, Kimi). They are sent back in their place, only to the
//! endpoint that wrote them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::blocks::Block;

/// The endpoint that wrote a reply, and fields of its own in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplySource {
    /// The endpoint and the model, as [`ModelSpec::source`](crate::ModelSpec) has them.
    pub endpoint: String,
    /// Fields of the message.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub message: Map<String, Value>,
    /// The parts of the message, if it has more than its text and its calls, or has them in another order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
    /// Fields of calls, by the ids of the calls. `function` has the fields that were beside a function's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, Map<String, Value>>,
}
