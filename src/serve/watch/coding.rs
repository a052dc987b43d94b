//! Compressed bodies. The body that is sent on stays compressed; a copy is unpacked to be read.

use std::io::Read;

use hyper::HeaderMap;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue};
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use ruzstd::decoding::StreamingDecoder;

use super::LONGEST;

/// Bits of the flags in a header of gzip.
const CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
/// Bytes that are unpacked at a time.
const STEP: usize = 32 * 1024;

/// A body in a form that cannot be read here.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    #[error("it is compressed with {0}, which toolyard does not read")]
    Unknown(String),
    #[error("its compressed data is damaged")]
    Damaged,
    #[error("it is larger than 64 MiB")]
    TooLarge,
}

/// The codings of a body with these headers, in small letters.
fn codings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase());
    let all: Vec<String> = values.collect();
    let codings = all.iter().flat_map(|value| value.split(',')).map(str::trim);
    codings.filter(|it| !it.is_empty() && *it != "identity").map(str::to_owned).collect()
}

/// Unpacks a body piece by piece.
pub enum Decoder {
    /// The body is not compressed.
    Plain,
    /// The header of gzip, as far as it has come.
    Gzip(Vec<u8>),
    /// The first byte shows whether there is a zlib header, which some servers omit.
    Deflate,
    Inflating(Box<InflateState>),
    /// The text has ended; bytes after it, such as a checksum, are not read.
    Ended,
}

impl Decoder {
    /// The decoder for a body with these headers.
    ///
    /// # Errors
    /// Its coding cannot be read here.
    pub fn of(headers: &HeaderMap) -> Result<Self, Unread> {
        let codings = codings(headers);
        match codings.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => Ok(Self::Plain),
            ["gzip" | "x-gzip"] => Ok(Self::Gzip(Vec::new())),
            ["deflate"] => Ok(Self::Deflate),
            _ => Err(Unread::Unknown(codings.join(", "))),
        }
    }

    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Decodes the next bytes; returns the text that they add.
    ///
    /// # Errors
    /// The bytes are damaged.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Unread> {
        let inflating = |format| Self::Inflating(InflateState::new_boxed(format));
        match self {
            Self::Plain => Ok(bytes.to_vec()),
            Self::Ended => Ok(Vec::new()),
            Self::Gzip(header) => {
                header.extend_from_slice(bytes);
                let Some(length) = header_length(header)? else { return Ok(Vec::new()) };
                let rest = header.split_off(length);
                *self = inflating(DataFormat::Raw);
                self.feed(&rest)
            }
            Self::Deflate => {
                let Some(first) = bytes.first() else { return Ok(Vec::new()) };
                let has_header = first & 0x0f == 8;
                let format =
                    if has_header { DataFormat::ZLibIgnoreChecksum } else { DataFormat::Raw };
                *self = inflating(format);
                self.feed(bytes)
            }
            Self::Inflating(state) => {
                let (text, is_ended) = unpack(state, bytes)?;
                if is_ended {
                    *self = Self::Ended;
                }
                Ok(text)
            }
        }
    }
}

/// Inflates these bytes; returns the text that they add, and whether it has ended.
fn unpack(state: &mut InflateState, bytes: &[u8]) -> Result<(Vec<u8>, bool), Unread> {
    let (mut rest, mut text) = (bytes, Vec::new());
    let mut step = vec![0; STEP];
    loop {
        let done = inflate(state, rest, &mut step, MZFlush::None);
        rest = rest.get(done.bytes_consumed..).unwrap_or_default();
        text.extend_from_slice(step.get(..done.bytes_written).unwrap_or_default());
        if text.len() > LONGEST {
            return Err(Unread::TooLarge);
        }
        match done.status {
            Ok(MZStatus::StreamEnd) => return Ok((text, true)),
            Ok(_) if done.bytes_written == STEP || !rest.is_empty() => {}
            // The decompressor needs more input.
            Ok(_) | Err(miniz_oxide::MZError::Buf) => return Ok((text, false)),
            Err(_) => return Err(Unread::Damaged),
        }
    }
}

/// The length of a header of gzip (RFC 1952); `None` if there is more of it to come.
fn header_length(bytes: &[u8]) -> Result<Option<usize>, Unread> {
    let Some(head) = bytes.first_chunk::<10>() else { return Ok(None) };
    let [0x1f, 0x8b, 8, flags, ..] = *head else { return Err(Unread::Damaged) };
    let mut at = head.len();
    if flags & EXTRA != 0 {
        let length = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>());
        let Some(length) = length else { return Ok(None) };
        at += 2 + usize::from(u16::from_le_bytes(*length));
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let end = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0));
            let Some(end) = end else { return Ok(None) };
            at += end + 1;
        }
    }
    if flags & CRC != 0 {
        at += 2;
    }
    Ok((bytes.len() >= at).then_some(at))
}

/// The text of a whole body with these headers.
///
/// # Errors
/// As [`Decoder::of`] and [`Decoder::feed`]; also it has no end.
pub fn unpacked(headers: &HeaderMap, body: &[u8]) -> Result<Vec<u8>, Unread> {
    // Codex sends its requests like this. Answers never use it, since no request offers it.
    if codings(headers) == ["zstd"] {
        return unzstd(body);
    }
    let mut decoder = Decoder::of(headers)?;
    let text = decoder.feed(body)?;
    if matches!(decoder, Decoder::Ended | Decoder::Plain) { Ok(text) } else { Err(Unread::Damaged) }
}

fn unzstd(body: &[u8]) -> Result<Vec<u8>, Unread> {
    let decoder = StreamingDecoder::new(body).map_err(|_| Unread::Damaged)?;
    let mut text = Vec::new();
    let read = decoder.take(LONGEST as u64 + 1).read_to_end(&mut text);
    read.map_err(|_| Unread::Damaged)?;
    if text.len() > LONGEST { Err(Unread::TooLarge) } else { Ok(text) }
}

/// The codings that a client accepts, without those that cannot be read here. A client that accepts those also accepts
/// an answer without a coding, so this changes only the transport. `None` if none has to be left out.
pub fn readable(headers: &HeaderMap) -> Option<HeaderValue> {
    let accepted = headers.get(ACCEPT_ENCODING)?.to_str().ok()?;
    let codings: Vec<&str> = accepted.split(',').map(str::trim).collect();
    let is_read = |coding: &&&str| {
        let name = coding.split(';').next().unwrap_or_default().trim();
        ["gzip", "x-gzip", "deflate", "identity"].iter().any(|read| name.eq_ignore_ascii_case(read))
    };
    let read: Vec<&str> = codings.iter().filter(is_read).copied().collect();
    let is_less = read.len() < codings.len();
    let read = if read.is_empty() { "identity".to_owned() } else { read.join(", ") };
    is_less.then(|| HeaderValue::try_from(read).ok()).flatten()
}

/// Bytes in the form of gzip.
#[cfg(test)]
pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, NAME | EXTRA | CRC, 0, 0, 0, 0, 0, 3];
    bytes.extend_from_slice(b"\x02\0zza.txt\0xx");
    bytes.extend(miniz_oxide::deflate::compress_to_vec(text, 6));
    bytes.extend([0; 8]);
    bytes
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec as compress_to_vec_zstd};

    use super::*;

    fn headers(coding: &str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_ENCODING, coding.parse().unwrap())])
    }

    #[test]
    fn every_coding_is_unpacked_in_pieces_of_any_size() {
        let text = "some text, ".repeat(20_000).into_bytes();
        for (coding, packed) in [
            ("gzip", gzip(&text)),
            ("deflate", compress_to_vec_zlib(&text, 6)),
            ("Deflate", compress_to_vec(&text, 6)),
            ("identity", text.clone()),
        ] {
            let headers = headers(coding);
            assert_eq!(unpacked(&headers, &packed).unwrap(), text, "{coding}");
            for size in [1, 7, 1000] {
                let mut decoder = Decoder::of(&headers).unwrap();
                let pieces = packed.chunks(size).map(|piece| decoder.feed(piece).unwrap());
                assert!(pieces.collect::<Vec<_>>().concat() == text, "{coding} {size}");
            }
            let half = unpacked(&headers, &packed[..packed.len() / 2]);
            assert_eq!(half.is_ok(), coding == "identity");
        }
    }

    #[test]
    fn whole_bodies_may_be_in_zstd() {
        let text = "some text, ".repeat(2000).into_bytes();
        let packed = compress_to_vec_zstd(&text[..], CompressionLevel::Fastest);
        assert_eq!(unpacked(&headers("zstd"), &packed).unwrap(), text);
        let half = &packed[..packed.len() / 2];
        assert_eq!(unpacked(&headers("zstd"), half), Err(Unread::Damaged));
    }

    #[test]
    fn what_is_not_read_is_said() {
        let unknown = Decoder::of(&headers("gzip, br")).err();
        assert_eq!(unknown, Some(Unread::Unknown("gzip, br".into())));
        assert_eq!(unpacked(&headers("gzip"), b"no gzip at all"), Err(Unread::Damaged));
        let bomb = gzip(&vec![0; LONGEST + 1]);
        assert_eq!(unpacked(&headers("gzip"), &bomb), Err(Unread::TooLarge));
    }

    #[test]
    fn clients_are_offered_what_is_read() {
        let offered = |accepted: &str| {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, accepted.parse().unwrap())]);
            readable(&headers).map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(offered("gzip, deflate"), None);
        assert_eq!(
            offered("br, GZIP;q=0.9, deflate, zstd").as_deref(),
            Some("GZIP;q=0.9, deflate")
        );
        assert_eq!(offered("br").as_deref(), Some("identity"));
        assert_eq!(readable(&HeaderMap::new()), None);
    }
}
