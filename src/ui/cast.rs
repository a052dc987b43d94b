//! A recording of the terminal in the format of asciicast, version 2: a line of JSON for the size, then one for each
//! frame, with its time in seconds.

use std::path::Path;
use std::time::Instant;
use std::{fmt::Write, fs, io};

use serde_json::json;

use crate::files::private;

/// Most bytes that are recorded; later bytes are left out.
const MOST: usize = 64 << 20;

/// Frames as they were written, with their times.
#[derive(Debug)]
pub struct Cast {
    begun: Instant,
    lines: String,
}

impl Cast {
    pub fn begin() -> Self {
        Self { begun: Instant::now(), lines: String::new() }
    }

    /// A frame was written.
    pub fn frame(&mut self, bytes: &[u8]) {
        self.add("o", &String::from_utf8_lossy(bytes));
    }

    /// The terminal has another size now.
    pub fn resized(&mut self, columns: u16, rows: u16) {
        self.add("r", &format!("{columns}x{rows}"));
    }

    fn add(&mut self, kind: &str, data: &str) {
        if self.lines.len() + data.len() < MOST {
            let at = self.begun.elapsed().as_millis() as f64 / 1000.0;
            // A string takes every write.
            let _ = writeln!(self.lines, "{}", json!([at, kind, data]));
        }
    }

    /// Writes the recording to a new file, for a terminal that had this size at first.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn write(&self, file: &Path, title: &str, (width, height): (u16, u16)) -> io::Result<()> {
        let head = json!({"version": 2, "width": width, "height": height, "title": title});
        let mut out = private::open(file, fs::OpenOptions::new().write(true).create_new(true))?;
        io::Write::write_all(&mut out, format!("{head}\n{}", self.lines).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_a_head_and_a_line_for_each_frame() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.cast");
        let mut cast = Cast::begin();
        cast.frame("\u{1b}[2Jé".as_bytes());
        cast.resized(100, 30);
        cast.write(&file, "demo", (80, 24)).unwrap();
        assert!(cast.write(&file, "demo", (80, 24)).is_err(), "it is never overwritten");
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["version"], &lines[0]["width"]), (&json!(2), &json!(80)));
        assert_eq!((&lines[1][1], &lines[1][2]), (&json!("o"), &json!("\u{1b}[2Jé")));
        assert_eq!((&lines[2][1], &lines[2][2]), (&json!("r"), &json!("100x30")));
    }
}
