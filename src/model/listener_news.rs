//! The events that a listener of watched agents reports to a session.

use crate::domain::Usage;
use crate::relay::Arrival;

/// An event that a listener reports to a session.
#[derive(Debug)]
pub enum ListenerNews {
    Arrived(Box<Arrival>),
    /// A request went through unread: its method and path, and why it was not understood, if it should have been.
    Passed {
        what: String,
        why: Option<String>,
    },
    /// The answer to such a request told what it cost: the service that it asked for, the endpoint's own name of the model,
    /// the endpoint, and the tokens.
    Metered {
        service: String,
        model: String,
        endpoint: String,
        usage: Usage,
    },
    /// Encrypted connections to hosts of a list are opened.
    Intercepting,
    /// An agent was started by this command.
    Started {
        command: String,
    },
    /// The agent has ended, with this exit code or by a signal.
    Ended {
        code: Option<i32>,
    },
    /// Observations beside the requests of an agent, in case none was understood until its end, and advice for then;
    /// and the connections that surely went past the listener. Comes before the end.
    SeenBeside {
        facts: Vec<String>,
        advice: Vec<String>,
        past: Vec<String>,
    },
    /// A notice for people.
    Noticed(String),
}
