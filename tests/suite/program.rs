//! The real program in a home of its own: nothing of this machine's user reaches it, and nothing of it
//! is left.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder that is home, working directory and everything else to the programs started in it.
///
/// The text names the servers of models that it finds, as TOOLYARD_LOCAL_SERVERS does.
pub struct Home(TempDir, String);

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Home {
    pub fn new() -> Self {
        Self::beside("none")
    }

    /// A home beside these servers of models.
    pub fn beside(servers: &str) -> Self {
        Self(tempfile::tempdir().unwrap(), servers.to_owned())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes a file, and the folders above it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The text of a file; of a journal, that of its lines.
    pub fn read(&self, name: &str) -> String {
        String::from_utf8(unpacked(&self.path(name)).unwrap()).unwrap()
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// What the program sees of the machine.
    pub fn environment(&self) -> Vec<(String, String)> {
        let folders = ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];
        let here = self.0.path().display().to_string();
        let mut variables: Vec<_> =
            folders.into_iter().map(|name| (name.to_owned(), here.clone())).collect();
        // The sockets of sessions, which need a folder that is private.
        variables.push(("XDG_RUNTIME_DIR".to_owned(), format!("{here}/run")));
        variables.push(("TOOLYARD_LOCAL_SERVERS".to_owned(), self.1.clone()));
        let program = Path::new(crate::PROGRAM).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        variables.push(("PATH".to_owned(), format!("{}:{path}", program.display())));
        variables
    }

    /// The program with these arguments, not started yet. It has no input.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(Path::new(crate::PROGRAM), arguments)
    }

    /// Another program with these arguments.
    pub fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command.env_clear().envs(self.environment());
        command
    }

    /// Runs it to its end. It never panics, whatever it is given.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Runs a line of a shell, in which the program is `toolyard`.
    pub fn shell(&self, line: &str) -> Ran {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.0.path()).stdin(Stdio::null());
        Ran::of(shell.env_clear().envs(self.environment()).output().unwrap())
    }

    /// Runs it, and it succeeds.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.out
    }
}

impl Ran {
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("what is printed is UTF-8");
        let ran = Self {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        };
        assert!(ran.code != 101 && !ran.err.contains("panicked"), "it panicked: {ran:?}");
        ran
    }

    /// Each line of what was printed, as JSON.
    pub fn lines(&self) -> Vec<Value> {
        let parse = |line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON: {line}: {error}"))
        };
        self.out.lines().map(parse).collect()
    }
}

/// The bytes of a file; of a zstd stream its text, as far as it goes.
pub fn unpacked(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path).map(text_of)
}

/// The same of bytes.
pub fn text_of(bytes: Vec<u8>) -> Vec<u8> {
    if !bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return bytes;
    }
    let mut text = Vec::new();
    // A stream that is still written does not end.
    let _ = zstd::Decoder::new(&*bytes).unwrap().read_to_end(&mut text);
    text
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
