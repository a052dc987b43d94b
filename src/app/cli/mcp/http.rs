//! The relay for a server with streamable HTTP.

use std::process::ExitCode;

use reqwest::Url;
use reqwest::header::HeaderMap;

use super::McpArgs;
use super::door::RelayNewsSender;
use crate::cli::trouble::Trouble;
use crate::serve::tools::{self, RelayTarget, Relaying};
use crate::serve::watch::bind;
use crate::shell::out::warn;
use crate::shell::runtime::interrupted;

/// Relays until a signal comes.
///
/// # Errors
/// The address to listen at is in use or not of this machine, or the server's is refused.
pub async fn serve(
    args: &McpArgs,
    key: &str,
    target: &Url,
    news: RelayNewsSender,
) -> Result<ExitCode, Trouble> {
    if !args.listen.ip().is_loopback() {
        let text =
            format!("--listen {}: other machines could reach it; expected 127.0.0.1", args.listen);
        return Err(Trouble::Usage(text));
    }
    let socket = bind(args.listen).map_err(Trouble::usage)?;
    let target = RelayTarget::new(target.clone(), args.any_address, HeaderMap::new());
    let target = target.map_err(Trouble::failed)?;
    warn(&format!("{key}: relays {}", target.address_at(&socket)));
    let (key, offered) = (key.to_owned(), args.offered());
    let relaying = Relaying { socket, target, key, news, offered };
    tokio::select! {
        served = tools::serve(relaying) => {
            served.map_err(Trouble::usage)?;
            Ok(ExitCode::SUCCESS)
        }
        signal = interrupted() => Ok(super::exit(128 + signal)),
    }
}
