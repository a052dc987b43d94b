//! A reader that counts lines and refuses endless records: a quote that is never closed would otherwise consume the
//! rest of a large file.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// The most bytes of one row.
pub const LARGEST: u64 = 16 << 20;

/// Counts, shared with the reader of the rows.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// Bytes since the last row.
    since: Rc<Cell<u64>>,
    /// Line breaks so far.
    lines: Rc<Cell<usize>>,
}

impl Meter {
    /// Notes that a row was read.
    pub fn next_row(&self) {
        self.since.set(0);
    }

    /// The line that is being read, from 1.
    pub fn line(&self) -> usize {
        self.lines.get() + 1
    }
}

/// A reader with a meter.
pub struct Bounded<R> {
    inner: R,
    meter: Meter,
}

impl<R: Read> Bounded<R> {
    pub fn new(inner: R) -> (Self, Meter) {
        let meter = Meter::default();
        (Self { inner, meter: meter.clone() }, meter)
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        let breaks = into[..read].iter().filter(|byte| **byte == b'\n').count();
        self.meter.lines.set(self.meter.lines.get() + breaks);
        let since = self.meter.since.get() + read as u64;
        self.meter.since.set(since);
        if since > LARGEST {
            let text =
                format!("a row is longer than {} MiB; is a quote not closed?", LARGEST >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(read)
    }
}
