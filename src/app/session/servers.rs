//! The MCP servers of a session: those of toolyard's own configuration, then those of the files that its spec names.

use std::path::Path;
use std::rc::Rc;

use super::SessionError;
use crate::config::Config;
use crate::domain::ToolName;
use crate::files::toml_file::Problems;
use crate::mcp::client::McpServer;
use crate::mcp::config::{Configuration, Surroundings};
use crate::mcp::{ServerEntry, name};
use crate::tool::provider::Provider;

/// Adds the servers of these files to the configuration; returns what there is to say about them.
///
/// # Errors
/// The mistakes of a file of which no server can be used.
pub fn add(
    config: &mut Config,
    files: &[impl AsRef<Path>],
    workspace: Option<&Path>,
) -> Result<Vec<String>, SessionError> {
    let base = directories::BaseDirs::new();
    let home = base.as_ref().map(directories::BaseDirs::home_dir);
    let around = Surroundings::of_process(home, workspace.unwrap_or(Path::new(".")));
    let servers = &mut config.tools.servers;
    let mut notices = Vec::new();
    for file in files {
        let read = Configuration::load(file.as_ref(), &around);
        if read.entries.is_empty() && !read.problems.is_empty() {
            return Err(SessionError::input(Problems(read.problems)));
        }
        let left_out = read.problems.iter().map(|problem| format!("{problem}; it is left out"));
        notices.extend(left_out.chain(read.remarks.iter().map(ToString::to_string)));
        for entry in read.entries {
            match servers
                .iter()
                .find(|server| name::prefix(&server.key) == name::prefix(&entry.key))
            {
                None => servers.push(entry),
                Some(first) => notices.push(again(&entry, first)),
            }
        }
    }
    Ok(notices)
}

fn again(entry: &ServerEntry, first: &ServerEntry) -> String {
    let ServerEntry { key, file, line, .. } = entry;
    let (other, at) = (&first.file, first.line);
    format!(
        "{file}:{line}: the MCP server {key:?} has the name of that in {other}:{at}; it is left out"
    )
}

/// Starts the servers; needs a runtime.
pub fn start(config: &Config) -> impl Iterator<Item = Rc<dyn Provider>> {
    let entries = config.tools.servers.iter().cloned();
    entries.map(|entry| Rc::new(McpServer::start(entry)) as Rc<dyn Provider>)
}

/// Whether a tool of this name may come from one of the servers; which tools they have is known only later.
pub fn may_have(config: &Config, tool: &ToolName) -> bool {
    config.tools.servers.iter().any(|server| name::is_of(tool.as_str(), &server.key))
}
