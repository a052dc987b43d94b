//! A watched agent's process. It ends with toolyard, however toolyard ends.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use std::{io, process};

use rustix::process::Pid;
use rustix::termios::isatty;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::Mutex;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::command::{StartError, command};
use super::environment::Environment;
use super::output::{Output, Stream};
use super::terminal::Handed;
use crate::files::private;
use crate::process::{self as programs, RunningProgram};

/// The time an agent may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// The time for output to arrive after the agent has ended: a daemon of another user can hold the pipes open.
const DRAIN: Duration = Duration::from_millis(500);

/// How an agent uses input and output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// The agent reads no input, and its output is kept for a screen.
    #[default]
    Captured,
    /// The same, but the output is also written to a file.
    CapturedTo(PathBuf),
    /// Input, output and errors are those of toolyard.
    Passed,
    /// The agent has toolyard's terminal for itself.
    Terminal,
}

/// A watched agent. Dropping it ends the agent and everything it has started.
pub struct Agent {
    program: RunningProgram,
    pid: Pid,
    output: Arc<Output>,
    readers: Mutex<JoinSet<()>>,
    terminal: Mutex<Option<Handed>>,
}

/// The parts of an agent that depend on its manner.
struct AgentParts {
    program: RunningProgram,
    output: Output,
    pipes: Option<(ChildStdout, ChildStderr)>,
    terminal: Option<Handed>,
}

impl Agent {
    /// Starts the agent of this command in the working directory.
    ///
    /// # Errors
    /// The agent does not run, with the reason and what to do.
    pub async fn start(
        words: &[OsString],
        environment: &Environment,
        manner: &Manner,
    ) -> Result<Self, StartError> {
        let command = command(words, environment)?;
        let name = words.first().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let failed = |why: String| StartError::of_system(&name, why);
        let parts = match manner {
            Manner::Captured => captured(&command, None).map_err(|why| failed(why.to_string()))?,
            Manner::CapturedTo(path) => {
                let file = created(path)?;
                captured(&command, Some(file)).map_err(|why| failed(why.to_string()))?
            }
            Manner::Passed => passed(&command).map_err(|why| failed(why.to_string()))?,
            Manner::Terminal if !isatty(io::stdin()) => {
                return Err(StartError::NoTerminal { program: name });
            }
            Manner::Terminal => in_terminal(&command, io::stdin().as_fd().try_clone_to_owned())
                .map_err(|why| StartError::Terminal { program: name.clone(), why })?,
        };
        Self::begun(parts).await.map_err(failed)
    }

    async fn begun(parts: AgentParts) -> Result<Self, String> {
        let pid = parts.program.started().await?;
        let output = Arc::new(parts.output);
        let mut readers = JoinSet::new();
        if let Some((out, errors)) = parts.pipes {
            let (first, second) = (output.clone(), output.clone());
            readers.spawn(async move { first.follow(Stream::Out, out).await });
            readers.spawn(async move { second.follow(Stream::Err, errors).await });
        }
        let (readers, terminal) = (Mutex::new(readers), Mutex::new(parts.terminal));
        Ok(Self { program: parts.program, pid, output, readers, terminal })
    }

    /// Process of the agent, which leads a group and a session.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Output of the agent, which stays readable after its end.
    pub fn output(&self) -> Arc<Output> {
        self.output.clone()
    }

    /// Waits for the agent's end and the rest of its output. Returns the exit code; `None` if a signal has ended it.
    pub async fn wait(&self) -> Option<i32> {
        let status = self.program.ended().await;
        if let Err(why) = &status {
            tracing::warn!(why, "the end of the agent is unknown");
        }
        let mut readers = self.readers.lock().await;
        let rest = async { while readers.join_next().await.is_some() {} };
        // Any process that still holds the pipes is not the agent.
        let _late = timeout(DRAIN, rest).await;
        if let Some(terminal) = self.terminal.lock().await.take() {
            // Dropping the terminal waits for the last output.
            let _gone = spawn_blocking(move || drop(terminal)).await;
        }
        status.ok()?.code()
    }

    /// The programs that the agent had started, and that still ran when it ended.
    pub fn left(&self) -> Vec<String> {
        self.program.left()
    }

    /// Asks the agent and its group to end, and kills them after two seconds.
    pub fn end(&self) {
        self.program.end();
    }
}

/// The agent without input, with pipes for its output.
fn captured(command: &Command, file: Option<File>) -> io::Result<AgentParts> {
    let nothing = File::open("/dev/null")?;
    let (out, its_out) = io::pipe()?;
    let (errors, its_errors) = io::pipe()?;
    let files = [nothing.as_fd(), its_out.as_fd(), its_errors.as_fd()];
    let launch = programs::Launch { files, terminal: false, grace: GRACE };
    let program = RunningProgram::start_with(command, &launch)?;
    let out = ChildStdout::from_std(process::ChildStdout::from(OwnedFd::from(out)))?;
    let errors = ChildStderr::from_std(process::ChildStderr::from(OwnedFd::from(errors)))?;
    Ok(AgentParts {
        program,
        output: Output::new(file),
        pipes: Some((out, errors)),
        terminal: None,
    })
}

/// The agent with toolyard's own input, output and errors.
fn passed(command: &Command) -> io::Result<AgentParts> {
    let (input, out, errors) = (io::stdin(), io::stdout(), io::stderr());
    let files = [input.as_fd(), out.as_fd(), errors.as_fd()];
    let launch = programs::Launch { files, terminal: false, grace: GRACE };
    let program = RunningProgram::start_with(command, &launch)?;
    Ok(AgentParts { program, output: Output::new(None), pipes: None, terminal: None })
}

/// The agent in its own terminal, which is shown in this one.
fn in_terminal(command: &Command, terminal: io::Result<OwnedFd>) -> io::Result<AgentParts> {
    let (handed, its) = Handed::start(terminal?)?;
    let launch = programs::Launch { files: [its.as_fd(); 3], terminal: true, grace: GRACE };
    let program = RunningProgram::start_with(command, &launch)?;
    Ok(AgentParts { program, output: Output::new(None), pipes: None, terminal: Some(handed) })
}

/// A new file for the output, which only its owner can read.
fn created(path: &Path) -> Result<File, StartError> {
    let mut options = OpenOptions::new();
    let file = private::open(path, options.write(true).create(true).truncate(true));
    file.map_err(|why| StartError::File { path: path.display().to_string(), why })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;
    use std::{env, fs, future};

    use rustix::process::Signal;

    use super::*;
    use crate::agent::testing::{AGAIN, PATIENCE, has_ended, wait_until, with_reaper};

    /// A process that ignores requests to end, and its child in a separate group; both write their ids to `$1`.
    const STUBBORN: &str = "trap '' TERM; echo $$ >> \"$1\"; \
        setsid sh -c 'trap \"\" TERM; echo $$ >> \"$0\"; while :; do sleep 1; done' \"$1\" & \
        while :; do sleep 1; done";

    /// The variable with the file to which the agent of a killed parent writes the ids of its processes.
    const PIDS: &str = "TOOLYARD_TEST_AGENT_PIDS";

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    async fn start(script: &[&str], manner: Manner) -> Result<Agent, StartError> {
        with_reaper();
        let environment = Environment {
            variables: vec![("OPENAI_BASE_URL".into(), "http://127.0.0.1:1/v1".into())],
            ..Environment::default()
        };
        let command = words(&[&["sh", "-c"], script].concat());
        Agent::start(&command, &environment, &manner).await
    }

    async fn wait(agent: &Agent) -> Option<i32> {
        timeout(PATIENCE, agent.wait()).await.expect("the agent does not end")
    }

    fn read_pids(file: &Path) -> Vec<Pid> {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect()
    }

    #[tokio::test]
    async fn the_output_is_kept_with_its_streams() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        let script =
            "echo \"$OPENAI_BASE_URL\"; cat; echo \"${PATH:+path}\"; printf why >&2; exit 7";
        let agent = start(&[script], Manner::CapturedTo(file.clone())).await.unwrap();
        assert_eq!(wait(&agent).await, Some(7));
        let lines = agent.output().lines();
        let of = |stream| {
            let own = lines.iter().filter(move |line| line.stream == stream);
            own.map(|line| line.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(of(Stream::Out), ["http://127.0.0.1:1/v1", "path"]);
        assert_eq!(of(Stream::Err), ["why"]);
        assert_eq!(fs::read_to_string(&file).unwrap().len(), 30);
        assert_eq!(wait(&agent).await, Some(7));
    }

    #[tokio::test]
    async fn output_is_there_while_the_agent_runs() {
        let agent = start(&["echo begun; exec sleep 1000"], Manner::Captured).await.unwrap();
        let output = agent.output();
        timeout(PATIENCE, output.changes().wait_for(|count| *count > 0)).await.unwrap().unwrap();
        assert_eq!(output.lines()[0].text, "begun");
        assert!(!has_ended(agent.pid()));
        agent.end();
        assert_eq!(wait(&agent).await, None, "a signal has ended it");
    }

    #[tokio::test]
    async fn its_whole_group_is_killed_after_two_seconds() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let agent =
            start(&[STUBBORN, "sh", file.to_str().unwrap()], Manner::Captured).await.unwrap();
        wait_until("both run", || read_pids(&file).len() == 2);
        let started = Instant::now();
        agent.end();
        assert_eq!(wait(&agent).await, None);
        assert!(started.elapsed() >= GRACE, "{:?}", started.elapsed());
        wait_until("both are gone", || read_pids(&file).into_iter().all(has_ended));
    }

    #[tokio::test]
    async fn a_dropped_agent_ends() {
        let agent = start(&["exec sleep 1000"], Manner::Captured).await.unwrap();
        let pid = agent.pid();
        drop(agent);
        wait_until("it is gone", || has_ended(pid));
    }

    #[tokio::test]
    async fn it_is_said_what_the_system_refuses() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("agent");
        private::write(&program, b"#!/no/such/venv/bin/python\n").unwrap();
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        with_reaper();
        let command = [program.into_os_string()];
        let started = Agent::start(&command, &Environment::default(), &Manner::Captured).await;
        let why = started.err().unwrap().to_string();
        assert!(why.contains("exists, but the interpreter in its first line does not"), "{why}");
        let long = "x".repeat(1 << 22);
        let why = start(&["true", &long], Manner::Captured).await.err().unwrap().to_string();
        assert!(why.starts_with("`sh` cannot be started: Argument list too long"), "{why}");
        let started = start(&["true"], Manner::CapturedTo(folder.path().join("no/file"))).await;
        assert!(
            started.err().unwrap().to_string().starts_with("the output cannot be written to `")
        );
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_an_agent_leaves_behind_is_named_and_ended() {
        let agent = start(&["setsid sleep 1000 & sleep 1000 & exit 0"], Manner::Captured).await;
        let agent = agent.unwrap();
        assert_eq!(wait(&agent).await, Some(0));
        // Between the two the shell's own child may not have become another program yet.
        assert_eq!(agent.left().len(), 2, "{:?}", agent.left());
        let agent = start(&["sleep 0; exit 0"], Manner::Captured).await.unwrap();
        assert_eq!((wait(&agent).await, agent.left()), (Some(0), Vec::new()));
    }

    #[tokio::test]
    #[ignore = "is killed by the test below"]
    async fn be_a_parent_that_is_killed() {
        let Some(file) = env::var_os(PIDS) else { return };
        let script = [STUBBORN, "sh", file.to_str().unwrap()];
        let _agent = start(&script, Manner::Passed).await.unwrap();
        future::pending::<()>().await;
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_agent_ends_with_toolyard_even_if_it_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let mut toolyard = Command::new(env::current_exe().unwrap());
        toolyard.args(AGAIN).arg("agent::child::tests::be_a_parent_that_is_killed");
        let mut toolyard =
            toolyard.env(PIDS, &file).stdout(process::Stdio::null()).spawn().unwrap();
        wait_until("both run", || read_pids(&file).len() == 2);
        rustix::process::kill_process(Pid::from_child(&toolyard), Signal::KILL).unwrap();
        toolyard.wait().unwrap();
        wait_until("both are gone", || read_pids(&file).into_iter().all(has_ended));
    }
}
