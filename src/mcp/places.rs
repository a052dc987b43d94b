//! Where other programs keep their configurations of MCP servers.

use std::fmt;
use std::path::{Path, PathBuf};

/// A program that has a configuration of MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientProgram {
    ClaudeCode,
    ClaudeDesktop,
    Cline,
    Codex,
    Cursor,
    Gemini,
    OpenCode,
    Roo,
    VsCode,
    Windsurf,
    Zed,
}

impl fmt::Display for ClientProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClientProgram::ClaudeCode => "Claude Code",
            ClientProgram::ClaudeDesktop => "Claude Desktop",
            ClientProgram::Cline => "Cline",
            ClientProgram::Codex => "Codex",
            ClientProgram::Cursor => "Cursor",
            ClientProgram::Gemini => "Gemini CLI",
            ClientProgram::OpenCode => "opencode",
            ClientProgram::Roo => "Roo Code",
            ClientProgram::VsCode => "VS Code",
            ClientProgram::Windsurf => "Windsurf",
            ClientProgram::Zed => "Zed",
        })
    }
}

/// A folder in which programs keep their configurations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Workspace,
    Home,
    /// The home directory's folder for settings, which the system determines.
    Settings,
}

/// The files that have servers, in the order in which people are asked about them.
const FILES: [(Base, &str, ClientProgram); 20] = [
    (Base::Workspace, ".mcp.json", ClientProgram::ClaudeCode),
    (Base::Workspace, ".cursor/mcp.json", ClientProgram::Cursor),
    (Base::Workspace, ".vscode/mcp.json", ClientProgram::VsCode),
    (Base::Workspace, ".vscode/settings.json", ClientProgram::VsCode),
    (Base::Workspace, ".codex/config.toml", ClientProgram::Codex),
    (Base::Workspace, ".gemini/settings.json", ClientProgram::Gemini),
    (Base::Workspace, ".roo/mcp.json", ClientProgram::Roo),
    (Base::Workspace, ".zed/settings.json", ClientProgram::Zed),
    (Base::Workspace, "opencode.json", ClientProgram::OpenCode),
    (Base::Workspace, "opencode.jsonc", ClientProgram::OpenCode),
    (Base::Home, ".claude.json", ClientProgram::ClaudeCode),
    (Base::Home, ".cursor/mcp.json", ClientProgram::Cursor),
    (Base::Home, ".codex/config.toml", ClientProgram::Codex),
    (Base::Home, ".codeium/windsurf/mcp_config.json", ClientProgram::Windsurf),
    (Base::Home, ".gemini/settings.json", ClientProgram::Gemini),
    (Base::Home, ".config/opencode/opencode.json", ClientProgram::OpenCode),
    (Base::Home, ".config/zed/settings.json", ClientProgram::Zed),
    (Base::Settings, "Code/User/mcp.json", ClientProgram::VsCode),
    (Base::Settings, "Code/User/settings.json", ClientProgram::VsCode),
    (Base::Settings, "Claude/claude_desktop_config.json", ClientProgram::ClaudeDesktop),
];
/// The same for extensions of VS Code.
const EXTENSIONS: [(&str, ClientProgram); 2] = [
    ("saoudrizwan.claude-dev/settings/cline_mcp_settings.json", ClientProgram::Cline),
    ("rooveterinaryinc.roo-cline/settings/mcp_settings.json", ClientProgram::Roo),
];
/// Names that files of several programs have.
const COMMON: [&str; 3] = ["mcp.json", "settings.json", "config.toml"];

impl ClientProgram {
    /// The program whose files have this name, with the folder where the name does not suffice; `None` if the path does
    /// not show it.
    pub fn of_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let files = FILES.iter().map(|(_, end, program)| (*end, *program)).chain(EXTENSIONS);
        let mut files = files.filter(|(end, _)| Path::new(end).ends_with(name));
        let is_of = |end: &str| !COMMON.contains(&name) || path.ends_with(end);
        files.find(|(end, _)| is_of(end)).map(|(_, program)| program)
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
    let settings = match system {
        System::Linux => ".config",
        System::MacOs => "Library/Application Support",
    };
    let folder = |base| match base {
        Base::Workspace => Some(workspace.to_owned()),
        Base::Home => home.map(Path::to_owned),
        Base::Settings => home.map(|home| home.join(settings)),
    };
    let files = FILES.map(|(base, path, program)| (folder(base), path, program));
    let of_extensions = folder(Base::Settings).map(|it| it.join("Code/User/globalStorage"));
    let extensions = EXTENSIONS.map(|(path, program)| (of_extensions.clone(), path, program));
    // A workspace may be the home directory.
    let mut unique = Vec::with_capacity(FILES.len());
    for (folder, path, program) in files.into_iter().chain(extensions) {
        let place = folder.map(|folder| ClientConfigFile { path: folder.join(path), program });
        unique.extend(place.filter(|place| !unique.contains(place)));
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
                "/w/.vscode/settings.json",
                "/w/.codex/config.toml",
                "/w/.gemini/settings.json",
                "/w/.roo/mcp.json",
                "/w/.zed/settings.json",
                "/w/opencode.json",
                "/w/opencode.jsonc",
                "/home/me/.claude.json",
                "/home/me/.cursor/mcp.json",
                "/home/me/.codex/config.toml",
                "/home/me/.codeium/windsurf/mcp_config.json",
                "/home/me/.gemini/settings.json",
                "/home/me/.config/opencode/opencode.json",
                "/home/me/.config/zed/settings.json",
                "/home/me/.config/Code/User/mcp.json",
                "/home/me/.config/Code/User/settings.json",
                "/home/me/.config/Claude/claude_desktop_config.json",
                "/home/me/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                "/home/me/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            ]
        );
        let mac = paths("/w", Some("/Users/me"), System::MacOs);
        assert_eq!(mac[17], "/Users/me/Library/Application Support/Code/User/mcp.json");
        assert_eq!(mac[16], "/Users/me/.config/zed/settings.json");
        assert_eq!(paths("/w", None, System::Linux).len(), 10);
        assert_eq!(paths("/home/me", Some("/home/me"), System::Linux).len(), 19);
    }

    #[test]
    fn a_path_says_whose_it_is() {
        for place in places(Path::new("/w"), Some(Path::new("/h"))) {
            let said = ClientProgram::of_path(&place.path);
            assert_eq!(said, Some(place.program), "{:?}", place.path);
        }
        for (path, program) in [
            ("servers.json", None),
            ("mcp.json", None),
            ("/x/settings.json", None),
            ("/x/cline_mcp_settings.json", Some(ClientProgram::Cline)),
            ("mcp_config.json", Some(ClientProgram::Windsurf)),
        ] {
            assert_eq!(ClientProgram::of_path(Path::new(path)), program, "{path}");
        }
    }
}
