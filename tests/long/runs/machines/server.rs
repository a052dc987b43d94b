//! A NATS server of a test, in a folder of its own.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

/// The server of PyPI, which `scripts/sdks.sh` installs.
const INSTALLED: &str = "target/sdks/nats/bin/nats-server";
/// How many times a tenth of a second a server may take to answer.
const TRIES: usize = 100;

/// A server on this machine. It ends with its value.
pub struct NatsServer {
    program: PathBuf,
    folder: TempDir,
    port: u16,
    more: Vec<String>,
    running: Child,
}

impl NatsServer {
    /// A server with JetStream; `None`, loudly, where there is no program.
    pub fn start() -> Option<Self> {
        Self::with(&["-js"])
    }

    /// A server with these arguments.
    pub fn with(more: &[&str]) -> Option<Self> {
        let named = std::env::var_os("TOOLYARD_NATS_SERVER").map(PathBuf::from);
        let installed = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(INSTALLED);
        let Some(program) = named.or_else(|| installed.exists().then_some(installed)) else {
            eprintln!(
                "SKIPPED: there is no {INSTALLED}: run scripts/sdks.sh, or name one in TOOLYARD_NATS_SERVER"
            );
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let more: Vec<_> = more.iter().map(|text| (*text).to_owned()).collect();
        let running = run(&program, &folder, port, &more);
        Some(Self { program, folder, port, more, running })
    }

    pub fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills it, and starts it again on the same files after so long.
    pub fn kill(&mut self, away: Duration) {
        self.stop();
        sleep(away);
        self.running = run(&self.program, &self.folder, self.port, &self.more);
    }

    pub fn stop(&mut self) {
        let _ = self.running.kill();
        let _ = self.running.wait();
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(program: &PathBuf, folder: &TempDir, port: u16, more: &[String]) -> Child {
    let mut command = Command::new(program);
    command.args(["-a", "127.0.0.1", "-p", &port.to_string(), "-sd"]).arg(folder.path());
    command.args(more).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    for _ in 0..TRIES {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return running;
        }
        sleep(Duration::from_millis(100));
    }
    let _ = running.kill();
    panic!("the server on port {port} does not answer: {:?}", running.wait());
}
