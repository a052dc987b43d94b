//! The zstd stream of a journal. It has frames, and a reader can begin with any of them. A frame has blocks. Each write
//! ends a block, so that a reader finds everything that was written.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::{fmt, mem};

use memchr::{memchr, memmem};
use zstd::stream::raw::{CParameter, Decoder, Encoder, InBuffer, Operation, OutBuffer};

/// The first bytes of a frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The fastest level: a higher one costs twice as much and saves some 5 %.
const LEVEL: i32 = 1;
/// The window has 2²³ bytes, so that a request finds the past of its conversation in the one before.
const WINDOW: u32 = 23;
/// Bytes of a frame's head, and of a block's.
const FRAME_HEAD: usize = 6;
const HEAD: usize = 3;
/// Bytes of a frame's end.
const CHECKSUM: usize = 4;
/// Bytes that are read, or unpacked, at a time.
const STEP: usize = 128 << 10;
/// Bytes in which the beginning of a frame is looked for at a time.
const LOOK: u64 = 1 << 20;
/// The most bytes of a buffer that are kept for the next lines.
const KEPT: usize = 1 << 20;
/// The longest line: a damaged or hostile file must not fill the memory.
pub(super) const LONGEST: usize = 1 << 28;

/// Packs lines.
pub(super) struct FrameWriter {
    encoder: Encoder<'static>,
    /// Lines that are not packed yet.
    waiting: Vec<u8>,
    /// Blocks that are not written yet.
    packed: Vec<u8>,
    /// The bytes of text in the frame.
    frame: usize,
}

impl FrameWriter {
    /// # Errors
    /// There is no memory for it.
    pub fn new() -> io::Result<Self> {
        let mut encoder = Encoder::new(LEVEL)?;
        encoder.set_parameter(CParameter::WindowLog(WINDOW))?;
        encoder.set_parameter(CParameter::EnableLongDistanceMatching(true))?;
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self { encoder, waiting: Vec::new(), packed: Vec::new(), frame: 0 })
    }

    /// Adds a line.
    pub fn add(&mut self, line: &str) {
        self.waiting.extend_from_slice(line.as_bytes());
        self.waiting.push(b'\n');
        self.frame += line.len() + 1;
    }

    /// The bytes of text in the frame.
    pub fn frame(&self) -> usize {
        self.frame
    }

    /// The bytes that are not taken yet.
    pub fn len(&self) -> usize {
        self.waiting.len() + self.packed.len()
    }

    /// Ends the frame, if it has any lines. What follows is in another one.
    ///
    /// # Errors
    /// There is no memory.
    pub fn end(&mut self) -> io::Result<()> {
        if self.frame == 0 {
            return Ok(());
        }
        self.frame = 0;
        self.pack()?;
        while step(&mut self.packed, |out| self.encoder.finish(out, true))? > 0 {}
        self.encoder.reinit()
    }

    /// All packed lines, as whole blocks; `written` is to forget them.
    ///
    /// # Errors
    /// There is no memory.
    pub fn packed(&mut self) -> io::Result<&[u8]> {
        self.pack()?;
        Ok(&self.packed)
    }

    /// Forgets what was packed.
    pub fn written(&mut self) {
        self.packed.clear();
        self.packed.shrink_to(KEPT);
    }

    fn pack(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut input = InBuffer::around(&self.waiting);
        while input.pos() < self.waiting.len() {
            step(&mut self.packed, |out| self.encoder.run(&mut input, out))?;
        }
        while step(&mut self.packed, |out| self.encoder.flush(out))? > 0 {}
        self.waiting.clear();
        self.waiting.shrink_to(KEPT);
        Ok(())
    }
}

impl fmt::Debug for FrameWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameWriter with {} bytes", self.len())
    }
}

/// Appends what `run` writes; returns the bytes that are still to come.
fn step(
    out: &mut Vec<u8>,
    run: impl FnOnce(&mut OutBuffer<'_, Vec<u8>>) -> io::Result<usize>,
) -> io::Result<usize> {
    out.reserve(STEP);
    let len = out.len();
    run(&mut OutBuffer::around_pos(out, len))
}

/// Unpacks a file, also one that grows.
pub(super) struct FrameReader {
    file: File,
    decoder: Decoder<'static>,
    /// Bytes of the file, those of them that are unpacked, and the place in the file after them.
    packed: Vec<u8>,
    used: usize,
    read: u64,
    /// The bytes up to the end of the block and of the next one's head.
    wanted: usize,
    text: Vec<u8>,
    at: usize,
    /// The frame of the text and the text of that frame before, both in bytes.
    frame: u64,
    before: u64,
    is_frame_over: bool,
    /// The bytes after the last whole block.
    torn: usize,
    /// An error that comes after the text.
    damage: Option<String>,
}

impl FrameReader {
    /// Whether a file that begins with these bytes is in zstd.
    pub fn is_packed(beginning: &[u8]) -> bool {
        // A frame that other programs skip may come first.
        let is_skipped = matches!(beginning, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
        let is_begun = !beginning.is_empty() && MAGIC.starts_with(beginning);
        is_skipped || is_begun || beginning.starts_with(&MAGIC)
    }

    /// # Errors
    /// There is no memory for it.
    pub fn new(file: File) -> io::Result<Self> {
        Ok(Self {
            file,
            decoder: Decoder::new()?,
            packed: Vec::new(),
            used: 0,
            read: 0,
            wanted: FRAME_HEAD,
            text: Vec::with_capacity(STEP),
            at: 0,
            frame: 0,
            before: 0,
            is_frame_over: false,
            torn: 0,
            damage: None,
        })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Bytes after the last whole block, once the end was reached.
    pub fn torn(&self) -> usize {
        self.torn
    }

    /// The bytes of the file that were read.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// The place of the next text: a frame's place in the file, and the bytes of text in the frame before.
    pub fn place(&self) -> (u64, u64) {
        match self.is_frame_over && self.at == self.text.len() {
            true => (self.next(), 0),
            false => (self.frame, self.before + self.at as u64),
        }
    }

    /// The place in the file of the next byte to unpack.
    fn next(&self) -> u64 {
        self.read - (self.packed.len() - self.used) as u64
    }

    /// Goes to the frame that begins at this place in the file.
    ///
    /// # Errors
    /// The system's error.
    pub fn seek(&mut self, frame: u64) -> io::Result<()> {
        self.decoder.reinit()?;
        self.read = self.file.seek(SeekFrom::Start(frame))?;
        self.packed.clear();
        self.text.clear();
        (self.used, self.at, self.wanted, self.torn) = (0, 0, FRAME_HEAD, 0);
        (self.frame, self.before, self.is_frame_over) = (frame, 0, false);
        self.damage = None;
        Ok(())
    }

    /// Leaves out this many bytes of text; false if there are fewer.
    ///
    /// # Errors
    /// As [`FrameReader::line`].
    pub fn skip(&mut self, bytes: u64) -> io::Result<bool> {
        let mut rest = bytes;
        while rest > 0 {
            if self.at == self.text.len() && !self.unpack()? {
                return Ok(false);
            }
            let here = usize::try_from(rest).unwrap_or(usize::MAX).min(self.text.len() - self.at);
            self.at += here;
            rest -= here as u64;
        }
        Ok(true)
    }

    /// Appends text up to the end of the line; false if the file ends before.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged ([`io::ErrorKind::InvalidData`]).
    pub fn line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let rest = &self.text[self.at..];
            let end = memchr(b'\n', rest).map(|end| end + 1);
            line.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            self.at += end.unwrap_or(rest.len());
            if end.is_some() {
                return Ok(true);
            }
            if line.len() > LONGEST {
                return Err(too_long());
            }
            if !self.unpack()? {
                return Ok(false);
            }
        }
    }

    /// Unpacks the next text; false at the end of the file.
    fn unpack(&mut self) -> io::Result<bool> {
        self.before += self.text.len() as u64;
        // The decoder may have more text than there was room for.
        let mut has_more = self.text.len() == self.text.capacity() && !self.is_frame_over;
        self.text.clear();
        self.at = 0;
        loop {
            let is_used = self.used == self.packed.len() && !mem::take(&mut has_more);
            if let Some(why) = &self.damage {
                let damage = || io::Error::new(ErrorKind::InvalidData, why.clone());
                return if self.text.is_empty() { Err(damage()) } else { Ok(true) };
            }
            if is_used && (!self.text.is_empty() || !self.load()?) {
                return Ok(!self.text.is_empty());
            }
            if self.is_frame_over {
                (self.frame, self.before) = (self.next(), 0);
            }
            // What the decoder wants goes to the end of the next block's head.
            let block = self.wanted.checked_sub(HEAD).filter(|block| *block > 0);
            let rest = &self.packed[self.used..];
            let block = rest.len().min(block.unwrap_or(self.wanted));
            let mut input = InBuffer::around(&rest[..block]);
            let len = self.text.len();
            let mut text = OutBuffer::around_pos(&mut self.text, len);
            let wanted = match self.decoder.run(&mut input, &mut text) {
                Ok(wanted) => wanted,
                Err(error) => {
                    self.damage = Some(error.to_string());
                    continue;
                }
            };
            self.used += input.pos();
            self.torn += input.pos();
            self.is_frame_over = wanted == 0;
            self.wanted = if wanted == 0 { FRAME_HEAD } else { wanted };
            if self.is_frame_over || self.text.len() > len {
                self.torn = 0;
            }
            // The end of a frame belongs to its last text.
            let is_end = self.wanted <= CHECKSUM && self.text.len() < self.text.capacity();
            if !self.text.is_empty() && (self.is_frame_over || !is_end) {
                return Ok(true);
            }
        }
    }

    /// Reads the next bytes of the file; false at its end.
    fn load(&mut self) -> io::Result<bool> {
        self.packed.resize(STEP, 0);
        let read = self.file.read(&mut self.packed);
        self.packed.truncate(*read.as_ref().unwrap_or(&0));
        self.used = 0;
        self.read += self.packed.len() as u64;
        read.map(|read| read > 0)
    }

    /// The last frame that begins before this place in the file; `None` if none does.
    ///
    /// # Errors
    /// The system's error.
    pub fn frame_before(&self, place: u64) -> io::Result<Option<u64>> {
        let len = self.file.metadata()?.len();
        let mut end = place.min(len);
        while end > 0 {
            let begin = end.saturating_sub(LOOK);
            // The first bytes of a frame may be on both sides of `end`.
            let until = len.min(end + MAGIC.len() as u64 - 1);
            let mut bytes = vec![0; usize::try_from(until - begin).unwrap_or_default()];
            self.file.read_exact_at(&mut bytes, begin)?;
            if let Some(at) = memmem::rfind(&bytes, &MAGIC) {
                return Ok(Some(begin + at as u64));
            }
            end = begin;
        }
        Ok(None)
    }
}

impl fmt::Debug for FrameReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameReader at {:?}", self.place())
    }
}

pub(super) fn too_long() -> io::Error {
    let why = format!("a line of more than {LONGEST} bytes");
    io::Error::new(io::ErrorKind::InvalidData, why)
}
