//! Writes the zstd stream of a journal. It has frames, and a reader can begin with any of them. A frame has blocks. Each
//! write of the journal ends a block, so that a reader finds everything that was written.

use std::io::{self, Write};
use std::{fmt, mem};

use zstd::Encoder;
use zstd::stream::raw::CParameter;

/// The fastest level: with a block for each line, higher ones are dearer, and hardly any smaller.
const LEVEL: i32 = 1;
/// The window has 2²³ bytes, so that a request finds the past of its conversation in the one before.
const WINDOW: u32 = 23;
/// The table of places has 2¹⁷ entries. With fewer, a long past is not found; zstd's own way to find it, long-distance
/// matching, makes every line dearer.
const TABLE: u32 = 17;
/// The most bytes of a buffer that are kept for the next lines.
const KEPT: usize = 1 << 20;

/// Packs lines.
pub(super) struct FrameWriter {
    encoder: Encoder<'static, Vec<u8>>,
    /// The bytes of text in the frame.
    pub frame: usize,
    /// The bytes of text that are not written yet.
    pub waiting: usize,
}

fn encoder() -> io::Result<Encoder<'static, Vec<u8>>> {
    let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
    encoder.window_log(WINDOW)?;
    encoder.set_parameter(CParameter::HashLog(TABLE))?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

impl FrameWriter {
    /// # Errors
    /// There is no memory for it.
    pub fn new() -> io::Result<Self> {
        Ok(Self { encoder: encoder()?, frame: 0, waiting: 0 })
    }

    /// Adds a line.
    ///
    /// # Errors
    /// There is no memory.
    pub fn add(&mut self, line: &str) -> io::Result<()> {
        self.frame += line.len() + 1;
        self.waiting += line.len() + 1;
        self.encoder.write_all(line.as_bytes())?;
        self.encoder.write_all(b"\n")
    }

    /// Ends the frame, if it has any lines. What follows is in another one.
    ///
    /// # Errors
    /// There is no memory.
    pub fn end(&mut self) -> io::Result<()> {
        if mem::take(&mut self.frame) > 0 {
            let packed = mem::replace(&mut self.encoder, encoder()?).finish()?;
            *self.encoder.get_mut() = packed;
        }
        Ok(())
    }

    /// Writes all lines, as whole blocks. They are forgotten, also if that fails. Returns the bytes of the blocks.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&mut self, to: &mut impl Write) -> io::Result<u64> {
        self.waiting = 0;
        self.encoder.flush()?;
        let packed = self.encoder.get_mut();
        let written = to.write_all(packed).map(|()| packed.len() as u64);
        packed.clear();
        packed.shrink_to(KEPT);
        written
    }
}

impl fmt::Debug for FrameWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameWriter with {} bytes", self.waiting)
    }
}
