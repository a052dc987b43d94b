//! The real program in a pseudo-terminal: what a person sees, and what is left of it afterwards.

use std::{
    io::{Read, Write},
    num::NonZero,
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use toolyard::ui::terminal::Owned;
use vt100::{MouseProtocolMode, Parser, Screen};

/// Far more than anything here takes; whoever waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program, and the terminal that it thinks it runs in.
struct Sitting {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
    _home: TempDir,
}

struct Seen {
    parser: Parser,
    bytes: Vec<u8>,
    closed: bool,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn cells(n: u16) -> NonZero<u16> {
    NonZero::new(n).unwrap()
}

impl Sitting {
    /// Starts the program in a home of its own.
    fn start(columns: u16, rows: u16, arguments: &[&str]) -> Self {
        Self::start_program(Path::new(env!("CARGO_BIN_EXE_toolyard")), columns, rows, arguments)
    }

    fn start_program(program: &Path, columns: u16, rows: u16, arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.cwd(home.path());
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("HOME", home.path());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = Parser::new(cells(rows), cells(columns), 0);
        let seen = Arc::new(Mutex::new(Seen { parser, bytes: Vec::new(), closed: false }));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let watcher = Arc::clone(&seen);
        thread::spawn(move || {
            let mut buf = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut buf) {
                let mut seen = watcher.lock().unwrap();
                seen.parser.process(&buf[..n]);
                seen.bytes.extend_from_slice(&buf[..n]);
            }
            watcher.lock().unwrap().closed = true;
        });
        let writer = pair.master.take_writer().unwrap();
        Self { child, master: pair.master, writer, seen, _home: home }
    }

    fn home(&self) -> &Path {
        self._home.path()
    }

    fn press(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    fn resize(&self, columns: u16, rows: u16) {
        self.seen.lock().unwrap().parser.screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    fn text(&self) -> String {
        self.seen.lock().unwrap().parser.screen().contents()
    }

    /// Waits until the screen shows this.
    fn wait(&self, what: &str) {
        self.wait_until(what, |screen| screen.contents().contains(what));
    }

    fn wait_until(&self, what: &str, holds: impl Fn(&Screen) -> bool) {
        let start = Instant::now();
        while !holds(self.seen.lock().unwrap().parser.screen()) {
            assert!(start.elapsed() < PATIENCE, "waited for {what:?}, saw\n{}", self.text());
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn kill(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.process_id().unwrap() as i32).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end, and makes sure that the terminal is as it was.
    fn end(mut self) -> ExitStatus {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end:\n{}", self.text());
            thread::sleep(Duration::from_millis(5));
        };
        while !self.seen.lock().unwrap().closed {
            assert!(start.elapsed() < PATIENCE, "the terminal stays open");
            thread::sleep(Duration::from_millis(5));
        }
        self.assert_given_back();
        status
    }

    fn assert_given_back(&self) {
        let seen = self.seen.lock().unwrap();
        let screen = seen.parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen is still on");
        assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None);
        assert!(!screen.bracketed_paste(), "pasted text is still marked");
        assert!(!screen.hide_cursor(), "the cursor is still hidden");
        let text = String::from_utf8_lossy(&seen.bytes);
        assert_eq!(text.matches("\x1b[?1004h").count(), text.matches("\x1b[?1004l").count());
    }
}

#[test]
fn a_person_runs_the_demo_looks_around_and_leaves() {
    let mut sitting = Sitting::start(120, 40, &["--seed", "5"]);
    sitting.wait("PAUSED");
    sitting.wait("SIMULATED MODEL");
    sitting.wait("search_web");
    sitting.press(" ");
    sitting.wait("task 3/");
    sitting.press(" ");
    sitting.wait("PAUSED");

    sitting.press("?");
    sitting.wait("Help: every key");
    sitting.press("manifests");
    sitting.wait("reload-tools");
    sitting.press("\x1b");
    sitting.wait_until("the help to close", |screen| !screen.contents().contains("Help:"));

    sitting.press("v");
    sitting.wait("exactly what the model saw");
    sitting.press("q");
    sitting.press("3ze");
    sitting.wait("Score of");
    sitting.press("7\r");
    sitting.wait("+7");
    sitting.press("u");
    sitting.wait_until("the score to be taken back", |screen| !screen.contents().contains("+7"));

    sitting.press("s");
    sitting.wait("written: ");
    let shots = std::fs::read_dir(sitting.home()).unwrap();
    let names = shots.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().any(|name| name.ends_with(".svg")));

    sitting.press("q");
    sitting.wait("Leave while the agent is at work?");
    sitting.press("y");
    assert_eq!(sitting.end().exit_code(), 0);
}

#[test]
fn any_size_is_lived_with() {
    let mut sitting = Sitting::start(80, 24, &[]);
    sitting.wait("1 Graph");
    sitting.resize(200, 60);
    sitting.wait("6 Calls");
    sitting.resize(30, 8);
    sitting.wait("too small: 30×8");
    sitting.resize(80, 24);
    sitting.wait("2 Transcript");
    sitting.press("q");
    assert_eq!(sitting.end().exit_code(), 0);
}

#[test]
fn suspended_it_gives_the_terminal_back_and_comes_back_itself() {
    let mut sitting = Sitting::start(100, 30, &[]);
    sitting.wait("1 Graph");
    // There is no shell here that could ever continue it, so the system does not let it stop; then it
    // takes the terminal again by itself.
    sitting.press("\x1a");
    sitting.wait_until("the shell's screen", |screen| !screen.alternate_screen());
    sitting.wait_until("its own screen", Screen::alternate_screen);
    sitting.wait("1 Graph");
    sitting.press("4");
    sitting.wait("4 Knobs");
    sitting.press("q");
    assert_eq!(sitting.end().exit_code(), 0);
}

#[test]
fn a_signal_ends_it_and_gives_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut sitting = Sitting::start(100, 30, &[]);
        sitting.wait("PAUSED");
        sitting.press(" ");
        sitting.wait("RUNNING");
        sitting.kill(signal);
        assert_eq!(sitting.end().exit_code(), code, "{signal:?}");
    }
}

#[test]
fn a_session_is_looked_at_again_and_cannot_be_changed() {
    let home = tempfile::tempdir().unwrap();
    let journal = home.path().join("j.jsonl");
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_toolyard"))
        .args(["run", "--tasks-limit", "3", "--journal"])
        .arg(&journal)
        .env("HOME", home.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.code().is_some_and(|code| code < 2), "{status}");
    let mut sitting = Sitting::start(120, 40, &["replay", journal.to_str().unwrap()]);
    sitting.wait("REPLAY");
    sitting.wait("task 3/3");
    sitting.press(",");
    sitting.wait("LIVE +1");
    sitting.press("^");
    sitting.wait("EVENT 1,");
    sitting.press("$f");
    sitting.wait("a replay can only be looked at");
    sitting.press("q");
    assert_eq!(sitting.end().exit_code(), 0);
}

#[test]
fn without_a_terminal_it_says_so() {
    let home = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_toolyard"))
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("needs a terminal") && said.contains("toolyard run"), "{said}");
    assert!(output.stdout.is_empty());
}

/// Runs one of the ignored tests below in a pseudo-terminal; everything that it wrote.
fn played(name: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let arguments = ["--exact", name, "--ignored", "--nocapture"];
    let sitting = Sitting::start_program(&this, 100, 30, &arguments);
    let seen = Arc::clone(&sitting.seen);
    sitting.end();
    let seen = seen.lock().unwrap();
    String::from_utf8_lossy(&seen.bytes).into_owned()
}

/// Where in what was written this is.
fn place(written: &str, what: &str) -> usize {
    written.find(what).unwrap_or_else(|| panic!("{what:?} was not written:\n{written}"))
}

const GIVEN_BACK: &str = "\x1b[?1049l";

#[test]
fn a_panic_of_the_screen_gives_the_terminal_back_before_it_is_told() {
    let written = played("pty::child_the_screen_panics");
    assert!(place(&written, GIVEN_BACK) < place(&written, "the screen's own fault"));
    assert_eq!(written.matches(GIVEN_BACK).count(), 1);
}

#[test]
#[ignore = "is run in a pseudo-terminal by the test above"]
fn child_the_screen_panics() {
    let _owned = Owned::take(true).unwrap();
    panic!("the screen's own fault");
}

#[test]
fn a_panic_below_a_live_screen_leaves_it_alone_and_is_told_after_it() {
    let written = played("pty::child_a_worker_panics");
    let alive = place(&written, "the screen lives");
    assert!(alive < place(&written, GIVEN_BACK));
    assert!(place(&written, GIVEN_BACK) < place(&written, "worker panicked"));
    assert_eq!(written.matches(GIVEN_BACK).count(), 1);
}

#[test]
#[ignore = "is run in a pseudo-terminal by the test above"]
fn child_a_worker_panics() {
    let mut owned = Owned::take(true).unwrap();
    let worker = thread::Builder::new().name("worker".into());
    let worker = worker.spawn(|| panic!("a worker's fault")).unwrap();
    assert!(worker.join().is_err());
    let told = owned.panics.try_recv().unwrap();
    assert!(told.contains("a worker's fault"), "{told}");
    print!("the screen lives");
    std::io::stdout().flush().unwrap();
}
