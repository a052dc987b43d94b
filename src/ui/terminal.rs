//! Ownership of the terminal: every mode is set once and undone once, whether the screen ends by a key, an error, a
//! panic or a signal.
//!
//! A panic of the screen's own thread restores the terminal before it is reported. A panic of another thread must not,
//! since the screen goes on: it is passed to the screen, and afterwards to standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{panic, sync::Arc, sync::Mutex, thread};

use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::layout::{Position, Rect};
use ratatui::{Terminal, crossterm};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::brush::Brush;
use super::cast::Cast;
use super::output;
use crate::files::safe_text::visible;
use crate::net::known::without_known;

/// The private modes of the screen, in the order in which they are set: the number, and whether entering sets the mode
/// (the cursor's mode is reset).
const MODES: &[(u16, bool)] = &[
    (1049, true), // alternate screen
    (1000, true), // mouse: buttons and wheel
    (1002, true), // mouse: motion while a button is held; none without it, so that a moving mouse costs nothing
    (1006, true), // mouse places beyond column 223
    (2004, true), // pasted text is marked as such
    (1004, true), // focus comes and goes
    (25, false),  // the cursor hides
];

/// The modes that the mouse needs.
const MOUSE: [u16; 3] = [1000, 1002, 1006];

/// Whether the modes are set. The code that swaps it to false undoes them.
static SET: AtomicBool = AtomicBool::new(false);

/// Messages of other threads that panicked while the screen was shown.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The terminal while the screen owns it; dropping it gives it back.
pub struct OwnedTerminal {
    pub terminal: Terminal<Brush<Frames>>,
    /// Messages of other threads that panic.
    pub panics: UnboundedReceiver<String>,
    mouse: bool,
}

/// Standard output, a whole frame at a time. A frame that was interrupted, or that comes after the terminal was given
/// back, is dropped: it would overwrite the shell's output.
#[derive(Debug, Default)]
pub struct Frames {
    frame: Vec<u8>,
    /// Recording that also gets the bytes that are written.
    cast: Option<SharedCast>,
}

/// A recording that grows while the screen is shown.
pub type SharedCast = Arc<Mutex<Cast>>;

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let frame = std::mem::take(&mut self.frame);
        if !SET.load(Ordering::SeqCst) {
            return Ok(());
        }
        if !frame.is_empty() {
            // The terminal shows the frame at once, or ignores the unknown mode.
            output::send(&[b"\x1b[?2026h", &frame[..], b"\x1b[?2026l"].concat())?;
            if let Some(Ok(mut cast)) = self.cast.as_ref().map(|cast| cast.lock()) {
                cast.frame(&frame);
            }
        }
        // Room for the next frame, which has mostly the same size.
        self.frame = frame;
        self.frame.clear();
        Ok(())
    }
}

impl OwnedTerminal {
    /// Takes over the terminal, and records the bytes written to it.
    ///
    /// # Errors
    /// Where standard output is no terminal, or the terminal refuses; nothing is left set then.
    pub fn take(mouse: bool, cast: Option<SharedCast>) -> io::Result<Self> {
        expect("use `toolyard run`")?;
        let (sender, panics) = unbounded_channel();
        hook(sender);
        set(mouse)?;
        match Terminal::new(Brush::new(Frames { frame: Vec::new(), cast })) {
            Ok(terminal) => Ok(Self { terminal, panics, mouse }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Takes over the terminal again and redraws everything.
    pub fn retake(&mut self) -> io::Result<()> {
        set(self.mouse)?;
        self.redraw()
    }

    /// Sets modes that a shell may have changed while the program was stopped from outside.
    pub fn refresh(&mut self) -> io::Result<()> {
        disable_raw_mode()?;
        enable_raw_mode()?;
        self.redraw()
    }

    /// Makes the next frame write every cell again.
    pub fn redraw(&mut self) -> io::Result<()> {
        // `Terminal::clear` would ask the terminal for the cursor's position and wait for the answer, which the reader
        // of keys gets instead. A resize to the same size clears without asking.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }
}

impl Drop for OwnedTerminal {
    fn drop(&mut self) {
        restore();
        let panics = PANICS.lock().map(|mut panics| std::mem::take(&mut *panics));
        for panic in panics.unwrap_or_default().into_iter().filter(|_| !output::is_stuck()) {
            let _ = writeln!(io::stderr(), "{}", visible(&panic));
        }
    }
}

/// Checks that a screen can be shown, before a session starts. `instead`: what to do where none can be.
///
/// # Errors
/// Why it cannot, and what to do instead.
pub fn expect(instead: &str) -> io::Result<()> {
    let what = if !io::stdout().is_terminal() {
        format!("stdout is not a terminal, and the screen needs one: {instead}")
    } else {
        match std::env::var_os("TERM") {
            Some(name) if name == "dumb" => {
                format!("TERM is dumb, which cannot draw a screen: set TERM, or {instead}")
            }
            Some(name) if !name.is_empty() => return Ok(()),
            Some(_) | None => {
                format!("TERM is not set, so the screen cannot be drawn: set TERM, or {instead}")
            }
        }
    };
    Err(io::Error::new(io::ErrorKind::Unsupported, what))
}

/// Columns and rows of standard output, if it is a terminal that knows them.
pub fn size() -> Option<(u16, u16)> {
    let known = io::stdout().is_terminal().then(|| crossterm::terminal::size().ok()).flatten();
    known.filter(|(columns, rows)| *columns > 0 && *rows > 0)
}

fn set(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    SET.store(true, Ordering::SeqCst);
    let mut bytes = Vec::new();
    let entered = enter(&mut bytes, mouse).and_then(|()| output::send(&bytes));
    if entered.is_err() {
        restore();
    }
    entered
}

/// Undoes all set modes. If one step fails, the rest is still tried.
pub fn restore() {
    if SET.swap(false, Ordering::SeqCst) {
        let mut bytes = Vec::new();
        let _ = leave(&mut bytes);
        output::end_with(&bytes);
        let _ = disable_raw_mode();
    }
}

/// Writes the sequences that set the modes.
pub fn enter(out: &mut impl Write, mouse: bool) -> io::Result<()> {
    for (number, set) in MODES.iter().filter(|(number, _)| mouse || !MOUSE.contains(number)) {
        write!(out, "\x1b[?{number}{}", if *set { 'h' } else { 'l' })?;
    }
    out.flush()
}

/// Writes the sequences that undo the modes, last set first, and the colours and the synchronized output that an
/// interrupted frame may have left. Clears the screen before: if it has grown, tmux would restore rows of it into the
/// text below.
pub fn leave(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"\x1b[?2026l\x1b[0m\x1b[H\x1b[2J")?;
    for (number, set) in MODES.iter().rev() {
        write!(out, "\x1b[?{number}{}", if *set { 'l' } else { 'h' })?;
    }
    out.flush()
}

/// Puts our panic hook before the existing one.
fn hook(sender: UnboundedSender<String>) {
    let screen = thread::current().id();
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() != screen && SET.load(Ordering::SeqCst) {
            let name = thread::current().name().unwrap_or("a thread").to_owned();
            let text = without_known(&format!("{name} panicked: {info}")).into_owned();
            let _ = sender.send(text.clone());
            if let Ok(mut panics) = PANICS.lock() {
                panics.push(text);
            }
            return;
        }
        if thread::current().id() == screen {
            restore();
        }
        previous(info);
    }));
}
