//! Reads configurations of MCP servers that people already have: those of Claude Code, Claude Desktop, Cursor, VS Code
//! and Codex, and the servers of toolyard's own configuration.
//!
//! A file's content determines its format, and its name the syntax of its variables. A wrong entry is a problem with
//! file, line and field, and all other entries are still read. Nothing here accesses the system: text, variables and
//! further files are passed in.

mod effectless;
mod env_file;
mod expand;
mod hidden;
mod own;
mod server;
mod settings;
mod surroundings;
mod transport;

use std::collections::BTreeSet;
use std::path::Path;

use self::expand::{Dialect, Unset};
pub use self::hidden::value as hide;
pub use self::own::own_servers;
use self::server::{ConfigFormat, ServerReader};
pub use self::surroundings::Surroundings;
use crate::entry::ServerEntry;
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::{Problem, TomlField, TomlFields, TomlFile};
use crate::net::known;
use crate::places::ClientProgram;

const EXPECTED: Expectation = Expectation {
    what: "a configuration of MCP servers such as .mcp.json",
    missing: "correct the path",
    largest: 4 * 1024 * 1024,
};

/// The servers of one file.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// Valid entries, in the order of the file.
    pub entries: Vec<ServerEntry>,
    /// All problems of invalid entries, or of the file as a whole.
    pub problems: Vec<Problem>,
    /// Remarks on valid entries: settings with another effect than their author may expect.
    pub remarks: Vec<Problem>,
}

impl Configuration {
    /// Reads the file at `path`.
    pub fn load(path: &Path, around: &Surroundings<'_>) -> Self {
        match text_file::read(path, &EXPECTED) {
            Ok(text) => Self::parse(path, &text, around),
            Err(problem) => Self { problems: vec![problem], ..Self::default() },
        }
    }

    /// Reads the text of the file at `path`.
    pub fn parse(path: &Path, text: &str, around: &Surroundings<'_>) -> Self {
        let file = path.display().to_string();
        let servers = Servers { around, entries: Vec::new(), remarks: Vec::new() };
        let (servers, mut problems) = if is_json(text, path) {
            TomlFile::read_json(&file, text, |fields| servers.of_json(fields, path))
        } else {
            TomlFile::read_what_is_right(&file, text, |fields| servers.of_toml(fields))
        };
        let (entries, mut remarks) =
            servers.map(|servers| (servers.entries, servers.remarks)).unwrap_or_default();
        for problem in problems.iter_mut().chain(&mut remarks) {
            problem.text = known::without_keys(&problem.text);
            problem.field = known::without_keys(&problem.field);
        }
        Self { entries, problems, remarks }
    }
}

/// Whether a text is meant as JSON: no TOML begins like this. For an empty text, the file's name decides.
fn is_json(text: &str, path: &Path) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let begins = ["{", "//", "/*"].iter().any(|begin| text.starts_with(begin));
    begins || text.is_empty() && path.extension().is_none_or(|ending| ending != "toml")
}

/// The servers of a file that is being read.
struct Servers<'s> {
    around: &'s Surroundings<'s>,
    entries: Vec<ServerEntry>,
    remarks: Vec<Problem>,
}

impl Servers<'_> {
    fn of_json(mut self, mut fields: TomlFields<'_>, path: &Path) -> Self {
        let program = ClientProgram::of_path(path);
        let dialect = match program {
            Some(ClientProgram::ClaudeCode) => Dialect::Shell,
            Some(ClientProgram::ClaudeDesktop) => Dialect::Plain,
            Some(ClientProgram::Cursor | ClientProgram::VsCode) => Dialect::Editor,
            Some(ClientProgram::Codex) | None => Dialect::Either,
        };
        let projects = fields.get("projects");
        let project = projects.as_ref().and_then(|projects| self.of_project(projects));
        let shared = fields.get("mcpServers");
        let of_code = fields.get("servers");
        // Claude Code keeps many other settings in its own file.
        if shared.is_none() && of_code.is_none() && projects.is_none() {
            let is_state = path.file_name().is_some_and(|name| name == ".claude.json");
            if !is_state {
                fields.refuse(
                    "no MCP servers: expected {\"mcpServers\": {…}}, or {\"servers\": {…}} as in VS Code",
                );
            }
        }
        // The project's entries replace the user's, even if they are invalid.
        let mut keys = BTreeSet::new();
        for (table, format, dialect) in [
            (project, ConfigFormat::Shared, dialect),
            (shared, ConfigFormat::Shared, dialect),
            (of_code, ConfigFormat::VsCode, Dialect::Editor),
        ] {
            let Some(table) = table else { continue };
            self.read(&table, format, dialect, &keys);
            let fields = table.table();
            let more = fields.iter().flat_map(TomlFields::all).map(|(key, _)| key.to_owned());
            keys.extend(more);
        }
        self
    }

    fn of_toml(mut self, mut fields: TomlFields<'_>) -> Self {
        // Codex keeps many other settings in this file.
        if let Some(table) = fields.get("mcp_servers") {
            self.read(&table, ConfigFormat::Codex, Dialect::Plain, &BTreeSet::new());
        }
        self
    }

    /// The servers that `~/.claude.json` has for the workspace alone.
    fn of_project<'f>(&self, projects: &TomlField<'f>) -> Option<TomlField<'f>> {
        let workspace = self.around.workspace;
        let all = projects.table()?.all();
        let (_, project) = all.into_iter().find(|(path, _)| Path::new(path) == workspace)?;
        project.table()?.get("mcpServers")
    }

    /// Reads the servers of a table, except those that others replace.
    fn read(
        &mut self,
        table: &TomlField<'_>,
        format: ConfigFormat,
        dialect: Dialect,
        replaced: &BTreeSet<String>,
    ) {
        let reader = ServerReader { format, dialect, unset: Unset::Refuse, around: self.around };
        self.entries.extend(reader.servers(table, replaced, &mut self.remarks));
    }
}

#[cfg(test)]
mod tests;
