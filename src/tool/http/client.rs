//! The clients of tools.

use std::{cell::OnceCell, time::Duration};

use reqwest::Client;

use crate::net::guard::{self, Redirects};
use crate::{ToolError, ToolErrorKind};

/// Time limit for a connection; the whole call has the limit of its manifest.
const CONNECT: Duration = Duration::from_secs(10);

thread_local! {
    /// The clients of one session, which runs on its own thread: its tools share connections, which end with it.
    /// Creating a client reads the system's certificates, so each is created once.
    static CLIENTS: [OnceCell<Client>; 2] = const { [OnceCell::new(), OnceCell::new()] };
}

/// A client that checks the addresses of names, or one that may reach any address.
///
/// # Errors
/// The system's certificates cannot be used.
pub(super) fn of(any_address: bool) -> Result<Client, ToolError> {
    CLIENTS.with(|clients| {
        let cell = &clients[usize::from(any_address)];
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        let builder = guard::builder(any_address, Redirects::None).connect_timeout(CONNECT);
        let client = builder.build().map_err(|why| {
            let text = format!("cannot create an HTTP client: {why}");
            ToolError::new(ToolErrorKind::Unavailable, text)
        })?;
        Ok(cell.get_or_init(|| client).clone())
    })
}
