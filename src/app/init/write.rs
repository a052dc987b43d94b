//! The files of a new project.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::servers::ModelServer;
use crate::trial::Behaviour;
use crate::ui::text;

/// The most models of a server that a comment names.
const NAMED: usize = 12;

/// A file of a new project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// The path below the project's folder.
    pub path: &'static str,
    pub text: String,
}

/// Outcome of writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    New,
    /// A file of this name exists, and was left unchanged.
    Kept,
}

/// The files of a project that uses the first of these models, or the simulated one, and these configurations of MCP
/// servers.
pub fn files(found: &[ModelServer], mcp_files: &[PathBuf]) -> Vec<ProjectFile> {
    let file = |path, text: &str| ProjectFile { path, text: text.to_owned() };
    vec![
        file(
            "config.toml",
            &(include_str!("first/config.toml").to_owned() + &servers(mcp_files) + &models(found)),
        ),
        file("tasks.toml", include_str!("first/tasks.toml")),
        file("tools/opening_hours.toml", include_str!("first/opening_hours.toml")),
        file("tools/opening_hours.sh", include_str!("first/opening_hours.sh")),
    ]
}

/// The part about MCP servers.
fn servers(files: &[PathBuf]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let files = toml::Value::from(files);
    format!(
        "\n[tools]\n# Configurations of other programs; `toolyard tools check` starts their MCP servers.\n\
         mcp_files = {files}\n"
    )
}

impl ProjectFile {
    /// Whether something of this name exists.
    pub fn is_there(&self, folder: &Path) -> bool {
        self.place(folder).symlink_metadata().is_ok()
    }

    /// Writes the file, unless something of this name exists.
    ///
    /// # Errors
    /// The system's error, with the path.
    pub fn write(&self, folder: &Path) -> Result<WriteOutcome, String> {
        let path = self.place(folder);
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => file.write_all(self.text.as_bytes()).map_err(failed)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Ok(WriteOutcome::Kept);
            }
            Err(error) => return Err(failed(error)),
        }
        Ok(WriteOutcome::New)
    }

    fn place(&self, folder: &Path) -> PathBuf {
        folder.join(self.path)
    }
}

/// The tables `[models.*]` of the models found, and `[roles]`.
fn models(found: &[ModelServer]) -> String {
    let mut text: String = found.iter().map(section).collect();
    if found.is_empty() {
        text += "\n# No model was found. Remove the # and change what is wrong, or use --model; \
                 see docs/guide/own-models.md.\n#[models.mine]\n#kind = \"openai\"\n\
                 #url = \"http://localhost:11434/v1\"\n#model = \"qwen3\"\n\
                 #key_env = \"OPENAI_API_KEY\"\n";
    }
    let default = found.first().map_or("simulated", |found| found.provider.name);
    let simulated = "# The simulated model needs no key and no network. It knows only the tasks in tasks.toml.\n";
    let comment = if found.is_empty() { simulated } else { "" };
    text + &format!("\n[roles]\n{comment}default = {}\n", quoted(default))
}

fn section(found: &ModelServer) -> String {
    let ModelServer { provider, url, models, .. } = found;
    let model = models.first().map_or(provider.model, String::as_str);
    let more: Vec<_> = models.iter().skip(1).take(NAMED).map(|id| text::clean(id)).collect();
    let more = match more.is_empty() {
        true => String::new(),
        false => format!("# It also has: {}\n", more.join(", ")),
    };
    let key = provider.key.map(|key| format!("key_env = {}\n", quoted(key))).unwrap_or_default();
    let field = provider.max_tokens_field;
    let field = field.map(|field| format!("max_tokens_field = {}\n", quoted(field)));
    format!(
        "\n[models.{}]\nkind = \"{}\"\nurl = {}\n{more}model = {}\n{key}{}{}",
        provider.name,
        provider.format.codec().kind,
        quoted(url),
        quoted(model),
        field.unwrap_or_default(),
        settings(found),
    )
}

/// Settings that the server needs according to its trial, as lines of TOML.
fn settings(found: &ModelServer) -> String {
    let Some(tried) = &found.tried else { return String::new() };
    let window = tried.window.map(|tokens| format!("context = {tokens}\n")).unwrap_or_default();
    let as_text = "# It returned no tool calls of its own in a trial; toolyard doctor says what its server needs for them.\n\
                   tools = \"text\"\n";
    let is_text = matches!(
        tried.behaviour,
        Behaviour::CallAsText
            | Behaviour::Dropped { .. }
            | Behaviour::NoTools { .. }
            | Behaviour::NoCall { .. }
    );
    format!("{window}{}", if is_text { as_text } else { "" })
}

/// A text of TOML, with everything escaped that a server may have put into it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
