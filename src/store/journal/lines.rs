//! The lines of a journal: of a file of text, as formats 1 to 3 are written, or of a zstd stream. The first bytes of the
//! file tell which, whatever its name is.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};

use super::frames::{FrameReader, LONGEST, too_long};

/// Where a line begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LinePlace {
    /// The place in the file from which it can be read, in bytes.
    pub from: u64,
    /// The bytes of text from there to the line.
    pub skip: u64,
}

#[derive(Debug)]
pub(super) enum Lines {
    Plain { file: BufReader<File>, offset: u64 },
    Packed(Box<FrameReader>),
}

impl Lines {
    /// # Errors
    /// The file cannot be read.
    pub fn of(file: File) -> io::Result<Self> {
        let mut file = BufReader::new(file);
        match FrameReader::is_packed(file.fill_buf()?) {
            true => {
                file.rewind()?;
                FrameReader::new(file.into_inner()).map(|frames| Self::Packed(frames.into()))
            }
            false => Ok(Self::Plain { file, offset: 0 }),
        }
    }

    pub fn is_packed(&self) -> bool {
        matches!(self, Self::Packed(_))
    }

    /// The place of the next line.
    pub fn place(&self) -> LinePlace {
        let (from, skip) = match self {
            Self::Plain { offset, .. } => (*offset, 0),
            Self::Packed(frames) => frames.place(),
        };
        LinePlace { from, skip }
    }

    /// Appends text up to the end of the line; false if the file ends before. Then it can be called again.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged ([`io::ErrorKind::InvalidData`]).
    pub fn line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let (file, offset) = match self {
            Self::Plain { file, offset } => (file, offset),
            Self::Packed(frames) => return frames.line(line),
        };
        let most = (LONGEST + 1).saturating_sub(line.len());
        *offset += file.take(most as u64).read_until(b'\n', line)? as u64;
        let is_whole = line.last() == Some(&b'\n');
        if is_whole || line.len() <= LONGEST { Ok(is_whole) } else { Err(too_long()) }
    }

    /// Goes to this place in the file, where a line or a frame begins.
    ///
    /// # Errors
    /// The system's error.
    pub fn seek(&mut self, from: u64) -> io::Result<()> {
        match self {
            Self::Plain { file, offset } => {
                *offset = file.seek(SeekFrom::Start(from))?;
                Ok(())
            }
            Self::Packed(frames) => frames.seek(from),
        }
    }

    /// Leaves out this many bytes of text; false if there are fewer.
    ///
    /// # Errors
    /// As [`Lines::line`].
    pub fn skip(&mut self, bytes: u64) -> io::Result<bool> {
        match self {
            Self::Plain { offset, .. } => {
                let to = *offset + bytes;
                self.seek(to).map(|()| true)
            }
            Self::Packed(frames) => frames.skip(bytes),
        }
    }

    /// The bytes of the file that were read.
    pub fn read(&self) -> u64 {
        match self {
            Self::Plain { offset, .. } => *offset,
            Self::Packed(frames) => frames.read(),
        }
    }

    /// Bytes of a torn last block.
    pub fn torn(&self) -> usize {
        match self {
            Self::Plain { .. } => 0,
            Self::Packed(frames) => frames.torn(),
        }
    }

    /// # Errors
    /// The system's error.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file().metadata()
    }

    fn file(&self) -> &File {
        match self {
            Self::Plain { file, .. } => file.get_ref(),
            Self::Packed(frames) => frames.file(),
        }
    }

    /// The last frame of a zstd stream that begins before this place in the file.
    ///
    /// # Errors
    /// The system's error.
    pub fn frame_before(&self, place: u64) -> io::Result<Option<u64>> {
        match self {
            Self::Plain { .. } => Ok(None),
            Self::Packed(frames) => frames.frame_before(place),
        }
    }

    /// The last bytes of a file of text; `None` for a zstd stream.
    ///
    /// # Errors
    /// The system's error.
    pub fn tail(&self, most: usize) -> io::Result<Option<Vec<u8>>> {
        let Self::Plain { file, .. } = self else { return Ok(None) };
        let len = file.get_ref().metadata()?.len();
        let from = len.saturating_sub(most as u64);
        let mut tail = vec![0; usize::try_from(len - from).unwrap_or(usize::MAX)];
        file.get_ref().read_exact_at(&mut tail, from).map(|()| Some(tail))
    }
}
