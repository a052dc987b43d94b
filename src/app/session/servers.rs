//! The MCP servers of a session: those of toolyard's own configuration, then those of the files in its spec.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::{SessionError, SessionSpec};
use crate::config::{self, Config};
use crate::domain::ToolName;
use crate::files::toml_file::Problems;
use crate::mcp::client::ServerFiles;
use crate::mcp::config::{Configuration, Surroundings};
use crate::mcp::trust::Trust;
use crate::mcp::{ServerEntry, name};
use crate::tool::provider::Provider;

/// How long a screen needs for its first frame; then the servers take the processor.
const FIRST_FRAME: Duration = Duration::from_millis(150);

/// Adds the servers of the files that the configuration names, and of these files, to it; returns notices about them.
///
/// # Errors
/// The mistakes of a named file without any usable server.
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
    let own = std::mem::take(&mut config.tools.mcp_files);
    let named = files.iter().map(|file| (file.as_ref(), true));
    for (file, is_asked_for) in own.iter().map(|file| (file.as_path(), false)).chain(named) {
        let read = Configuration::load(file, &around);
        if is_asked_for && read.entries.is_empty() && !read.problems.is_empty() {
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
    config.tools.mcp_files = own;
    Ok(notices)
}

fn again(entry: &ServerEntry, first: &ServerEntry) -> String {
    let ServerEntry { key, file, line, .. } = entry;
    let (other, at) = (&first.file, first.line);
    format!(
        "{file}:{line}: the MCP server {key:?} has the name of that in {other}:{at}; it is left out"
    )
}

/// The definitions seen in this workspace.
///
/// # Errors
/// Their file is damaged.
pub fn seen(config: &Config, workspace: Option<&Path>) -> Result<Arc<Trust>, SessionError> {
    if config.tools.servers.is_empty() {
        return Ok(Arc::default());
    }
    trust(workspace).map(Arc::new).map_err(SessionError::input)
}

/// Loads the decisions about MCP servers: for this workspace, or without one for this user.
///
/// # Errors
/// The file is damaged.
fn trust(workspace: Option<&Path>) -> Result<Trust, String> {
    match workspace {
        Some(folder) => Trust::of_workspace(folder),
        None => Trust::of_user(config::default_trust()),
    }
}

/// Starts the servers, and follows their files; needs a runtime.
pub fn start(
    config: &Config,
    trust: &Arc<Trust>,
    spec: &SessionSpec,
    workspace: Option<PathBuf>,
) -> Vec<Rc<dyn Provider>> {
    let own = Config::file(spec.config.as_deref(), &|name| std::env::var_os(name));
    let files = spec.mcp.iter().chain(&config.tools.mcp_files).cloned().chain(own);
    let files: Vec<PathBuf> = files.collect();
    if config.tools.servers.is_empty() && spec.mcp.is_empty() {
        return Vec::new();
    }
    let (explicit, mcp) = (spec.config.clone(), spec.mcp.clone());
    let read = move || {
        let read = Config::find(explicit.as_deref());
        let mut config = read.map_err(|problems| problems.to_string())?;
        let notices = add(&mut config, &mcp, workspace.as_deref());
        let notices = notices.map_err(|error| error.to_string())?;
        Ok((config.tools.servers, notices))
    };
    let entries = config.tools.servers.clone();
    // A person waits for the first frame, but nobody waits for the servers.
    let pause = if spec.stay && !spec.awaits_tools { FIRST_FRAME } else { Duration::ZERO };
    let followed = ServerFiles::start(pause, entries, files, trust.clone(), read);
    let servers = followed.servers();
    servers.into_iter().chain([Rc::new(followed) as Rc<dyn Provider>]).collect()
}

/// Whether a tool of this name may come from one of the servers; their tools are known only later.
pub fn may_have(config: &Config, tool: &ToolName) -> bool {
    config.tools.servers.iter().any(|server| name::is_of(tool.as_str(), &server.key))
}
