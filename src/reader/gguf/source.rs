//! The bytes of a model file, read in order. Every length is compared with the rest of the file before memory is
//! allocated for it, so a file cannot ask for more memory than it has bytes.

use std::io::{BufReader, Read, Seek, SeekFrom};

use crate::error::ModelFileFault;

/// A model file and the position in it.
pub struct GgufSource<R> {
    inner: BufReader<R>,
    /// The position in bytes.
    at: u64,
    /// The size of the file in bytes.
    size: u64,
}

impl<R: Read + Seek> GgufSource<R> {
    /// # Errors
    /// The size cannot be determined.
    pub fn new(mut inner: R) -> Result<Self, ModelFileFault> {
        let size = inner.seek(SeekFrom::End(0))?;
        inner.rewind()?;
        Ok(Self { inner: BufReader::with_capacity(64 * 1024, inner), at: 0, size })
    }

    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// A fault unless the file has `count` more entries of at least `bytes` bytes each.
    pub fn expect(&self, count: u64, bytes: u64, what: &str) -> Result<(), ModelFileFault> {
        let left = self.size - self.at;
        if count.checked_mul(bytes).is_some_and(|needed| needed <= left) {
            return Ok(());
        }
        let found = match count {
            1 => format!("the file ends inside {what} (size {} bytes)", self.size),
            _ => format!("{count} {what} do not fit into the {left} bytes that are left"),
        };
        Err(ModelFileFault::bad(found, "a complete file; download it again"))
    }

    pub fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ModelFileFault> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    pub fn fill(&mut self, bytes: &mut [u8], what: &str) -> Result<(), ModelFileFault> {
        self.expect(1, bytes.len() as u64, what)?;
        self.inner.read_exact(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    pub fn u32(&mut self, what: &str) -> Result<u32, ModelFileFault> {
        self.bytes(what).map(u32::from_le_bytes)
    }

    pub fn u64(&mut self, what: &str) -> Result<u64, ModelFileFault> {
        self.bytes(what).map(u64::from_le_bytes)
    }

    /// Appends a string (its length, then its bytes) to `into`.
    pub fn append_text(&mut self, into: &mut Vec<u8>, what: &str) -> Result<(), ModelFileFault> {
        let length = self.u64(what)?;
        self.append(length, into, what)
    }

    /// A string in UTF-8 of at most `most` bytes.
    pub fn text(&mut self, most: u64, what: &str) -> Result<String, ModelFileFault> {
        let length = self.u64(what)?;
        if length > most && length <= self.size {
            let found = format!("{what} has {length} bytes");
            return Err(ModelFileFault::bad(found, format!("at most {most}")));
        }
        let mut bytes = Vec::new();
        self.append(length, &mut bytes, what)?;
        String::from_utf8(bytes)
            .map_err(|_| ModelFileFault::bad(format!("{what} is not UTF-8"), "UTF-8"))
    }

    fn append(
        &mut self,
        length: u64,
        into: &mut Vec<u8>,
        what: &str,
    ) -> Result<(), ModelFileFault> {
        self.expect(1, length, what)?;
        let from = into.len();
        // The length fits: the file has as many bytes.
        into.resize(from + usize::try_from(length).unwrap_or(0), 0);
        self.fill(&mut into[from..], what)
    }

    pub fn skip(&mut self, bytes: u64, what: &str) -> Result<(), ModelFileFault> {
        self.expect(1, bytes, what)?;
        self.inner.seek_relative(i64::try_from(bytes).unwrap_or(i64::MAX))?;
        self.at += bytes;
        Ok(())
    }

    pub fn go_to(&mut self, at: u64) -> Result<(), ModelFileFault> {
        self.inner.seek(SeekFrom::Start(at))?;
        self.at = at.min(self.size);
        Ok(())
    }
}
