//! The command that starts an agent, and why it cannot be started.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io, path};

use rustix::io::Errno;

use super::environment::Environment;

/// The reason why an agent does not run, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("no command; write it after `--`, such as: toolyard watch -- python my_agent.py")]
    Empty,
    #[error(
        "the program `{0}` is not in PATH; install it, activate its environment, or give its full path"
    )]
    NotInPath(String),
    #[error(
        "the program `{0}` is not in PATH; for the file in the working directory, write `./{0}`"
    )]
    OnlyHere(String),
    #[error("there is no file `{0}`; check the path and the working directory")]
    NoFile(String),
    #[error("`{0}` is a directory; name the program in it")]
    Directory(String),
    #[error(
        "`{0}` is not executable; start it with its interpreter, such as `python {0}`, or run `chmod +x {0}`"
    )]
    NotExecutable(String),
    #[error(
        "`{0}` exists, but the interpreter in its first line does not; install the program or its environment again"
    )]
    NoInterpreter(String),
    #[error("`{program}` cannot be started: {why}")]
    Failed { program: String, why: String },
    #[error("the output cannot be written to `{path}`: {why}")]
    File { path: String, why: io::Error },
    #[error(
        "`{program}` needs a terminal, and standard input is not one; run toolyard in a terminal"
    )]
    NoTerminal { program: String },
    #[error("the terminal cannot be handed to `{program}`: {why}")]
    Terminal { program: String, why: io::Error },
}

impl StartError {
    /// The system's reason why a program that was found does not run.
    pub fn of_system(program: &str, why: String) -> Self {
        // The program's file exists, so another file, such as an interpreter, is missing.
        if why.ends_with(&format!("(os error {})", Errno::NOENT.raw_os_error())) {
            return Self::NoInterpreter(program.to_owned());
        }
        Self::Failed { program: program.to_owned(), why }
    }
}

/// The command of these words, with the agent's environment and arguments.
///
/// # Errors
/// There is no such program, or it cannot be executed.
pub fn command(words: &[OsString], environment: &Environment) -> Result<Command, StartError> {
    let (program, arguments) = words.split_first().ok_or(StartError::Empty)?;
    let mut command = Command::new(found(program)?);
    command.args(&environment.arguments).args(arguments);
    // The program sees only variables that are set here.
    command.envs(env::vars_os());
    command.envs(environment.variables.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

/// The file of a program, as a shell finds it.
fn found(program: &OsStr) -> Result<PathBuf, StartError> {
    let shown = || program.to_string_lossy().into_owned();
    if program.as_encoded_bytes().contains(&b'/') {
        let file = Path::new(program);
        return match file.metadata() {
            Err(_) => Err(StartError::NoFile(shown())),
            Ok(about) if about.is_dir() => Err(StartError::Directory(shown())),
            Ok(_) if !is_executable(file) => Err(StartError::NotExecutable(shown())),
            Ok(_) => whole(file, program),
        };
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut files = env::split_paths(&path).map(|folder| folder.join(program));
    if let Some(file) = files.find(|file| is_executable(file)) {
        return whole(&file, program);
    }
    if Path::new(program).is_file() {
        return Err(StartError::OnlyHere(shown()));
    }
    Err(StartError::NotInPath(shown()))
}

/// The absolute path: the process that starts programs is in another directory.
fn whole(file: &Path, program: &OsStr) -> Result<PathBuf, StartError> {
    path::absolute(file).map_err(|why| StartError::Failed {
        program: program.to_string_lossy().into_owned(),
        why: why.to_string(),
    })
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_is_said_what_keeps_a_program_from_running() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("agent.py");
        fs::write(&script, "print(1)").unwrap();
        let file = script.to_str().unwrap();
        let why = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            command(&words, &Environment::default()).unwrap_err().to_string()
        };
        assert!(why(&[]).starts_with("no command; write it after `--`"));
        assert!(
            why(&["no-such-program"])
                .starts_with("the program `no-such-program` is not in PATH; install")
        );
        assert!(why(&["./nothing"]).starts_with("there is no file `./nothing`"));
        assert!(why(&["/"]).contains("is a directory"));
        let expected = format!("start it with its interpreter, such as `python {file}`");
        assert!(why(&[file]).contains(&expected), "{}", why(&[file]));
        // Tests run in the crate's folder.
        assert!(why(&["Cargo.toml"]).ends_with("write `./Cargo.toml`"));
    }

    #[test]
    fn arguments_of_a_recipe_are_before_those_of_the_user() {
        let environment = Environment {
            variables: vec![("OPENAI_BASE_URL".into(), "http://x".into())],
            arguments: vec!["-c".into(), "a=b".into()],
            ..Environment::default()
        };
        let made = command(&["sh".into(), "exec".into()], &environment).unwrap();
        assert!(Path::new(made.get_program()).is_absolute());
        assert_eq!(made.get_args().collect::<Vec<_>>(), ["-c", "a=b", "exec"]);
        let set = made.get_envs().find(|(name, _)| *name == "OPENAI_BASE_URL").unwrap();
        assert_eq!(set.1.unwrap(), "http://x");
    }
}
