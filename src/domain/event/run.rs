//! Runs: agents at work in one session.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::family::family;
use crate::id::{EffectId, RunId};
use crate::strategy::Strategy;
use crate::unread_input::Unread;
use crate::words::quoted;
use crate::{Finite, ModelName, ToolName, Usage};

family! {
    /// Runs beside the first, which every session has, and the conversations of watched agents.
    pub enum RunEvent {
        /// A run joined; its tasks are those that name it.
        RunOpened {
            run: RunId,
            /// Strategy of the run; `None`: the session's strategy.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            strategy: Option<Strategy>,
            /// The conversation of a watched agent. The first of a session is the first run.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            guest: Option<Arc<Guest>>,
        },
        /// A watched agent sent a different past than before.
        HistoryRewritten {
            run: RunId,
            /// Number of messages that stayed at the beginning.
            kept: u32,
            /// Number of dropped messages. Old journals count all messages after those that stayed.
            dropped: u32,
            /// The model call that reads the new past.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            call: Option<EffectId>,
            /// The dropped messages; `None`: unknown.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            gone: Option<Arc<Gone>>,
        },
        /// A request does not begin with the whole request before it, so the cache is of no use after that point.
        PrefixLost {
            run: RunId,
            call: EffectId,
            lost: Arc<LostPrefix>,
        },
        /// The endpoint counted fewer tokens than the request has.
        InputUnread {
            run: RunId,
            call: EffectId,
            unread: Unread,
        },
        /// An agent that runs again over a record sent a different request. From here on the record has no answers for
        /// this conversation.
        RunParted {
            run: RunId,
            /// The first field that differs, such as `messages[3].content`.
            field: String,
            /// Content of the field in the agent's request; empty: none.
            asked: String,
            /// Content of the field in the record; empty: none.
            recorded: String,
            /// The record of the most similar request; `None`: no request is left.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            nearest: Option<u64>,
            /// The journal that this record is in, where the agent runs over several.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            journal: Option<String>,
            /// The request is refused, and the agent is to end. Otherwise it goes to the endpoint.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            refused: bool,
        },
        /// A tool of an agent that runs again over a record returned something else than then.
        ResultDrifted {
            run: RunId,
            drift: Arc<Drift>,
        },
        /// A request of a watched agent went through unread.
        RequestPassed {
            /// Method and path.
            what: String,
            /// Why it was not understood; `None` if requests of its kind are always passed on.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            why: Option<String>,
        },
        /// The answer to a request of a watched agent that went through unread told what it cost.
        RequestMetered {
            /// The service that the request asked for, such as `embeddings`.
            service: String,
            model: ModelName,
            usage: Usage,
            /// US dollars; `None` if no price is known.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            dollars: Option<Finite>,
        },
        /// The listener opens encrypted connections of watched agents to hosts of a list.
        Intercepting {},
        /// A watched agent was started.
        AgentStarted {
            command: String,
        },
        /// A watched agent that was started has ended.
        AgentEnded {
            /// Exit code of the agent; `None` if a signal ended it.
            code: Option<i32>,
        },
    }
}

/// Messages that an agent does not send any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    /// The first of them.
    pub messages: Vec<GoneMessage>,
    /// Bytes of the texts and the arguments of all.
    pub bytes: u64,
}

/// A message that an agent does not send any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoneMessage {
    /// Role of the message, as in OpenAI chat.
    pub role: String,
    pub begins: String,
    pub bytes: u64,
}

/// The first part in which a request differs from the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostPrefix {
    /// The model call before.
    pub after: EffectId,
    /// `model`, `tools[3] search: description`, `system` or `messages[2].content`.
    pub field: String,
    /// Content of the field in the earlier request, around the place that differs; empty: none.
    pub was: String,
    pub now: String,
}

/// A result that differs from the one that the same call had in the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    pub call: EffectId,
    pub tool: ToolName,
    /// The first place that differs, such as `result.rows[2].price`.
    pub field: String,
    /// The content there now and in the record; empty: none.
    pub now: String,
    pub recorded: String,
}

impl Drift {
    /// The call with the difference, for people.
    pub fn told(&self) -> String {
        format!("{}, call {}: {}", self.tool, self.call, self.difference())
    }

    /// The difference, for people: `result is “3”, recorded was “4”`.
    pub fn difference(&self) -> String {
        let (now, recorded) = (quoted(&self.now), quoted(&self.recorded));
        format!("{} is {now}, recorded was {recorded}", self.field)
    }
}

/// A conversation of a watched agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// The run whose tool call began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// The format of its requests, for people.
    pub wire: String,
    /// The endpoint that it calls.
    pub endpoint: String,
    /// The client's own word for its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Milliseconds that the client waits for an answer, as the client reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
}

impl Guest {
    /// The format of the calls that a relay of an MCP server sees.
    pub const MCP: &str = "MCP";

    /// Whether the agent calls the tools of an MCP server, and no model.
    pub fn is_of_tools(&self) -> bool {
        self.wire == Self::MCP
    }
}
