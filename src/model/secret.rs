//! Keys: their sources, and how they stay hidden.
//!
//! A key is read when it is needed, from an environment variable or a command, and exists in memory only. Its type
//! cannot be printed ([`Secret`]), and every text that leaves an adapter passes `net::known`, because servers often
//! repeat what they refuse.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::{io::AsyncReadExt, process::Command, sync::Mutex, time::timeout};

use crate::domain::{ModelError, ModelErrorKind};
use crate::net::secret::Secret;

/// Time limit for a key command: it may ask a person to unlock a keyring.
const COMMAND_TIME: Duration = Duration::from_secs(60);
/// Longest key in bytes; some cloud tokens have several thousand.
const LONGEST: u64 = 64 * 1024;

/// The source of a key. There is no variant for a key itself: it would end up in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeySource {
    /// No key is sent.
    #[default]
    None,
    /// The environment variable of this name.
    Env(String),
    /// The output of this program with these arguments, without surrounding white space. No shell.
    /// It runs at the first request or before the first tool call, and its output is remembered until
    /// the endpoint refuses the key.
    Command(Vec<String>),
}

/// The source of a header's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderSource {
    /// A literal text, which must not be a secret.
    Literal(String),
    /// The environment variable of this name; its value is treated as a secret.
    Env(String),
}

impl KeySource {
    /// The place to check when the key is refused; empty if there is none.
    pub fn place(&self) -> String {
        match self {
            KeySource::None => String::new(),
            KeySource::Env(name) => format!("the environment variable {name}"),
            KeySource::Command(words) => format!("the output of the key command {words:?}"),
        }
    }
}

/// A key source and the last output of its command.
#[derive(Debug)]
pub(super) struct EndpointKey {
    source: KeySource,
    printed: Mutex<Option<Secret>>,
}

impl EndpointKey {
    pub(super) fn new(source: KeySource) -> Self {
        Self { source, printed: Mutex::new(None) }
    }

    /// The current key; `None` if none is sent.
    ///
    /// # Errors
    /// [`ModelErrorKind::Auth`] if the variable is not set or the command fails.
    pub(super) async fn read(&self) -> Result<Option<Secret>, ModelError> {
        match &self.source {
            KeySource::None => Ok(None),
            KeySource::Env(name) => from_env(name, "the key").map(Some),
            KeySource::Command(words) => {
                let mut printed = self.printed.lock().await;
                let key = match printed.take() {
                    Some(key) => key,
                    None => run(words).await?,
                };
                let copy = key.clone();
                *printed = Some(key);
                Ok(Some(copy))
            }
        }
    }

    /// Forgets the output of the command: the endpoint refused it, and tokens expire.
    pub(super) async fn forget(&self) {
        *self.printed.lock().await = None;
    }
}

/// The value of an environment variable that holds `what`.
pub(super) fn from_env(name: &str, what: &str) -> Result<Secret, ModelError> {
    Secret::from_env(name, what).map_err(missing)
}

/// Runs a key command. Its standard error is not shown: it may contain half a secret.
async fn run(words: &[String]) -> Result<Secret, ModelError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(missing("the key command is empty: name a program and its arguments"));
    };
    let failed = |why: &str| missing(format!("the key command {program:?} {why}"));
    let printed = timeout(COMMAND_TIME, print(program, arguments)).await.map_err(|_| {
        let seconds = COMMAND_TIME.as_secs();
        failed(&format!("did not end within {seconds} s"))
    })?;
    let (status, bytes) = printed.map_err(|why| failed(&format!("could not be run: {why}")))?;
    if !status.success() {
        return Err(failed(&format!("failed ({status}): run it by hand to see why")));
    }
    let key = String::from_utf8(bytes).unwrap_or_default();
    if key.trim().is_empty() {
        return Err(failed("did not print a key on its standard output"));
    }
    Ok(Secret::new(key.trim()))
}

/// The output of a program, up to the longest key, and its exit status. It is killed if this future
/// is dropped.
async fn print(program: &str, arguments: &[String]) -> std::io::Result<(ExitStatus, Vec<u8>)> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.kill_on_drop(true).spawn()?;
    let mut bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(LONGEST).read_to_end(&mut bytes).await?;
    }
    Ok((child.wait().await?, bytes))
}

fn missing(text: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Auth, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> KeySource {
        KeySource::Command(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[tokio::test]
    async fn a_command_is_run_once_until_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo run >> \"$1\"; printf ' key-%s\\n' from-command";
        let count = folder.path().join("count");
        let key = EndpointKey::new(words(&["sh", "-c", script, "sh", count.to_str().unwrap()]));
        for _ in 0..2 {
            assert_eq!(key.read().await.unwrap().unwrap().expose(), "key-from-command");
        }
        assert_eq!(std::fs::read_to_string(&count).unwrap(), "run\n");
        assert!(!format!("{key:?}").contains("key-from-command"));
        key.forget().await;
        key.read().await.unwrap();
        assert_eq!(std::fs::read_to_string(&count).unwrap(), "run\nrun\n");
    }

    #[tokio::test]
    async fn a_missing_key_says_what_to_do() {
        let cases = [
            (
                KeySource::Env("TOOLYARD_NO_SUCH_KEY".into()),
                "set the environment variable TOOLYARD_NO_SUCH_KEY",
            ),
            (words(&[]), "the key command is empty"),
            (words(&["/no/such/program"]), "\"/no/such/program\" could not be run"),
            (words(&["sh", "-c", "echo secret >&2; exit 3"]), "run it by hand"),
            (words(&["true"]), "did not print a key"),
        ];
        for (source, phrase) in cases {
            let error = EndpointKey::new(source).read().await.unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Auth);
            assert!(error.text.contains(phrase), "{error}");
            assert!(!error.text.contains("secret"), "{error}");
        }
    }
}
