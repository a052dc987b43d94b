//! The clipboard of the terminal (OSC 52). No terminal says whether it took a text, so every copy can be written to a
//! file too.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use ratatui::crossterm::{clipboard::CopyToClipboard, execute};

use super::output;
use crate::files::private;
use crate::net::known::without_known;

/// The least number of bytes that every terminal takes; many ignore a longer text.
const MOST: usize = 74_994;

/// A text that was copied.
#[derive(Debug, Default)]
pub struct Clipboard {
    last: Option<String>,
}

impl Clipboard {
    /// Gives a text to the terminal.
    ///
    /// # Errors
    /// Why the terminal cannot have taken it.
    pub fn copy(&mut self, text: String) -> Result<(), String> {
        let kept = self.last.insert(without_known(&text).into_owned());
        if kept.len() > MOST {
            return Err(format!("{} bytes exceed the terminal limit ({MOST})", kept.len()));
        }
        if let Some(name) = env::var("TERM").ok().filter(|name| has_none(name)) {
            return Err(format!("a terminal with TERM={name} has no clipboard"));
        }
        let mut bytes = Vec::new();
        execute!(bytes, CopyToClipboard::to_clipboard_from(&kept))
            .and_then(|()| output::send(&bytes))
            .map_err(|error| error.to_string())
    }

    /// Writes the text that was copied last to a new file in this folder.
    ///
    /// # Errors
    /// Nothing was copied, or the file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        let nothing = || io::Error::new(io::ErrorKind::NotFound, "nothing copied yet");
        let text = self.last.as_ref().ok_or_else(nothing)?;
        fs::create_dir_all(folder)?;
        for i in 1.. {
            let path = folder.join(format!("toolyard-copy-{i}.txt"));
            let new = private::open(&path, fs::OpenOptions::new().write(true).create_new(true));
            match new {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                new => return new?.write_all(text.as_bytes()).map(|()| path),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

fn has_none(term: &str) -> bool {
    matches!(term, "linux" | "dumb" | "vt100" | "vt220" | "ansi")
}
