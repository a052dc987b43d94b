//! Model files in the format GGUF, version 3, little-endian.
//!
//! A file has a header (magic, version, counts), metadata (keys and values), a table of tensors, and their data.
//! Everything in it is hostile until it is checked.

mod metadata;
mod source;
mod tensor;
mod value;

use std::io::{Read, Seek};

pub use self::metadata::Metadata;
pub use self::source::GgufSource;
pub use self::tensor::{Tensor, Tensors};
use super::error::ModelFileFault;

/// The version of the format that is read.
const VERSION: u32 = 3;

/// The alignment of tensors, in bytes, if the file sets none.
const ALIGNMENT: u64 = 32;

/// The header and the metadata of a file.
pub struct Header {
    pub metadata: Metadata,
    tensors: u64,
}

impl Header {
    /// Reads from the beginning of a file to the end of its metadata.
    pub fn read<R: Read + Seek>(source: &mut GgufSource<R>) -> Result<Self, ModelFileFault> {
        let expected = "a model file in the format GGUF, version 3, little-endian";
        if source.size() < 4 || source.bytes::<4>("the magic")? != *b"GGUF" {
            return Err(ModelFileFault::bad("this is not a GGUF file", expected));
        }
        let version = source.u32("the header")?;
        if version.swap_bytes() <= 0xffff && version > 0xffff {
            return Err(ModelFileFault::bad("this GGUF file is big-endian", expected));
        }
        if version != VERSION {
            let found = format!("this GGUF file has version {version}");
            return Err(ModelFileFault::bad(found, expected));
        }
        let (tensors, keys) = (source.u64("the header")?, source.u64("the header")?);
        Ok(Self { metadata: Metadata::read(source, keys)?, tensors })
    }

    /// Reads the table of tensors, which follows the metadata.
    pub fn tensors<R: Read + Seek>(
        &self,
        source: &mut GgufSource<R>,
    ) -> Result<Tensors, ModelFileFault> {
        let alignment = self.metadata.number("general.alignment")?.unwrap_or(ALIGNMENT);
        if !alignment.is_power_of_two() || !(8..=65_536).contains(&alignment) {
            let found = format!("`general.alignment` is {alignment}");
            return Err(ModelFileFault::bad(found, "a power of two from 8 to 65536"));
        }
        tensor::read(source, self.tensors, alignment)
    }
}
