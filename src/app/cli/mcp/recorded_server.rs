//! A server that answers from the journal of a session.

use std::path::Path;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::io::{duplex, split};

use crate::cli::past;
use crate::domain::state::{Keeps, ToolCallPhase, ToolCallState};
use crate::domain::{State, ToolName, ToolSpec};
use crate::mcp::relay::{RecordedCall, RecordedServer};
use crate::shell::out::warn;
use crate::shell::trouble::Trouble;
use crate::tool::foreign_calls::Returned;

/// Bytes that wait between the relay and the server.
const PIPE: usize = 64 << 10;

/// Reads what the only server of a session said, or the one with this name. Returns its name, too.
///
/// # Errors
/// The journal cannot be read, or has no such server, or several.
pub fn read(path: &Path, name: Option<&str>) -> Result<(String, RecordedServer), Trouble> {
    let (state, remark) = past::load(path, None, Keeps::All, |_, _| Ok(()))?;
    let shown = path.display();
    remark.into_iter().for_each(|remark| warn(&format!("{shown}: {remark}")));
    let mut servers: Vec<&str> = specs(&state).filter_map(ToolSpec::mcp_server).collect();
    servers.sort_unstable();
    servers.dedup();
    let key = match (name, &servers[..]) {
        (Some(name), _) if servers.contains(&name) => name,
        (None, [only]) => only,
        (_, []) => {
            return Err(Trouble::Usage(format!(
                "{shown}: no MCP server was called in this session"
            )));
        }
        (name, all) => {
            let wrong = name.map(|name| format!("no server {name}; ")).unwrap_or_default();
            return Err(Trouble::Usage(format!(
                "{shown}: {wrong}its servers are {}; --name chooses one",
                all.join(", ")
            )));
        }
    };
    let of_server = specs(&state).filter(|spec| spec.mcp_server() == Some(key));
    let own = |spec: &ToolSpec| ToolSpec { name: own_name(spec, key), ..spec.clone() };
    let listed = of_server.clone().filter(|spec| spec.served_as.is_none()).map(own).collect();
    let calls = state.tool_calls.iter().filter_map(|call| {
        let spec = of_server.clone().find(|spec| spec.name == call.tool)?;
        let tool = own_name(spec, key).as_str().to_owned();
        Some(RecordedCall { tool, arguments: call.arguments.clone(), returned: said(call)? })
    });
    Ok((key.to_owned(), RecordedServer::new(key.to_owned(), listed, calls.collect())))
}

fn specs(state: &State) -> impl Iterator<Item = &ToolSpec> + Clone {
    state.tools.values().map(|tool| &*tool.spec)
}

/// The server's own name of a tool.
fn own_name(spec: &ToolSpec, key: &str) -> ToolName {
    let name = spec.served_as.as_ref().unwrap_or(&spec.name).as_str();
    ToolName::new(name.strip_prefix(&format!("{key}__")).unwrap_or(name))
}

/// The server's result, if the call reached it and came back.
fn said(call: &ToolCallState) -> Option<Returned> {
    if let Some(output) = &call.withheld {
        return Some(Ok((**output).clone()));
    }
    match &call.phase {
        _ if call.injected.is_some() || call.is_skipped => None,
        ToolCallPhase::Done { output } => Some(Ok((**output).clone())),
        ToolCallPhase::Failed { error } => Some(Err(error.clone())),
        _ => None,
    }
}

/// Starts the server; returns its input and its output.
pub fn start(mut server: RecordedServer) -> (WriteHalf<DuplexStream>, ReadHalf<DuplexStream>) {
    let (ours, its) = duplex(PIPE);
    let (lines, mut answers) = split(its);
    tokio::task::spawn_local(async move {
        let mut lines = BufReader::new(lines).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            if let Some(answer) = server.answer(&line)
                && answers.write_all(&answer).await.is_err()
            {
                break;
            }
        }
        let _ = answers.shutdown().await;
    });
    let (output, input) = split(ours);
    (input, output)
}
