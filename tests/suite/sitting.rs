//! The real program in a pseudo-terminal: what a person sees and types, and what is left of it.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use std::{num::NonZero, thread};

use portable_pty::{
    Child, CommandBuilder, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system,
};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, waitid};
use vt100::{MouseProtocolMode, Parser, Screen};

use crate::program::Home;

/// Far more than anything here takes; whoever waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program, and the terminal that it thinks it runs in.
pub struct Sitting {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    /// Held open, so that the terminal's modes can be read when the program is gone.
    slave: Option<Box<dyn SlavePty + Send>>,
    writer: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
    /// How the terminal was before.
    modes: String,
}

struct Seen {
    parser: Parser,
    bytes: Vec<u8>,
    closed: bool,
    /// Nobody reads for now.
    held: bool,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn cells(n: u16) -> NonZero<u16> {
    NonZero::new(n).unwrap()
}

impl Sitting {
    /// Starts the program.
    pub fn start(home: &Home, columns: u16, rows: u16, arguments: &[&str]) -> Self {
        let program = crate::PROGRAM;
        Self::of(home, columns, rows, &[&[program], arguments].concat(), &[])
    }

    /// Starts any program, with some variables more.
    pub fn of(
        home: &Home,
        columns: u16,
        rows: u16,
        words: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let mut command = CommandBuilder::new(words[0]);
        command.args(&words[1..]);
        command.cwd(home.path(""));
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        for (name, value) in variables {
            command.env(name, value);
        }
        let modes = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).unwrap();
        let parser = Parser::new(cells(rows), cells(columns), 0);
        let seen =
            Arc::new(Mutex::new(Seen { parser, bytes: Vec::new(), closed: false, held: false }));
        let reader = pair.master.try_clone_reader().unwrap();
        let watcher = Arc::clone(&seen);
        thread::spawn(move || watch(reader, &watcher));
        let writer = pair.master.take_writer().unwrap();
        Self { child, master: pair.master, slave: Some(pair.slave), writer, seen, modes }
    }

    /// Stops to read what is written to the terminal, or goes on with it.
    pub fn hold(&self, held: bool) {
        self.seen().held = held;
    }

    /// Waits until the program has ended; how long that took.
    pub fn until_end(&mut self) -> Duration {
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < PATIENCE, "it does not end");
            thread::sleep(Duration::from_millis(5));
        }
        start.elapsed()
    }

    pub fn press(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.seen().parser.screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// What is on the screen.
    pub fn text(&self) -> String {
        self.seen().parser.screen().contents()
    }

    /// The first line of the screen, without how long something has been so.
    pub fn header(&self) -> String {
        let text = self.text();
        let line = text.lines().next().unwrap_or_default();
        line.split(" for ").next().unwrap_or_default().to_owned()
    }

    /// Everything that was written to the terminal so far.
    pub fn bytes(&self) -> String {
        String::from_utf8_lossy(&self.seen().bytes).into_owned()
    }

    /// Waits until the screen shows this.
    pub fn wait(&self, what: &str) {
        self.wait_until(what, |screen| screen.contents().contains(what));
    }

    pub fn wait_until(&self, what: &str, holds: impl Fn(&Screen) -> bool) {
        self.wait_for(what, || holds(self.seen().parser.screen()));
    }

    /// Waits until this is so.
    pub fn wait_for(&self, what: &str, holds: impl Fn() -> bool) {
        self.wait_within(PATIENCE, what, holds);
    }

    /// The same for work that takes longer than usual.
    pub fn wait_within(&self, patience: Duration, what: &str, holds: impl Fn() -> bool) {
        let start = Instant::now();
        while !holds() {
            let waited = start.elapsed() >= patience;
            assert!(!waited, "waited for {what:?}, {:?}, saw\n{}", self.ended(), self.text());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the first line says this.
    pub fn wait_header(&self, what: &str) {
        self.wait_for(what, || self.header().contains(what));
    }

    /// How it has ended, if it has; it can be waited for as before.
    fn ended(&self) -> Option<WaitIdStatus> {
        let only_look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(self.pid()), only_look).unwrap()
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.process_id().unwrap()).unwrap()).unwrap()
    }

    pub fn kill(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for the end, makes sure that the terminal is as it was, and gives everything that was
    /// written to it.
    pub fn end(mut self) -> (ExitStatus, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end:\n{}", self.text());
            thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(modes(&*self.master), self.modes, "the terminal's own modes have changed");
        drop(self.slave.take());
        self.wait_for("the terminal to be closed", || self.seen().closed);
        self.assert_given_back();
        (status, self.bytes())
    }

    fn assert_given_back(&self) {
        let seen = self.seen();
        let screen = seen.parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen is still on");
        assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None);
        assert!(!screen.bracketed_paste(), "pasted text is still marked");
        assert!(!screen.hide_cursor(), "the cursor is still hidden");
        let bytes = String::from_utf8_lossy(&seen.bytes);
        assert_eq!(bytes.matches("\x1b[?1004h").count(), bytes.matches("\x1b[?1004l").count());
    }
}

impl Drop for Sitting {
    /// A test that failed leaves nothing running.
    fn drop(&mut self) {
        let _already_over = self.child.kill();
    }
}

/// How the terminal treats what is typed: line by line or key by key, with an echo or without.
fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("a terminal has modes"))
}

fn watch(mut reader: Box<dyn Read + Send>, seen: &Mutex<Seen>) {
    let mut buf = [0; 4096];
    loop {
        while seen.lock().unwrap().held {
            thread::sleep(Duration::from_millis(5));
        }
        let Ok(n @ 1..) = reader.read(&mut buf) else { break };
        let mut seen = seen.lock().unwrap();
        seen.parser.process(&buf[..n]);
        seen.bytes.extend_from_slice(&buf[..n]);
    }
    seen.lock().unwrap().closed = true;
}

/// What asks a terminal for its text and its ground, and then for what any terminal answers.
const COLOURS_ASKED: &str = "\x1b]11;?\x07\x1b[c";

/// Makes sure that there is nothing in these bytes but text, places, colours, clearing and the modes
/// that the screen sets.
pub fn assert_harmless(bytes: &str) {
    // The terminal is asked for its colours, once, and now and then for its type.
    let bytes = bytes.replacen(COLOURS_ASKED, "", 1).replace("\x1b[c", "");
    let mut rest = &*bytes;
    while let Some(at) = rest.find(char::is_control) {
        rest = &rest[at..];
        if let Some(next) = rest.strip_prefix(['\r', '\n']) {
            rest = next;
            continue;
        }
        let start: String = rest.chars().take(24).collect();
        let Some(sequence) = rest.strip_prefix("\x1b[") else {
            panic!("a control character reached the terminal: {start:?}")
        };
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).expect("an end");
        let mode = sequence[..end].strip_prefix('?').is_some_and(|mode| {
            ["1049", "1000", "1002", "1006", "2004", "1004", "25", "2026"].contains(&mode)
        });
        let last = &sequence[end..=end];
        let known =
            matches!(last, "m" | "H" | "C" | "J" | "K") || (mode && matches!(last, "h" | "l"));
        assert!(known, "an escape sequence reached the terminal: {start:?}");
        rest = &sequence[end + 1..];
    }
}
