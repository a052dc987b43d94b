//! Opens the encrypted connections of an agent, where a person chose that. The listener is the agent's proxy then: it opens
//! connections to hosts of a list with certificates of its own, and passes all others unread.

mod authority;
mod bundle;
mod hosts;

pub use self::authority::Authority;
pub use self::bundle::{BundleError, TrustBundle};
pub use self::hosts::{BadHost, OpenedHosts};

/// The authority, the hosts and the password of a listener that opens connections.
#[derive(Debug)]
pub struct Intercepting {
    pub authority: Authority,
    pub hosts: OpenedHosts,
    /// The password of the proxy. Only the agent and what it starts may use it.
    pub token: String,
}

/// The host to which an opened connection leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Intercepted {
    pub host: String,
    pub port: u16,
}
