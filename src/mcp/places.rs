//! Where other programs keep their configurations of MCP servers.

use std::fmt;
use std::path::{Path, PathBuf};

/// A program that has a configuration of MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientProgram {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    VsCode,
}

impl fmt::Display for ClientProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClientProgram::ClaudeCode => "Claude Code",
            ClientProgram::ClaudeDesktop => "Claude Desktop",
            ClientProgram::Codex => "Codex",
            ClientProgram::Cursor => "Cursor",
            ClientProgram::VsCode => "VS Code",
        })
    }
}

impl ClientProgram {
    /// The program whose files have this name and folder; `None` if the path does not show it.
    pub fn of_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        match (folder.unwrap_or_default(), name) {
            (_, ".mcp.json" | ".claude.json") => Some(ClientProgram::ClaudeCode),
            (_, "claude_desktop_config.json") => Some(ClientProgram::ClaudeDesktop),
            (".codex", "config.toml") => Some(ClientProgram::Codex),
            (".cursor", "mcp.json") => Some(ClientProgram::Cursor),
            (".vscode", "mcp.json") => Some(ClientProgram::VsCode),
            _ => None,
        }
    }
}

/// A file that may have servers, and the program that reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfigFile {
    pub path: PathBuf,
    pub program: ClientProgram,
}

/// The operating systems, which keep settings in different folders.
#[derive(Clone, Copy)]
enum System {
    Linux,
    MacOs,
}

/// The places for a workspace on this system, those of the workspace itself first. Whether a file exists is not
/// checked.
pub fn places(workspace: &Path, home: Option<&Path>) -> Vec<ClientConfigFile> {
    places_on(
        if cfg!(target_os = "macos") { System::MacOs } else { System::Linux },
        workspace,
        home,
    )
}

fn places_on(system: System, workspace: &Path, home: Option<&Path>) -> Vec<ClientConfigFile> {
    let place = |folder: &Path, (path, program): (&str, ClientProgram)| ClientConfigFile {
        path: folder.join(path),
        program,
    };
    let own = [
        (".mcp.json", ClientProgram::ClaudeCode),
        (".cursor/mcp.json", ClientProgram::Cursor),
        (".vscode/mcp.json", ClientProgram::VsCode),
        (".codex/config.toml", ClientProgram::Codex),
    ];
    let of_user = [
        (".claude.json", ClientProgram::ClaudeCode),
        (".cursor/mcp.json", ClientProgram::Cursor),
        (".codex/config.toml", ClientProgram::Codex),
    ];
    let settings = match system {
        System::Linux => ".config",
        System::MacOs => "Library/Application Support",
    };
    let of_settings = [
        ("Code/User/mcp.json", ClientProgram::VsCode),
        ("Claude/claude_desktop_config.json", ClientProgram::ClaudeDesktop),
    ];
    let mut places: Vec<_> = own.map(|file| place(workspace, file)).into();
    if let Some(home) = home {
        places.extend(of_user.map(|file| place(home, file)));
        places.extend(of_settings.map(|file| place(&home.join(settings), file)));
    }
    // A workspace may be the home directory.
    let mut unique = Vec::with_capacity(places.len());
    for place in places {
        if !unique.contains(&place) {
            unique.push(place);
        }
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(workspace: &str, home: Option<&str>, system: System) -> Vec<String> {
        let places = places_on(system, Path::new(workspace), home.map(Path::new));
        places.iter().map(|place| place.path.display().to_string()).collect()
    }

    #[test]
    fn the_workspace_comes_before_the_home_directory() {
        let linux = paths("/w", Some("/home/me"), System::Linux);
        assert_eq!(
            linux,
            [
                "/w/.mcp.json",
                "/w/.cursor/mcp.json",
                "/w/.vscode/mcp.json",
                "/w/.codex/config.toml",
                "/home/me/.claude.json",
                "/home/me/.cursor/mcp.json",
                "/home/me/.codex/config.toml",
                "/home/me/.config/Code/User/mcp.json",
                "/home/me/.config/Claude/claude_desktop_config.json",
            ]
        );
        let mac = paths("/w", Some("/Users/me"), System::MacOs);
        assert_eq!(mac[7], "/Users/me/Library/Application Support/Code/User/mcp.json");
        assert_eq!(paths("/w", None, System::Linux).len(), 4);
        assert_eq!(paths("/home/me", Some("/home/me"), System::Linux).len(), 7);
    }

    #[test]
    fn a_path_says_whose_it_is() {
        for place in places(Path::new("/w"), Some(Path::new("/h"))) {
            let said = ClientProgram::of_path(&place.path);
            let by_content = place.path.ends_with("Code/User/mcp.json");
            assert_eq!(said, (!by_content).then_some(place.program), "{:?}", place.path);
        }
        assert_eq!(ClientProgram::of_path(Path::new("servers.json")), None);
    }
}
