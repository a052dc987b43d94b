//! Opens a connection to a server: starts its program or calls its address, and agrees on a revision.

use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::asked::Client;
use super::failure;
use super::passed_on::passed_on;
use crate::net::guard::{self, Redirects};
use crate::net::secret::Secret;
use crate::process::RunningProgram;
use crate::{ServerEntry, Transport};

/// How long the connection to an address may take.
const CONNECT: Duration = Duration::from_secs(10);

/// An open connection; dropping it ends the server's program.
pub struct ServerConnection {
    pub service: RunningService<RoleClient, Client>,
    pub program: Option<RunningProgram>,
}

/// Opens a connection; the caller limits the time. If a server answers the request for its revision with anything else,
/// or twice, `initialize` is tried alone.
///
/// # Errors
/// Why it could not be opened.
pub async fn open(entry: &ServerEntry, client: &Client) -> Result<ServerConnection, String> {
    match connect(entry, client.clone(), revisions()).await {
        Err(Failure { is_odd: true, .. }) => {
            let client = Client { is_old: true, ..client.clone() };
            let opened = connect(entry, client, ClientLifecycleMode::Initialize).await;
            opened.map_err(|failure| failure.why)
        }
        opened => opened.map_err(|failure| failure.why),
    }
}

/// Why a connection was not opened.
struct Failure {
    why: String,
    /// Whether the server answered, but without a revision.
    is_odd: bool,
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self { why, is_odd: false }
    }
}

impl From<&ClientInitializeError> for Failure {
    fn from(error: &ClientInitializeError) -> Self {
        Self { why: failure::of_start(error), is_odd: is_odd(error) }
    }
}

/// Whether the server answered, but without a revision. A second answer to `server/discover` comes where the one to
/// `initialize` is expected.
fn is_odd(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => true,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => is_odd(fallback),
        _ => false,
    }
}

async fn connect(
    entry: &ServerEntry,
    client: Client,
    lifecycle: ClientLifecycleMode,
) -> Result<ServerConnection, Failure> {
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
            let opened = client.serve_with_lifecycle((pipes.stdout, pipes.stdin), lifecycle).await;
            match opened {
                Ok(service) => Ok(ServerConnection { service, program: Some(program) }),
                Err(error) => {
                    let Failure { why, is_odd } = Failure::from(&error);
                    Err(Failure { why: ended(&program, why).await, is_odd })
                }
            }
        }
        Transport::Http { url, headers, any_address } => {
            let header = |(name, value): &(String, Secret)| {
                let name = HeaderName::try_from(name.as_str()).ok()?;
                let mut value = HeaderValue::try_from(value.expose()).ok()?;
                value.set_sensitive(true);
                Some((name, value))
            };
            let headers: HashMap<_, _> = headers.iter().filter_map(header).collect();
            let address = Url::parse(url).map_err(|error| format!("{url}: {error}"))?;
            if let Err(refused) = guard::check(&address).map_err(|refused| refused.to_string())
                && !any_address
            {
                let why = format!("{refused}; `any_address = true` in [tools.mcp] allows it");
                return Err(why.into());
            }
            let http = guard::builder(*any_address, Redirects::SameServer);
            let http = http.connect_timeout(CONNECT).build().map_err(|error| error.to_string())?;
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            let transport =
                StreamableHttpClientTransport::with_client(http, config.custom_headers(headers));
            let opened = client.serve_with_lifecycle(transport, lifecycle).await;
            let service = opened.map_err(|error| Failure::from(&error))?;
            Ok(ServerConnection { service, program: None })
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
    match tokio::time::timeout(soon, program.ended()).await {
        Ok(Ok(status)) => format!("its program has ended ({status})"),
        Ok(Err(why)) => why,
        Err(_) => why,
    }
}
