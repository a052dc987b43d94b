//! `toolyard mcp`: a relay between an MCP server and a foreign client. Standard output belongs to the protocol;
//! toolyard's own messages go to standard error.

mod door;
mod http;
mod own_session;
mod recorded_server;
mod streams;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use reqwest::Url;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::LocalSet;

use self::door::Door;
use self::streams::OutputEnd;
use super::ConfigArgs;
use super::out::{errors, warn};
use super::{runtime::runtime, trouble::Trouble};
use crate::domain::{BreakpointSpec, FaultSpec};
use crate::mcp::OfferedTools;
use crate::mcp::relay::{Book, Ends, RecordedServer, relay, start};
use crate::net::learn;
use crate::serve::agent::secrets::hide_keys;
use crate::shell::runtime::interrupted;
use crate::ui::text::clean;

/// Programs that only start another program, which is the server.
const STARTERS: [&str; 10] =
    ["npx", "uvx", "bunx", "pnpx", "node", "bun", "deno", "python", "python3", "uv"];

/// How long the client may take for the last messages after a signal.
const LAST: Duration = Duration::from_millis(300);

/// The arguments of `toolyard mcp`.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Command of the server and its arguments, after `--`.
    #[arg(
        value_name = "COMMAND",
        last = true,
        required_unless_present_any = ["target", "recorded"],
        conflicts_with_all = ["target", "recorded"]
    )]
    pub command: Vec<OsString>,
    /// Address of a server that uses streamable HTTP.
    ///
    /// toolyard prints a new address to standard error; put it into the client's configuration. Write keys as `${NAME}`, a
    /// variable, because all users of this machine can read a command line.
    #[arg(long, value_name = "URL", value_parser = address)]
    pub target: Option<Url>,
    /// Serve the recorded results of a server from this journal, without starting it.
    ///
    /// Each call gets the next recorded result of the same tool with the same arguments.
    #[arg(long, value_name = "JOURNAL", conflicts_with = "target")]
    pub recorded: Option<PathBuf>,
    /// With --target: listen for the client at this local address; port 0 takes a free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", requires = "target")]
    pub listen: SocketAddr,
    /// With --target: allow addresses in clouds and local networks.
    #[arg(long, requires = "target")]
    pub any_address: bool,
    /// Name of the server in the session; default: from its command.
    ///
    /// With --recorded: the server of the journal.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Report to this running `toolyard watch`: its journal or its process number.
    ///
    /// By default the calls go to the only running session. If none or several run, they go to a new session.
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["fault", "breakpoint", "hold", "journal", "no_journal"])]
    pub session: Option<String>,
    /// In a new session: make a tool fail, for example `get_weather:error`.
    ///
    /// The end of `toolyard run --help` lists targets, kinds and keys.
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<FaultSpec>,
    /// In a new session: set a breakpoint, for example `get_weather:before`.
    #[arg(long = "break", value_name = "SPEC")]
    pub breakpoint: Vec<BreakpointSpec>,
    /// In a new session: stop at a breakpoint for up to N seconds.
    ///
    /// The call continues after that time unless an attached screen controls the session. By default a breakpoint only
    /// counts its hits.
    #[arg(long, value_name = "N", value_parser = super::value::seconds)]
    pub hold: Option<f64>,
    /// Start a new session, and write its journal to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "no_journal")]
    pub journal: Option<PathBuf>,
    /// Start a new session without a journal.
    #[arg(long)]
    pub no_journal: bool,
    /// Start the server in this folder.
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Give the server the variables of this JSON file, besides those of toolyard.
    #[arg(long, value_name = "FILE")]
    pub variables: Option<PathBuf>,
    /// Offer only this tool to the client; repeat it for more. `*` stands for any text.
    #[arg(long, value_name = "TOOL")]
    pub only: Vec<String>,
    /// Do not offer this tool to the client; repeat it for more. `*` stands for any text.
    #[arg(long, value_name = "TOOL")]
    pub without: Vec<String>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// Relays until the server or the client has ended. The exit code is the server's.
///
/// # Errors
/// The server cannot be started, or the named session does not run.
pub fn mcp(args: &McpArgs) -> Result<ExitCode, Trouble> {
    hide_keys(&args.command);
    let recorded = args.recorded.as_ref();
    let recorded =
        recorded.map(|path| recorded_server::read(path, args.name.as_deref())).transpose()?;
    let (key, recorded) = match recorded {
        Some((key, server)) => (key, Some(server)),
        None => (args.key(), None),
    };
    let status = runtime()?.block_on(LocalSet::new().run_until(async {
        let Door { news, session } = door::open(args, &key).await?;
        let status = match (&args.target, recorded) {
            (Some(target), _) => http::serve(args, &key, target, news).await,
            (None, Some(server)) => replay(server, args, &key, news).await,
            (None, None) => serve(args, &key, news).await,
        };
        session.close().await?;
        status
    }))?;
    Ok(status)
}

/// Starts the server, and passes lines on until one side has ended.
async fn serve(
    args: &McpArgs,
    key: &str,
    news: door::RelayNewsSender,
) -> Result<ExitCode, Trouble> {
    let started = start(&args.server()?, errors()).map_err(Trouble::failed)?;
    let (program, to_server, server) = started;
    if let Err(why) = program.started().await {
        let command = args.command[0].to_string_lossy();
        return Err(Trouble::Usage(format!("{} cannot be started: {why}", clean(&command))));
    }
    let (signal, written) = pass((to_server, server), args, key, news).await?;
    program.end();
    let status = program.ended().await;
    let signal = last(written, signal).await;
    Ok(match (signal, status) {
        (Some(signal), _) => exit(128 + signal),
        (None, Ok(status)) => exit(code_of(status)),
        (None, Err(why)) => {
            warn(&clean(&format!("{key}: {why}")));
            ExitCode::FAILURE
        }
    })
}

/// Passes lines between standard input and output and a server, until one side has ended or a signal comes.
async fn pass(
    (to_server, server): (impl AsyncWrite + Unpin + 'static, impl AsyncRead + Unpin + 'static),
    args: &McpArgs,
    key: &str,
    news: door::RelayNewsSender,
) -> Result<(Option<i32>, OutputEnd), Trouble> {
    let (client, to_client, written) = streams::open()?;
    let ends = Ends { client, to_client, server, to_server };
    let relayed = relay(Book::new(Arc::from(key), news, args.offered()), ends);
    let signal = tokio::select! {
        () = relayed => None,
        signal = interrupted() => Some(signal),
    };
    Ok((signal, written))
}

/// Serves what a server said in a session.
async fn replay(
    server: RecordedServer,
    args: &McpArgs,
    key: &str,
    news: door::RelayNewsSender,
) -> Result<ExitCode, Trouble> {
    let (signal, written) = pass(recorded_server::start(server), args, key, news).await?;
    let signal = last(written, signal).await;
    Ok(exit(signal.map_or(0, |signal| 128 + signal)))
}

/// Waits until the last messages have reached the client, or until a signal says not to. Returns the signal.
async fn last(written: OutputEnd, signal: Option<i32>) -> Option<i32> {
    let given_up = async {
        match signal {
            Some(signal) => {
                tokio::time::sleep(LAST).await;
                signal
            }
            None => interrupted().await,
        }
    };
    tokio::select! {
        biased;
        () = written.wait() => signal,
        signal = given_up => Some(signal),
    }
}

/// An address of a server.
fn address(text: &str) -> Result<Url, String> {
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    let text = super::value::with_variables(text)?;
    Url::parse(&text).ok().filter(is_web).ok_or_else(|| {
        "expected an address that begins with http:// or https:// and a host".to_owned()
    })
}

/// The exit code of the server; for a signal, the one that a shell reports.
fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

impl McpArgs {
    /// Returns the command that starts the server. It gets toolyard's whole environment and the variables of the
    /// variables file.
    fn server(&self) -> Result<Command, Trouble> {
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| Trouble::usage("no command"))?;
        let mut command = Command::new(program);
        command.args(arguments).envs(std::env::vars_os());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        if let Some(path) = &self.variables {
            let wrong = |why: &dyn Display| Trouble::Usage(format!("{}: {why}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
            let variables: BTreeMap<String, String> =
                serde_json::from_str(&text).map_err(|error| wrong(&error))?;
            // `value` registers secret values, so that no record contains them.
            let variables = variables.iter().map(|(name, value)| (name, learn::value(name, value)));
            command.envs(variables.map(|(name, value)| (name, value.expose().to_owned())));
        }
        Ok(command)
    }

    /// The tools that the client may read.
    fn offered(&self) -> OfferedTools {
        let only = Some(self.only.clone()).filter(|only| !only.is_empty());
        OfferedTools { only, without: self.without.clone() }
    }

    /// The server's name: as given, else the file that the command names.
    fn key(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        if let Some(host) = self.target.as_ref().and_then(|target| target.host_str()) {
            return host.to_owned();
        }
        let mut words = self.command.iter().map(Path::new);
        let name = |path: &Path| path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let program = words.next().and_then(name).unwrap_or_default();
        let is_starter = STARTERS.contains(&program.as_str());
        let mut plain = words.filter(|word| !word.to_string_lossy().starts_with('-'));
        let started = plain.find(|word| !is_starter || word.as_os_str() != "run").and_then(name);
        started.filter(|_| is_starter).unwrap_or(program)
    }
}
