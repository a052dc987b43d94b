//! The sender of a request of a watched agent.

use std::time::Duration;

/// Facts about the sender of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The client's own word for its session: from the address, a header or the body.
    pub session: Option<String>,
    /// The number of earlier attempts, according to the client.
    pub retries: u32,
    /// How long the client waits, according to the client.
    pub patience: Option<Duration>,
    /// The endpoint that the request is for, as host and path: `api.openai.com/v1`.
    pub endpoint: String,
    /// The reason why the body must go to the endpoint as it came, for people; `None` if it may change.
    pub fixed: Option<&'static str>,
}
