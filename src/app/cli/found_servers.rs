//! Existing configurations of MCP servers, and the question whether to use their servers.

use std::path::{Path, PathBuf};

use super::{question, trouble::Trouble};
use crate::config::Config;
use crate::domain::words::counted;
use crate::mcp::config::{Configuration, Surroundings};
use crate::mcp::places::{self, ClientConfigFile};
use crate::session::SessionSpec;
use crate::trust_answers::{Brought, Kind};
use crate::ui::text::clean;

/// The file of a workspace that is used without an option, after one question.
const OF_WORKSPACE: &str = ".mcp.json";

/// Adds the workspace's `.mcp.json` if a person agrees to it now, or agreed earlier and the file is unchanged. Asks
/// only on a terminal, and only if no configuration is named.
///
/// # Errors
/// The earlier decision cannot be read, or the new one cannot be written.
pub fn add_that_of_workspace(spec: &mut SessionSpec, asks: bool) -> Result<(), Trouble> {
    if !spec.mcp.is_empty() || spec.watched {
        return Ok(());
    }
    // Errors in the configuration are reported when the session is prepared.
    let config = Config::find(spec.config.as_deref()).unwrap_or_default();
    let folder = config.workspace(spec.workspace.as_deref()).ok().flatten();
    let file =
        folder.map_or_else(|| PathBuf::from(OF_WORKSPACE), |folder| folder.join(OF_WORKSPACE));
    if !file.is_file() || config.tools.mcp_files.contains(&file) {
        return Ok(());
    }
    let brought = Brought::file(Kind::McpFile, &file).map_err(Trouble::Usage)?;
    let is_used = match brought.answer().map_err(Trouble::Usage)? {
        Some(used) => used,
        None if asks && question::is_there() => {
            let used = agrees(&file, &keys(&file, folder));
            brought.keep(used).map_err(Trouble::Failed)?;
            used
        }
        None => false,
    };
    if is_used {
        spec.mcp.push(file);
    }
    Ok(())
}

/// The configurations of other programs for this folder that have servers, with their keys.
pub fn found(folder: &Path) -> Vec<(ClientConfigFile, Vec<String>)> {
    let home = directories::BaseDirs::new();
    let home = home.as_ref().map(directories::BaseDirs::home_dir);
    let there = places::places(folder, home).into_iter().filter(|place| place.path.is_file());
    let with_keys = there.map(|place| {
        let keys = keys(&place.path, Some(folder));
        (place, keys)
    });
    with_keys.filter(|(_, keys)| !keys.is_empty()).collect()
}

/// The configurations whose servers a person wants; without a terminal there is no question.
pub fn wanted(found: &[(ClientConfigFile, Vec<String>)]) -> Vec<PathBuf> {
    let wanted = found.iter().filter(|(place, keys)| agrees(&place.path, keys));
    wanted.map(|(place, _)| place.path.clone()).collect()
}

/// The keys of its servers.
fn keys(file: &Path, folder: Option<&Path>) -> Vec<String> {
    let home = directories::BaseDirs::new();
    let home = home.as_ref().map(directories::BaseDirs::home_dir);
    let around = Surroundings::of_process(home, folder.unwrap_or(Path::new(".")));
    let entries = Configuration::load(file, &around).entries;
    entries.into_iter().map(|entry| entry.key).collect()
}

fn agrees(file: &Path, keys: &[String]) -> bool {
    let (servers, keys) = (counted(keys.len(), "MCP server"), keys.join(", "));
    let text =
        format!("{} names {servers}: {keys}. Start them, and offer their tools?", file.display());
    question::agrees(&clean(&text))
}
