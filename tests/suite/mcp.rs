//! MCP servers, as toolyard's agent uses them.

mod client;
mod commands;
mod files;
mod harm;
mod kills;
mod odd;
mod seen;
mod stand_in;
mod web;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use toolyard::domain::CallProgress;
use toolyard::mcp::client::McpServer;
use toolyard::mcp::config::{Configuration, Surroundings};
use toolyard::mcp::trust::Trust;
use toolyard::tool::provider::Provider;
use toolyard::tool::{Invocation, Tool, ToolError};

use crate::processes::with_reaper;

/// Longer than any of these servers needs.
const LONG: Duration = Duration::from_secs(20);

/// The entry of a stand-in that behaves like this; its log goes to a file of the folder.
fn entry(behaviour: &str, folder: &Path) -> Value {
    let log = folder.join(format!("{behaviour}.log"));
    let this = std::env::current_exe().unwrap();
    let mut args = vec!["mcp::stand_in::serve", "--exact", "--ignored", "--nocapture", "-q"];
    args.extend(["--test-threads", "1"]);
    json!({
        "command": this,
        "args": args,
        "env": {"STAND_IN": behaviour, "STAND_IN_LOG": log},
    })
}

/// Writes a configuration of these stand-ins, each under the name of its behaviour.
fn configuration(behaviours: &[&str], folder: &Path) -> std::path::PathBuf {
    let servers = behaviours.iter().map(|name| ((*name).to_owned(), entry(name, folder)));
    let servers: serde_json::Map<String, Value> = servers.collect();
    let file = folder.join(".mcp.json");
    std::fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
    file
}

/// A stand-in that runs; it has the definitions that were seen in the folder.
fn start(behaviour: &str, folder: &Path) -> McpServer {
    with_reaper();
    let file = configuration(&[behaviour], folder);
    let read = Configuration::load(&file, &Surroundings::of_process(None, folder));
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    let trust = Arc::new(Trust::of_workspace(folder).unwrap());
    McpServer::start(read.entries.into_iter().next().unwrap(), trust)
}

/// Its tools, when it is ready or has failed.
async fn tools(server: &McpServer) -> Vec<Rc<dyn Tool>> {
    timeout(LONG, server.ready()).await.expect("it neither starts nor fails");
    server.tools().await.unwrap()
}

fn named(tools: &[Rc<dyn Tool>], ending: &str) -> Rc<dyn Tool> {
    let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.to_string()).collect();
    let found = tools.iter().find(|tool| tool.spec().name.as_str().ends_with(ending));
    found.unwrap_or_else(|| panic!("no {ending} in {names:?}")).clone()
}

async fn call(tool: &dyn Tool, arguments: Value) -> Result<String, ToolError> {
    telling(tool, arguments, &|_| {}).await
}

async fn telling(
    tool: &dyn Tool,
    arguments: Value,
    told: &dyn Fn(CallProgress),
) -> Result<String, ToolError> {
    let invocation = Invocation { arguments, seed: 0 };
    let called = timeout(LONG, tool.call_telling(&invocation, told)).await;
    called.expect("the call hangs").map(|output| output.text)
}

/// What the stand-in has logged so far.
fn log(behaviour: &str, folder: &Path) -> String {
    std::fs::read_to_string(folder.join(format!("{behaviour}.log"))).unwrap_or_default()
}
