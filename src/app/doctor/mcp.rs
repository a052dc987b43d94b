//! The MCP servers: the tools of each, its speed, and its problems.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::join_all;

use super::Finding;
use crate::config::Config;
use crate::domain::words::counted;
use crate::mcp::ServerEntry;
use crate::mcp::client::{McpServer, Offer, Stage};
use crate::mcp::trust::Trust;
use crate::session;
use crate::tool::provider::Provider;
use crate::ui::text;

/// Adds the servers of these files to the configuration, and starts all at once.
pub async fn examine(
    config: &Config,
    files: &[PathBuf],
    workspace: Option<&Path>,
    findings: &mut Vec<Finding>,
) {
    let mut config = config.clone();
    let folder = config.workspace(workspace).ok().flatten().map(Path::to_owned);
    let workspace = folder.as_deref();
    match session::add_servers(&mut config, files, workspace) {
        Ok(notices) => {
            findings.extend(notices.into_iter().map(|text| Finding::warn("mcp", text)));
        }
        Err(error) => findings.push(Finding::fail("mcp", error.to_string())),
    }
    let trust = match session::seen_definitions(&config, workspace) {
        Ok(trust) => trust,
        Err(error) => {
            findings.push(Finding::fail("mcp", error.to_string()));
            Arc::default()
        }
    };
    let entries = config.tools.servers.into_iter();
    let examined = entries.map(|entry| examine_server(entry, trust.clone()));
    findings.extend(join_all(examined).await.into_iter().flatten());
}

async fn examine_server(entry: ServerEntry, trust: Arc<Trust>) -> Vec<Finding> {
    let about = format!("mcp {}", entry.key);
    let at = format!("{}:{}", entry.file, entry.line);
    let server = McpServer::start(entry, trust);
    server.ready().await;
    match server.stage() {
        Stage::Ready(offer) => {
            let tools = server.tools().await.unwrap_or_default();
            let mut findings = vec![Finding::ok(&about, offered(&offer, tools.len()))];
            findings.extend(server.left_out().into_iter().map(|text| Finding::warn(&about, text)));
            for tool in tools {
                let spec = tool.spec();
                findings.extend(super::schema_faults(&about, spec));
                if let Some(why) = &spec.disabled {
                    let text = format!("{} is disabled: {why}", spec.name);
                    let finding = Finding::warn(&about, text);
                    findings.push(match why.contains("changed") {
                        true => finding.advise(format!(
                            "`toolyard tools accept` shows the change; `toolyard tools accept {}` accepts it",
                            spec.name
                        )),
                        false => finding,
                    });
                }
            }
            findings
        }
        Stage::Down { why, .. } => vec![Finding::fail(about, why).advise(format!("see {at}"))],
        Stage::Off { why } => vec![Finding::warn(about, format!("not started: {why}"))],
        Stage::Starting => vec![Finding::fail(about, "it does not answer")],
    }
}

fn offered(offer: &Offer, tools: usize) -> String {
    let Offer { revision, program, tools: all, took } = offer;
    let of = match all.len() {
        all if all == tools => String::new(),
        all => format!(" of {all}"),
    };
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let program = if program.is_empty() { String::new() } else { format!("; {program}") };
    format!(
        "{}{of} in {}{program}, revision {revision}",
        counted(tools, "tool"),
        text::span(micros)
    )
}
