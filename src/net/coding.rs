//! Compressed bodies, unpacked as they arrive.

use miniz_oxide::inflate::stream::{InflateState, MinReset, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use ruzstd::decoding::FrameDecoder;

/// Bits of the flags in a header of gzip.
const CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
/// The first bytes of a member of gzip.
const MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Bytes after the text of a member: its checksum and its length, which are not checked.
const TRAILER: usize = 8;
/// The longest head of a frame of zstd, with that of its first block.
const HEAD: usize = 21;
/// The longest head of a member of gzip, with its names.
const LONGEST_HEAD: usize = 64 << 10;
/// Bytes that are unpacked at a time.
const STEP: usize = 32 * 1024;

/// The longest unpacked body in bytes.
const LONGEST: usize = 64 << 20;

/// A body in a form that cannot be read here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    #[error("not understood: {0}, the coding of its body")]
    Unknown(String),
    #[error("its compressed data is damaged")]
    Damaged,
    #[error("it is too large to be kept")]
    TooLarge,
}

/// Why a body cannot be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyFault {
    #[error(transparent)]
    Broken(#[from] reqwest::Error),
    #[error("{0}; the request asked for no compression")]
    Unread(#[from] Unread),
}

/// The body of a response. Some servers compress it although no request here asks for that.
pub struct Body {
    response: Response,
    decoder: Result<Decoder, Unread>,
    has_begun: bool,
}

impl Body {
    pub fn of(response: Response) -> Self {
        let decoder = Decoder::of(response.headers());
        Self { response, decoder, has_begun: false }
    }

    /// The next bytes, unpacked; `None` after the last ones.
    ///
    /// # Errors
    /// The connection broke, or the bytes cannot be unpacked.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, BodyFault> {
        let bytes = self.response.chunk().await?;
        match (bytes, &mut self.decoder) {
            (Some(bytes), Ok(decoder)) => {
                self.has_begun = true;
                Ok(Some(decoder.feed(&bytes)?))
            }
            (Some(_), Err(why)) => Err(why.clone().into()),
            (None, Ok(decoder)) if self.has_begun && !decoder.is_whole() => {
                Err(Unread::Damaged.into())
            }
            (None, _) => Ok(None),
        }
    }
}

/// The codings of a body with these headers, in small letters.
pub fn codings(headers: &HeaderMap) -> Vec<String> {
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
    Gzip(Members),
    /// The first byte shows whether there is a zlib header, which some servers omit.
    Deflate,
    Inflating(Box<InflateState>),
    /// The text comes late, since a later block may repeat any part of it. With the bytes of an incomplete block.
    Zstd(Box<FrameDecoder>, Vec<u8>),
    /// The text has ended; bytes after it, such as a checksum, are not read.
    Ended,
}

/// The members of a gzip body. Some servers compress each part of an answer on its own (RFC 1952, section 2.2).
pub struct Members {
    state: Box<InflateState>,
    /// The bytes before the text of the next member, as far as they have come.
    before: Vec<u8>,
    /// Whether the text of a member has begun and not ended.
    is_inside: bool,
    /// The number of bytes at the beginning of `before` that belong to the member before.
    trailer: usize,
}

impl Members {
    fn new() -> Self {
        let state = InflateState::new_boxed(DataFormat::Raw);
        Self { state, before: Vec::new(), is_inside: false, trailer: 0 }
    }

    /// Adds the text of the next bytes; returns whether no member follows.
    fn feed(&mut self, bytes: &[u8], text: &mut Vec<u8>) -> Result<bool, Unread> {
        self.before.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.before);
        let mut rest = &bytes[..];
        loop {
            if self.is_inside {
                let Some(after) = unpack(&mut self.state, rest, text)? else { return Ok(false) };
                rest = after;
                // A new state would take longer than a small member.
                self.state.reset_as(MinReset);
                (self.is_inside, self.trailer) = (false, TRAILER);
            }
            match rest.get(self.trailer..).map_or(Ok(None), header_length) {
                Ok(Some(length)) => rest = rest.get(self.trailer + length..).unwrap_or_default(),
                Ok(None) if rest.len() > LONGEST_HEAD => return Err(Unread::Damaged),
                Ok(None) => {
                    self.before = rest.to_vec();
                    return Ok(false);
                }
                // Other decoders ignore bytes after the last member as well.
                Err(_) if self.trailer > 0 => return Ok(true),
                Err(why) => return Err(why),
            }
            self.is_inside = true;
        }
    }

    /// Whether all members so far have ended, and no other one has begun.
    fn is_whole(&self) -> bool {
        let next = self.before.get(self.trailer..).unwrap_or_default();
        self.trailer > 0 && !self.is_inside && !next.starts_with(&MAGIC)
    }
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
            ["gzip" | "x-gzip"] => Ok(Self::Gzip(Members::new())),
            ["deflate"] => Ok(Self::Deflate),
            ["zstd"] => Ok(Self::Zstd(FrameDecoder::new().into(), Vec::new())),
            _ => Err(Unread::Unknown(codings.join(", "))),
        }
    }

    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Whether the text is complete as far as this is known.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Plain | Self::Ended => true,
            Self::Gzip(members) => members.is_whole(),
            Self::Deflate | Self::Inflating(_) => false,
            Self::Zstd(frame, _) => frame.is_finished(),
        }
    }

    /// Decodes the next bytes; returns the text that they add.
    ///
    /// # Errors
    /// The bytes are damaged.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Unread> {
        let mut text = Vec::new();
        let is_ended = match self {
            Self::Plain => return Ok(bytes.to_vec()),
            Self::Ended => return Ok(text),
            Self::Gzip(members) => members.feed(bytes, &mut text)?,
            Self::Deflate => {
                let Some(first) = bytes.first() else { return Ok(text) };
                let has_header = first & 0x0f == 8;
                let format =
                    if has_header { DataFormat::ZLibIgnoreChecksum } else { DataFormat::Raw };
                *self = Self::Inflating(InflateState::new_boxed(format));
                return self.feed(bytes);
            }
            Self::Inflating(state) => unpack(state, bytes, &mut text)?.is_some(),
            Self::Zstd(frame, rest) => {
                rest.extend_from_slice(bytes);
                unzstd(frame, rest, &mut text)?;
                false
            }
        };
        if is_ended {
            *self = Self::Ended;
        }
        Ok(text)
    }
}

/// Inflates these bytes, and adds the text; returns the bytes after its end, if that has come.
fn unpack<'b>(
    state: &mut InflateState,
    bytes: &'b [u8],
    text: &mut Vec<u8>,
) -> Result<Option<&'b [u8]>, Unread> {
    let mut rest = bytes;
    let mut step = [0; STEP];
    loop {
        let done = inflate(state, rest, &mut step, MZFlush::None);
        rest = rest.get(done.bytes_consumed..).unwrap_or_default();
        text.extend_from_slice(step.get(..done.bytes_written).unwrap_or_default());
        if text.len() > LONGEST {
            return Err(Unread::TooLarge);
        }
        match done.status {
            Ok(MZStatus::StreamEnd) => return Ok(Some(rest)),
            Ok(_) if done.bytes_written == STEP || !rest.is_empty() => {}
            // The decompressor needs more input.
            Ok(_) | Err(miniz_oxide::MZError::Buf) => return Ok(None),
            Err(_) => return Err(Unread::Damaged),
        }
    }
}

/// Unpacks the blocks of a frame that are complete, and adds the text that is.
fn unzstd(frame: &mut FrameDecoder, rest: &mut Vec<u8>, text: &mut Vec<u8>) -> Result<(), Unread> {
    let mut step = vec![0; STEP];
    loop {
        let (read, written) = match frame.decode_from_to(rest, &mut step) {
            Ok(done) => done,
            // More of the head may come.
            Err(_) if frame.bytes_read_from_source() == 0 && rest.len() < HEAD => return Ok(()),
            Err(_) => return Err(Unread::Damaged),
        };
        // It asks for a checksum as a whole.
        if read > rest.len() {
            return Ok(());
        }
        rest.drain(..read);
        text.extend_from_slice(step.get(..written).unwrap_or_default());
        if text.len() > LONGEST {
            return Err(Unread::TooLarge);
        }
        if read == 0 && written == 0 {
            return Ok(());
        }
    }
}

/// The length of a header of gzip (RFC 1952); `None` if there is more of it to come.
fn header_length(bytes: &[u8]) -> Result<Option<usize>, Unread> {
    let Some(head) = bytes.first_chunk::<10>() else { return Ok(None) };
    let [first, second, 8, flags, ..] = *head else { return Err(Unread::Damaged) };
    if [first, second] != MAGIC {
        return Err(Unread::Damaged);
    }
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

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec as compress_to_vec_zstd};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x1f, 0x8b, 8, NAME | EXTRA | CRC, 0, 0, 0, 0, 0, 3];
        bytes.extend_from_slice(b"\x02\0zza.txt\0xx");
        bytes.extend(compress_to_vec(text, 6));
        bytes.extend([0; 8]);
        bytes
    }

    fn decoder(coding: &str) -> Result<Decoder, Unread> {
        Decoder::of(&HeaderMap::from_iter([(CONTENT_ENCODING, coding.parse().unwrap())]))
    }

    #[test]
    fn a_head_of_gzip_has_a_largest_length() {
        let mut decoder = Decoder::Gzip(Members::new());
        assert_eq!(decoder.feed(&[0x1f, 0x8b, 8, NAME, 0, 0, 0, 0, 0, 3]), Ok(Vec::new()));
        let fed = std::iter::repeat_with(|| decoder.feed(&[b'n'; 1000])).take(100);
        assert!(fed.into_iter().any(|fed| fed == Err(Unread::Damaged)));
    }

    #[test]
    fn every_coding_is_unpacked_in_pieces_of_any_size() {
        let text = "some text, ".repeat(20_000).into_bytes();
        let fastest = CompressionLevel::Fastest;
        for (coding, packed) in [
            ("gzip", gzip(&text)),
            ("zstd", compress_to_vec_zstd(&text[..], fastest)),
            ("zstd", compress_to_vec_zstd(&b"{}"[..], fastest)),
            ("deflate", compress_to_vec_zlib(&text, 6)),
            ("Deflate", compress_to_vec(&text, 6)),
            ("identity", text.clone()),
        ] {
            for size in [1, 7, 1000, packed.len()] {
                let mut decoder = decoder(coding).unwrap();
                let pieces = packed.chunks(size).map(|piece| decoder.feed(piece).unwrap());
                let read = pieces.collect::<Vec<_>>().concat();
                assert!(read == text || read == b"{}", "{coding} {size}");
                assert!(decoder.is_whole(), "{coding} {size}");
            }
            let mut half = decoder(coding).unwrap();
            half.feed(&packed[..packed.len() / 2]).unwrap();
            assert_eq!(half.is_whole(), coding == "identity");
        }
    }

    #[test]
    fn every_member_of_gzip_is_unpacked() {
        let parts = [b"one, ".to_vec(), Vec::new(), b"two, ".repeat(9000), b"three".to_vec()];
        let members: Vec<Vec<u8>> = parts.iter().map(|part| gzip(part)).collect();
        let (text, packed) = (parts.concat(), members.concat());
        let end = packed.len();
        // Bytes after the last member are ignored.
        for after in [&b""[..], &[0; 40], b"garbage", b"garbage that is long"] {
            let packed = [&packed[..], after].concat();
            for size in [1, 7, 1000, packed.len()] {
                let mut decoder = decoder("gzip").unwrap();
                let pieces = packed.chunks(size).map(|piece| decoder.feed(piece).unwrap());
                assert!(pieces.collect::<Vec<_>>().concat() == text, "{after:?} {size}");
                assert!(decoder.is_whole());
            }
        }
        // The last member is cut in its text, and in its header.
        for cut in [end - TRAILER - 3, end - members[3].len() + 2] {
            let mut decoder = decoder("gzip").unwrap();
            decoder.feed(&packed[..cut]).unwrap();
            assert!(!decoder.is_whole());
        }
        let bomb = gzip(&vec![0; LONGEST / 2 + 1]);
        let twice = decoder("gzip").unwrap().feed(&[&bomb[..], &bomb].concat());
        assert_eq!(twice, Err(Unread::TooLarge));
        // Many small members need no deep stack.
        let many = gzip(b"").repeat(20_000);
        assert_eq!(decoder("gzip").unwrap().feed(&many), Ok(Vec::new()));
    }

    #[test]
    fn what_is_not_read_is_said() {
        let unknown = decoder("gzip, br").err();
        assert_eq!(unknown, Some(Unread::Unknown("gzip, br".into())));
        assert_eq!(decoder("gzip").unwrap().feed(b"no gzip at all"), Err(Unread::Damaged));
        let bomb = decoder("gzip").unwrap().feed(&gzip(&vec![0; LONGEST + 1]));
        assert_eq!(bomb, Err(Unread::TooLarge));
    }
}
