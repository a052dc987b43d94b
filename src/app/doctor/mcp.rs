//! The MCP servers: the tools of each, its speed, and its problems.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::join_all;

use super::Finding;
use crate::config::Config;
use crate::domain::words::{clipped, counted};
use crate::mcp::client::{self, McpServer, Offer, Stage};
use crate::mcp::trust::Trust;
use crate::mcp::{ServerEntry, Transport};
use crate::session;
use crate::tool::provider::Provider;
use crate::ui::text;

/// The most characters of a tool's name in an entry.
const NAME: usize = 80;

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
    findings.extend(withheld(&config.tools.servers, client::withheld()));
    let entries = config.tools.servers.into_iter();
    let examined = entries.map(|entry| examine_server(entry, trust.clone()));
    findings.extend(join_all(examined).await.into_iter().flatten());
}

/// The variables of our own environment that a program of a server does not get.
fn withheld(entries: &[ServerEntry], mut names: Vec<String>) -> Option<Finding> {
    let lacks = |name: &String, entry: &ServerEntry| match &entry.transport {
        Transport::Stdio { env, .. } => env.iter().all(|(own, _)| own != name),
        Transport::Http { .. } => false,
    };
    let enabled = || entries.iter().filter(|entry| entry.disabled.is_none());
    names.retain(|name| enabled().any(|entry| lacks(name, entry)));
    names.sort();
    let first = names.first()?;
    let text = format!(
        "set, and withheld from servers, since they may hold a key or load code: {}",
        names.join(", ")
    );
    Some(Finding::warn("mcp", text).advise(format!(
        "a server that needs one names it: \"env\": {{\"{first}\": \"${{{first}}}\"}} in its entry"
    )))
}

async fn examine_server(entry: ServerEntry, trust: Arc<Trust>) -> Vec<Finding> {
    let about = format!("mcp {}", entry.key);
    let at = format!("{}:{}", entry.file, entry.line);
    let offered_tools = entry.offered.clone();
    let server = McpServer::start(entry, trust);
    server.ready().await;
    match server.stage() {
        Stage::Ready(offer) => {
            let tools = server.tools().await.unwrap_or_default();
            let mut findings = vec![Finding::ok(&about, offered(&offer, tools.len()))];
            let remarks = server.left_out().into_iter().chain(server.unread_lines());
            findings.extend(remarks.map(|text| Finding::warn(&about, text)));
            let names: Vec<_> = offer.tools.iter().map(|tool| tool.name.as_str()).collect();
            findings.extend(offered_tools.unused(&names).into_iter().map(|name| {
                let name = clipped(name, NAME);
                let text = format!("its entry names the tool {name:?}, which it does not have");
                Finding::warn(&about, text).advise(format!("see {at}"))
            }));
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::mcp::config::{Configuration, Surroundings};

    fn withheld_from(servers: &str) -> Option<String> {
        let text = format!("{{\"mcpServers\": {{{servers}}}}}");
        let around = Surroundings::of_process(None, Path::new("/w"));
        let entries = Configuration::parse(Path::new("m.json"), &text, &around).entries;
        let names = ["UV_PUBLISH_TOKEN", "HTTPS_PROXY"].map(str::to_owned);
        withheld(&entries, names.into()).map(|finding| finding.to_string())
    }

    #[test]
    fn variables_that_servers_do_not_get_are_named() {
        let one = withheld_from("\"w\": {\"command\": \"x\"}").unwrap();
        assert_eq!(
            one,
            "warn  mcp: set, and withheld from servers, since they may hold a key or load code: HTTPS_PROXY, UV_PUBLISH_TOKEN\n      \
             → a server that needs one names it: \"env\": {\"HTTPS_PROXY\": \"${HTTPS_PROXY}\"} in its entry"
        );
        let given = "\"w\": {\"command\": \"x\", \"env\": {\"HTTPS_PROXY\": \"http://a:b@c\"}}";
        assert!(withheld_from(given).unwrap().contains("code: UV_PUBLISH_TOKEN\n"));
        for none in [
            "",
            "\"w\": {\"url\": \"http://h\"}",
            "\"w\": {\"command\": \"x\", \"disabled\": true}",
        ] {
            assert_eq!(withheld_from(none), None, "{none}");
        }
    }
}
