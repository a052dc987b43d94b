//! Reads configurations of MCP servers that people already have, those of [`ClientProgram`], and the servers of toolyard's
//! own configuration.
//!
//! A file's content determines its format, and its name the syntax of its variables. A wrong entry is a problem with
//! file, line and field, and all other entries are still read. Nothing here accesses the system: text, variables and
//! further files are passed in.

mod env_file;
mod expand;
mod ignored_fields;
mod own;
mod secret_tables;
mod server;
mod settings;
mod spellings;
mod surroundings;
mod switches;
mod transport;

use std::collections::BTreeSet;
use std::path::Path;

use self::expand::{Dialect, Unset};
pub use self::own::own_servers;
use self::server::{ConfigFormat, ServerReader};
use self::spellings::is_server;
pub use self::surroundings::Surroundings;
use self::switches::{at, switch_off};
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

/// An example of a file, for messages about files that are not read.
const EXAMPLE: &str =
    "{\"mcpServers\": {\"NAME\": {\"command\": \"PROGRAM\", \"args\": [\"ARGUMENT\"]}}}";

/// The places of servers in a file of JSON, and the program that has them there, if only one has.
const TABLES: [(&[&str], Option<ClientProgram>); 9] = [
    (&["mcpServers"], None),
    (&["amp.mcpServers"], None),
    (&["mcp_servers"], None),
    (&["mcp", "mcpServers"], None),
    (&["servers"], Some(ClientProgram::VsCode)),
    (&["mcp", "servers"], Some(ClientProgram::VsCode)),
    (&["mcp.servers"], Some(ClientProgram::VsCode)),
    (&["context_servers"], Some(ClientProgram::Zed)),
    (&["mcp"], Some(ClientProgram::OpenCode)),
];

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
        } else if let Some(why) = of_yaml(text, path) {
            (None, vec![Problem::of_line(&file, 1, "", why)])
        } else {
            TomlFile::read_what_is_right(&file, text, |fields| servers.of_toml(fields, path))
        };
        if servers.is_none() {
            // After the first fault of its form, a text is not what it was taken for.
            problems.truncate(1);
        }
        if let Some(problem) = problems.first_mut().filter(|it| it.text.starts_with("not TOML")) {
            problem.text = format!("{}; expected {}", problem.text, EXPECTED.what);
        }
        let (entries, mut remarks) =
            servers.map(|servers| (servers.entries, servers.remarks)).unwrap_or_default();
        for problem in problems.iter_mut().chain(&mut remarks) {
            problem.text = known::without_keys(&problem.text);
            problem.field = known::without_keys(&problem.field);
        }
        Self { entries, problems, remarks }
    }
}

/// Whether a text is meant as JSON: no TOML begins like this. For other texts, the file's name decides.
fn is_json(text: &str, path: &Path) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let begins = ["{", "//", "/*"].iter().any(|begin| text.starts_with(begin));
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json" | "jsonc") => true,
        Some("toml") => begins,
        Some(_) | None => begins || text.is_empty(),
    }
}

/// Says what to write instead of YAML, and whose it is; `None`: it is no YAML. No TOML has a line that begins with `name:`.
fn of_yaml(text: &str, path: &Path) -> Option<String> {
    let mut lines = text.lines().map(str::trim_end);
    let line =
        lines.find(|line| !line.is_empty() && !line.starts_with(['#', ' ']) && *line != "---")?;
    let (name, _) =
        line.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '))?;
    name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)).then_some(())?;
    let has = |begin: &str| text.lines().any(|line| line.starts_with(begin));
    let is_in = |folder: &str| path.iter().any(|part| part == folder);
    let programs = [("goose", "extensions:", "goose"), ("Continue", "mcpServers:", ".continue")];
    let whose = programs.iter().find(|(_, begin, folder)| has(begin) || is_in(folder));
    let whose = whose.map(|(name, ..)| format!(", as {name} has it")).unwrap_or_default();
    Some(format!(
        "this is YAML{whose}, which toolyard does not read: write its servers into a file of JSON, {EXAMPLE}, and name that"
    ))
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
        let mut project = self.of_project(&mut fields);
        let mut tables = Vec::new();
        let of_project = project.as_mut().and_then(|project| project.get("mcpServers"));
        tables.extend(of_project.map(|table| (entries(&table), program)));
        for (keys, of) in TABLES {
            let Some(table) = at(&mut fields, keys) else { continue };
            let all = entries(&table);
            // Gemini CLI and VS Code have other settings in a table of this name.
            let are_servers = tables.is_empty() && all.iter().all(|(_, field)| field.is_table());
            if keys != ["mcp"] || are_servers {
                tables.push((all, of.or(program)));
            }
        }
        let bare =
            fields.all().into_iter().filter(|(_, field)| is_server(field)).collect::<Vec<_>>();
        // Claude Code keeps many other settings in its own file.
        let is_state = program == Some(ClientProgram::ClaudeCode) && path.ends_with(".claude.json");
        let is_state = is_state || fields.get("projects").is_some();
        if !bare.is_empty() && tables.is_empty() {
            tables.push((bare, program));
        } else if tables.is_empty() && !fields.spelled("command cmd").is_empty() {
            fields.refuse(format!("this is one server without a name: write {EXAMPLE}"));
        } else if tables.is_empty() && !is_state {
            fields.refuse(
                "no MCP servers: expected {\"mcpServers\": {…}}, or {\"servers\": {…}} as in VS Code",
            );
        }
        // The project's entries replace the user's, even if they are invalid.
        let mut keys = BTreeSet::new();
        for (table, program) in tables {
            let more: Vec<_> = table.iter().map(|(key, _)| (*key).to_owned()).collect();
            self.read(table, ConfigFormat::Shared, dialect(program), &keys);
            keys.extend(more);
        }
        project.iter_mut().chain([&mut fields]).for_each(|it| switch_off(it, &mut self.entries));
        self
    }

    fn of_toml(mut self, mut fields: TomlFields<'_>, path: &Path) -> Self {
        if let Some(table) = fields.get("mcp_servers") {
            self.read(entries(&table), ConfigFormat::Codex, Dialect::Plain, &BTreeSet::new());
        } else if ClientProgram::of_path(path) != Some(ClientProgram::Codex) {
            // Codex keeps many other settings in its file.
            fields.refuse(
                "no MCP servers: expected [mcp_servers.NAME] as in Codex; --config names toolyard's own configuration",
            );
        }
        self
    }

    /// The part of `~/.claude.json` for the workspace alone.
    fn of_project<'f>(&self, fields: &mut TomlFields<'f>) -> Option<TomlFields<'f>> {
        let workspace = self.around.workspace;
        let all = fields.get("projects")?.table()?.all();
        let (_, project) = all.into_iter().find(|(path, _)| Path::new(path) == workspace)?;
        project.table()
    }

    /// Reads the servers of a table, except those that others replace.
    fn read(
        &mut self,
        all: Vec<(&str, TomlField<'_>)>,
        format: ConfigFormat,
        dialect: Dialect,
        replaced: &BTreeSet<String>,
    ) {
        let reader = ServerReader { format, dialect, unset: Unset::Refuse, around: self.around };
        self.entries.extend(reader.servers(all, replaced, &mut self.remarks));
    }
}

/// The entries of a table by their keys, or those of a list by their names.
fn entries<'f>(table: &TomlField<'f>) -> Vec<(&'f str, TomlField<'f>)> {
    let items = if table.is_list() { table.list().unwrap_or_default() } else { Vec::new() };
    if items.is_empty() {
        return table.table().map(|fields| fields.all()).unwrap_or_default();
    }
    let named = |item: TomlField<'f>| {
        let name = item.table()?.need("name", "the name of the server")?.text()?;
        Some((name, item))
    };
    items.into_iter().filter_map(named).collect()
}

/// How a program writes variables.
fn dialect(program: Option<ClientProgram>) -> Dialect {
    match program {
        Some(ClientProgram::ClaudeCode) => Dialect::Shell,
        Some(ClientProgram::ClaudeDesktop | ClientProgram::Zed) => Dialect::Plain,
        Some(ClientProgram::Cursor | ClientProgram::VsCode) => Dialect::Editor,
        Some(ClientProgram::Gemini) => Dialect::Dollar,
        Some(ClientProgram::OpenCode) => Dialect::Braces,
        Some(
            ClientProgram::Cline
            | ClientProgram::Codex
            | ClientProgram::Roo
            | ClientProgram::Windsurf,
        )
        | None => Dialect::Either,
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod variants;
