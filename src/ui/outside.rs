//! Programs that a person runs from the screen: an editor, a pager, or commands of their own. Those that need the
//! terminal have it until they end; the others run beside the screen.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::{env, fs, io, thread};

use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::mpsc::UnboundedSender;

use super::own::{OwnCommand, PLACEHOLDERS, Selection};
use crate::files::private;
use crate::net::known::without_known;
use crate::tool::command::CommandSource;

/// The most bytes of a command's output that are shown.
const OUTPUT: usize = 1 << 20;

/// Opens a file in the user's editor, else in a pager. The variables are lines for the shell, with arguments.
const EDITOR: &str = "eval \"${VISUAL:-${EDITOR:-${PAGER:-less}}} \\\"\\$1\\\"\"";

/// The result of a command that ran beside the screen.
#[derive(Debug)]
pub struct CommandOutput {
    pub command: OwnCommand,
    pub said: Result<String, String>,
}

/// A selected thing in files that only its user can read. Dropping it removes them.
#[derive(Debug)]
pub struct Files {
    _folder: TempDir,
    text: PathBuf,
    json: PathBuf,
}

impl Files {
    /// # Errors
    /// They cannot be written.
    pub fn write(selection: &Selection) -> io::Result<Self> {
        let only_own = fs::Permissions::from_mode(0o700);
        let folder =
            tempfile::Builder::new().prefix("toolyard-").permissions(only_own).tempdir()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name: String = selection.name.chars().filter(|c| is_plain(*c)).take(60).collect();
        let path = |end: &str| folder.path().join(format!("{}-{name}.{end}", selection.kind));
        let (text, json) = (path("txt"), path("json"));
        private::write(&text, without_known(&selection.text).as_bytes())?;
        private::write(&json, without_known(&selection.json).as_bytes())?;
        Ok(Self { text, json, _folder: folder })
    }

    /// The text after a program may have changed it.
    ///
    /// # Errors
    /// It cannot be read, or is not UTF-8.
    pub fn text(&self) -> io::Result<String> {
        fs::read_to_string(&self.text)
    }

    /// The variables of a command, in the order of [`PLACEHOLDERS`].
    fn variables(
        &self,
        selection: &Selection,
        journal: Option<&Path>,
    ) -> impl Iterator<Item = (&'static str, String)> {
        let path = |path: &Path| path.display().to_string();
        let values = [
            path(&self.text),
            path(&self.json),
            selection.name.clone(),
            selection.kind.to_owned(),
            journal.map(path).unwrap_or_default(),
        ];
        PLACEHOLDERS.iter().map(|(_, variable)| *variable).zip(values)
    }
}

/// A program that has the terminal.
pub fn in_terminal(
    files: &Files,
    selection: &Selection,
    command: Option<&OwnCommand>,
    journal: Option<&Path>,
) -> Command {
    let mut shell = Command::new("sh");
    match command {
        Some(command) => shell.arg("-c").arg(command.line()),
        None => shell.args(["-c", EDITOR, "sh"]).arg(&files.text),
    };
    shell.envs(files.variables(selection, journal)).kill_on_drop(true);
    shell
}

/// Describes the failure of a program that had the terminal.
pub fn complaint(ended: &io::Result<ExitStatus>, command: Option<&OwnCommand>) -> Option<String> {
    let name = command.map_or("the editor", |command| &command.name);
    match ended.as_ref().map(|status| (status.code(), status)) {
        Err(error) => Some(format!("{name}: cannot start sh: {error}")),
        Ok((Some(127), _)) if command.is_none() => {
            Some("editor not found: set VISUAL, EDITOR or PAGER".to_owned())
        }
        Ok((Some(0), _)) => None,
        Ok((_, status)) => Some(format!("{name} failed: {status}")),
    }
}

/// Runs a command beside the screen, and sends its output.
///
/// # Errors
/// It cannot be started.
pub fn beside(
    files: Files,
    selection: &Selection,
    command: OwnCommand,
    journal: Option<&Path>,
    tell: UnboundedSender<CommandOutput>,
) -> io::Result<()> {
    let source = CommandSource {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), command.line()],
        env: env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect(),
        set: files
            .variables(selection, journal)
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        cwd: None,
        max_output: OUTPUT,
    };
    let given = serde_json::from_str(&selection.json).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = move || {
        let said = runtime.block_on(source.run(&given));
        drop(files);
        let said = said.map(|output| output.text).map_err(|error| error.text);
        // The screen may be gone.
        let _ = tell.send(CommandOutput { command, said });
    };
    thread::Builder::new().name("command".to_owned()).spawn(run).map(drop)
}
