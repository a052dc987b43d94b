//! Opens a connection to a server: starts its program or calls its address, and agrees on a revision.

use std::collections::HashMap;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use reqwest::Url;
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::time::timeout;

use super::failure;
use super::http::HttpClient;
use super::inherited_variables::passed_on;
use super::lines::Lines;
use super::server_requests::Client;
use crate::net::guard::{self, Redirects};
use crate::process::RunningProgram;
use crate::{ServerEntry, Transport, header_values};

/// How long the connection to an address may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long the SDK waits for an answer to `server/discover`. A server that ignores it costs this time at each start.
const IGNORED: Duration = Duration::from_secs(10);
/// How long an address may take to agree on a revision, before `initialize` is tried alone. The SDK tries that
/// before over the same connection.
const AGREE: Duration = Duration::from_secs(12);

/// An open connection; dropping it ends the server's program.
pub struct ServerConnection {
    pub service: RunningService<RoleClient, Client>,
    pub program: Option<RunningProgram>,
    /// Whether the server does not bear another request before `initialize`.
    pub needs_greeting: bool,
}

/// Opens a connection; the caller limits the time. A server may not bear the request for its revision: it ends, or
/// answers with anything. Then `initialize` is tried alone, and first if that is known.
///
/// # Errors
/// Why it could not be opened.
pub async fn open(
    entry: &ServerEntry,
    client: &Client,
    needs_greeting: bool,
) -> Result<ServerConnection, String> {
    let begun = Instant::now();
    let first = match connect(entry, client, needs_greeting).await {
        // A program that ends after a long start has another reason.
        Err(failure) if failure.may_differ && !(failure.is_closed && begun.elapsed() > AGREE) => {
            failure
        }
        opened => return opened.map_err(|failure| failure.why),
    };
    match connect(entry, client, !needs_greeting).await {
        // What the server says to its greeting is about itself, and not about a question that it does not know.
        Err(Failure { why, .. }) => {
            Err(if needs_greeting || first.is_final { first.why } else { why })
        }
        opened => opened.map_err(|failure| failure.why),
    }
}

/// Why a connection was not opened.
#[derive(Default)]
struct Failure {
    why: String,
    /// Whether another first request may have another answer.
    may_differ: bool,
    /// Whether the server has said why no revision fits.
    is_final: bool,
    /// Whether the connection is closed, for which the end of the program is a better reason.
    is_closed: bool,
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self { why, ..Self::default() }
    }
}

impl From<&ClientInitializeError> for Failure {
    fn from(error: &ClientInitializeError) -> Self {
        let last = match error {
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => fallback,
            other => other,
        };
        Self {
            why: failure::of_start(error),
            may_differ: !failure::is_unreachable(last),
            is_final: matches!(error, ClientInitializeError::NoCompatibleProtocolVersion { .. }),
            is_closed: matches!(
                last,
                ClientInitializeError::ConnectionClosed(_)
                    | ClientInitializeError::TransportError { .. }
            ),
        }
    }
}

/// Connects by `initialize` alone, or by asking for the revision first.
async fn connect(
    entry: &ServerEntry,
    client: &Client,
    needs_greeting: bool,
) -> Result<ServerConnection, Failure> {
    let client = Client { is_old: needs_greeting, ..client.clone() };
    let lifecycle = if needs_greeting { ClientLifecycleMode::Initialize } else { revisions() };
    match &entry.transport {
        Transport::Stdio { command, args, env, cwd } => {
            let mut program = Command::new(command);
            program.args(args).env_clear();
            program.envs(passed_on());
            program.envs(env.iter().map(|(name, value)| (name, value.expose())));
            if let Some(cwd) = cwd {
                program.current_dir(cwd);
            }
            let (program, pipes) =
                RunningProgram::start(&program).map_err(|error| error.to_string())?;
            let started = program.started().await;
            started.map_err(|why| format!("{command:?} cannot be started: {why}"))?;
            let log = client.log.clone();
            tokio::spawn(async move { log.follow(pipes.stderr).await });
            let begun = Instant::now();
            let lines = Lines::new(pipes.stdout, pipes.stdin, client.log.clone());
            match client.serve_with_lifecycle(lines, lifecycle).await {
                Ok(service) => {
                    let needs_greeting = needs_greeting || begun.elapsed() > IGNORED;
                    Ok(ServerConnection { service, program: Some(program), needs_greeting })
                }
                Err(error) => {
                    let mut failure = Failure::from(&error);
                    if failure.is_closed {
                        failure.why = ended(&program, failure.why).await;
                    }
                    Err(failure)
                }
            }
        }
        Transport::Http { url, headers, any_address } => {
            let headers: HashMap<_, _> = header_values(headers).collect();
            let address = Url::parse(url).map_err(|error| format!("{url}: {error}"))?;
            if let Err(refused) = guard::check(&address).map_err(|refused| refused.to_string())
                && !any_address
            {
                let why = format!("{refused}; `any_address = true` in [tools.mcp] allows it");
                return Err(why.into());
            }
            let http = guard::builder(*any_address, Redirects::SameServer);
            // Servers close a connection that waits, and a call that was sent meanwhile may have run.
            let http = http.connect_timeout(CONNECT).pool_max_idle_per_host(0).build();
            let http = http.map_err(|error| error.to_string())?;
            let http = HttpClient::new(http, client.log.clone());
            let fears_discover = http.fears_discover.clone();
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            let transport =
                StreamableHttpClientTransport::with_client(http, config.custom_headers(headers));
            let opened = client.serve_with_lifecycle(transport, lifecycle);
            let why = || format!("it did not agree on a revision within {} s", AGREE.as_secs());
            let limit = if needs_greeting { Duration::MAX } else { AGREE };
            let opened = timeout(limit, opened).await;
            let opened = opened.map_err(|_| Failure {
                why: why(),
                may_differ: true,
                ..Failure::default()
            })?;
            let service = opened.map_err(|error| Failure::from(&error))?;
            let needs_greeting = needs_greeting || fears_discover.load(Ordering::Relaxed);
            Ok(ServerConnection { service, program: None, needs_greeting })
        }
    }
}

/// The stateless revision if the server knows it, else `initialize`.
fn revisions() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

/// The reason, or the program's exit if that came first.
pub async fn ended(program: &RunningProgram, why: String) -> String {
    let soon = Duration::from_millis(300);
    match timeout(soon, program.ended()).await {
        Ok(Ok(status)) => format!("its program has ended ({status})"),
        Ok(Err(why)) => why,
        Err(_) => why,
    }
}
