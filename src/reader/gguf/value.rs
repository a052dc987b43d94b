//! Values of a file's metadata.

use std::io::{Read, Seek};

use super::source::GgufSource;
use crate::error::ModelFileFault;

/// The deepest nesting of arrays. The format has no limit; real files have depth 1.
const DEPTH: usize = 4;

/// Arrays that a reader needs. All others are skipped to save memory.
const KEPT: [&str; 3] =
    ["tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.merges"];

/// The longest string in bytes. Chat templates have some kilobytes.
const LONGEST: u64 = 1 << 20;

/// A value of the metadata.
#[derive(Debug)]
pub enum GgufValue {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Texts(Texts),
    Integers(Vec<i32>),
    /// An array that no reader needs.
    Skipped,
}

/// Many strings in one piece of memory.
#[derive(Debug, Default)]
pub struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.bytes[begin..*end])
    }
}

/// Bytes of a number of this type; `None` for strings, arrays and unknown types.
fn number_size(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

fn unknown(kind: u32, key: &str) -> ModelFileFault {
    ModelFileFault::bad(
        format!("`{key}` has the unknown type {kind}"),
        "a type from 0 to 12 (GGUF version 3)",
    )
}

impl GgufValue {
    /// Reads the type and the value that follow a key.
    pub fn read<R: Read + Seek>(
        source: &mut GgufSource<R>,
        key: &str,
    ) -> Result<Self, ModelFileFault> {
        let what = format!("the value of `{key}`");
        let kind = source.u32(&what)?;
        Ok(match kind {
            0 => Self::Unsigned(u8::from_le_bytes(source.bytes(&what)?).into()),
            1 => Self::Signed(i8::from_le_bytes(source.bytes(&what)?).into()),
            2 => Self::Unsigned(u16::from_le_bytes(source.bytes(&what)?).into()),
            3 => Self::Signed(i16::from_le_bytes(source.bytes(&what)?).into()),
            4 => Self::Unsigned(source.u32(&what)?.into()),
            5 => Self::Signed(i32::from_le_bytes(source.bytes(&what)?).into()),
            6 => Self::Float(f32::from_le_bytes(source.bytes(&what)?).into()),
            7 => Self::Bool(source.bytes::<1>(&what)? != [0]),
            8 => Self::Text(source.text(LONGEST, &what)?),
            9 => Self::array(source, key, &what)?,
            10 => Self::Unsigned(source.u64(&what)?),
            11 => Self::Signed(i64::from_le_bytes(source.bytes(&what)?)),
            12 => Self::Float(f64::from_le_bytes(source.bytes(&what)?)),
            _ => return Err(unknown(kind, key)),
        })
    }

    fn array<R: Read + Seek>(
        source: &mut GgufSource<R>,
        key: &str,
        what: &str,
    ) -> Result<Self, ModelFileFault> {
        if !KEPT.contains(&key) {
            skip_array(source, key, what, DEPTH)?;
            return Ok(Self::Skipped);
        }
        let (kind, count) = (source.u32(what)?, source.u64(what)?);
        match kind {
            5 => {
                source.expect(count, 4, "numbers")?;
                let numbers = (0..count).map(|_| source.bytes(what).map(i32::from_le_bytes));
                numbers.collect::<Result<_, _>>().map(Self::Integers)
            }
            8 => {
                source.expect(count, 8, "strings")?;
                let mut texts = Texts::default();
                for _ in 0..count {
                    source.append_text(&mut texts.bytes, what)?;
                    texts.ends.push(texts.bytes.len());
                }
                Ok(Self::Texts(texts))
            }
            _ => Err(ModelFileFault::bad(
                format!("`{key}` is an array of type {kind}"),
                "strings (type 8) or 32-bit integers (type 5)",
            )),
        }
    }
}

/// Skips an array after its type 9.
fn skip_array<R: Read + Seek>(
    source: &mut GgufSource<R>,
    key: &str,
    what: &str,
    depth: usize,
) -> Result<(), ModelFileFault> {
    let Some(depth) = depth.checked_sub(1) else {
        let found = format!("`{key}` nests arrays more than {DEPTH} deep");
        return Err(ModelFileFault::bad(found, "flat arrays"));
    };
    let (kind, count) = (source.u32(what)?, source.u64(what)?);
    if let Some(size) = number_size(kind) {
        source.expect(count, size, "numbers")?;
        return source.skip(count * size, what);
    }
    // A string has its length, an array its type and its length.
    source.expect(count, 8, "values")?;
    for _ in 0..count {
        match kind {
            8 => {
                let length = source.u64(what)?;
                source.skip(length, what)?;
            }
            9 => skip_array(source, key, what, depth)?,
            _ => return Err(unknown(kind, key)),
        }
    }
    Ok(())
}
