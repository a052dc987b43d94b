//! The lines of a journal: of a zstd stream, or of a file of text, as formats 1 to 3 were written. The first bytes of the
//! file tell which, whatever its name is. The file may grow meanwhile.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::{fmt, mem};

use memchr::{memchr, memmem};
use serde::{Deserialize, Serialize};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// The first bytes of a frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes of a frame's head, of a block's, and of a frame's end.
const FRAME_HEAD: usize = 6;
const HEAD: usize = 3;
const CHECKSUM: usize = 4;
/// Bytes that are read, or unpacked, at a time.
const STEP: usize = 128 << 10;
/// Bytes in which the beginning of a frame is looked for at a time.
const LOOK: u64 = 64 << 10;
/// The longest line: a damaged or hostile file must not fill the memory.
const LONGEST: usize = 1 << 28;

/// Where a line begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LinePlace {
    /// The place in the file from which it can be read, in bytes: of a stream, that of a frame.
    pub from: u64,
    /// The bytes of text from there to the line.
    pub skip: u64,
}

/// Whether a file that begins with these bytes is in zstd.
pub(super) fn is_packed(beginning: &[u8]) -> bool {
    // A frame that other programs skip may come first.
    let is_skipped = matches!(beginning, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    let is_begun = !beginning.is_empty() && MAGIC.starts_with(beginning);
    is_skipped || is_begun || beginning.starts_with(&MAGIC)
}

/// Reads lines.
pub(super) struct Lines {
    pub file: File,
    /// `None` for text.
    decoder: Option<Decoder<'static>>,
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
    pub torn: usize,
    /// An error that comes after the text.
    damage: Option<String>,
}

impl Lines {
    /// # Errors
    /// The file cannot be read, or there is no memory.
    pub fn of(file: File) -> io::Result<Self> {
        let mut beginning = [0; MAGIC.len()];
        let len = file.read_at(&mut beginning, 0)?;
        let decoder = is_packed(&beginning[..len]).then(Decoder::new).transpose()?;
        Ok(Self {
            file,
            decoder,
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

    pub fn is_packed(&self) -> bool {
        self.decoder.is_some()
    }

    /// The bytes of the file that were read.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// The place of the next line.
    pub fn place(&self) -> LinePlace {
        let rest = self.text.len() - self.at;
        if self.decoder.is_none() {
            return LinePlace { from: self.read - rest as u64, skip: 0 };
        }
        match self.is_frame_over && rest == 0 {
            true => LinePlace { from: self.next(), skip: 0 },
            false => LinePlace { from: self.frame, skip: self.before + self.at as u64 },
        }
    }

    /// The place in the file of the next byte to unpack.
    fn next(&self) -> u64 {
        self.read - (self.packed.len() - self.used) as u64
    }

    /// Goes to this place in the file, where a line or a frame begins.
    ///
    /// # Errors
    /// The system's error.
    pub fn seek(&mut self, from: u64) -> io::Result<()> {
        self.decoder.iter_mut().try_for_each(Operation::reinit)?;
        self.read = self.file.seek(SeekFrom::Start(from))?;
        self.packed.clear();
        self.text.clear();
        (self.used, self.at, self.wanted, self.torn) = (0, 0, FRAME_HEAD, 0);
        (self.frame, self.before, self.is_frame_over) = (from, 0, false);
        self.damage = None;
        Ok(())
    }

    /// Leaves out this many bytes of text; false if there are fewer.
    ///
    /// # Errors
    /// As [`Lines::line`].
    pub fn skip(&mut self, bytes: u64) -> io::Result<bool> {
        let mut rest = bytes;
        while rest > 0 {
            if self.at == self.text.len() && !self.more()? {
                return Ok(false);
            }
            let here = usize::try_from(rest).unwrap_or(usize::MAX).min(self.text.len() - self.at);
            self.at += here;
            rest -= here as u64;
        }
        Ok(true)
    }

    /// Appends text up to the end of the line; false if the file ends before. Then it can be called again.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged ([`ErrorKind::InvalidData`]).
    pub fn line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let rest = &self.text[self.at..];
            let end = memchr(b'\n', rest).map(|end| end + 1);
            let part = &rest[..end.unwrap_or(rest.len())];
            line.extend_from_slice(part);
            self.at += part.len();
            if line.len() > LONGEST {
                return Err(damaged(format!("a line of more than {LONGEST} bytes")));
            }
            if end.is_some() || !self.more()? {
                return Ok(end.is_some());
            }
        }
    }

    /// Reads the next text; false at the end of the file.
    fn more(&mut self) -> io::Result<bool> {
        self.before += self.text.len() as u64;
        // The decoder may have more text than there was room for.
        let mut has_more = self.text.len() == self.text.capacity() && !self.is_frame_over;
        self.text.clear();
        self.at = 0;
        let Some(mut decoder) = self.decoder.take() else {
            let read = self.load();
            mem::swap(&mut self.text, &mut self.packed);
            return read;
        };
        let unpacked = self.unpack(&mut decoder, &mut has_more);
        self.decoder = Some(decoder);
        unpacked
    }

    fn unpack(&mut self, decoder: &mut Decoder<'_>, has_more: &mut bool) -> io::Result<bool> {
        loop {
            let is_used = self.used == self.packed.len() && !mem::take(has_more);
            if let Some(why) = &self.damage {
                let damage = || damaged(why.clone());
                return if self.text.is_empty() { Err(damage()) } else { Ok(true) };
            }
            if is_used && (!self.text.is_empty() || !self.load()?) {
                return Ok(!self.text.is_empty());
            }
            if self.is_frame_over {
                (self.frame, self.before) = (self.next(), 0);
            }
            let rest = &self.packed[self.used..];
            // So the decoder never reads on behind the text that it gives.
            let block = self.wanted.checked_sub(HEAD).filter(|block| *block > 0);
            let block = rest.len().min(block.unwrap_or(self.wanted));
            let mut input = InBuffer::around(&rest[..block]);
            let len = self.text.len();
            let mut text = OutBuffer::around_pos(&mut self.text, len);
            let wanted = match decoder.run(&mut input, &mut text) {
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

    /// The last frame of a stream that begins before this place in the file.
    ///
    /// # Errors
    /// The system's error.
    pub fn frame_before(&self, place: u64) -> io::Result<Option<u64>> {
        let len = self.file.metadata()?.len();
        let mut end = if self.is_packed() { place.min(len) } else { 0 };
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

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lines at {:?}", self.place())
    }
}

fn damaged(why: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}
