//! A file of JSON lines, read one line at a time, so that a file may be larger than the memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::error::ExperienceError;
use crate::files::toml_file::Problem;

/// A longer line is not a use of a tool, and would only fill the memory.
const LONGEST: usize = 16 * 1024 * 1024;

pub(super) struct JsonLines {
    reader: BufReader<File>,
    path: PathBuf,
    number: usize,
    bytes: Vec<u8>,
}

impl JsonLines {
    pub fn open(path: &Path) -> Result<Self, ExperienceError> {
        let io = |source| ExperienceError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        // An import reads the file twice.
        if !file.metadata().map_err(io)?.is_file() {
            let text = "not a file; save the output of a pipe to a file first";
            return Err(Problem::of_file(path.display().to_string(), text).into());
        }
        let reader = BufReader::new(file);
        Ok(Self { reader, path: path.to_owned(), number: 0, bytes: Vec::new() })
    }

    /// The next line that is not blank, with its number from 1; `None` at the end.
    pub fn next(&mut self) -> Result<Option<(usize, &str)>, ExperienceError> {
        loop {
            self.bytes.clear();
            let mut reader = self.reader.by_ref().take(LONGEST as u64 + 1);
            let read = reader.read_until(b'\n', &mut self.bytes);
            let read =
                read.map_err(|source| ExperienceError::Io { path: self.path.clone(), source })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.bytes.len() > LONGEST {
                return Err(self.problem(format!("longer than {} MiB", LONGEST / 1024 / 1024)));
            }
            if !self.bytes.trim_ascii().is_empty() {
                break;
            }
        }
        match str::from_utf8(self.bytes.trim_ascii_end()) {
            Ok(text) => Ok(Some((self.number, text))),
            Err(_) => Err(self.problem("expected UTF-8, found other bytes; convert the file")),
        }
    }

    /// A problem of the line that was read last.
    fn problem(&self, text: impl Into<String>) -> ExperienceError {
        Problem::of_line(self.path.display().to_string(), self.number, "", text).into()
    }
}
