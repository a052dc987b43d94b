//! Compressed bodies of requests and answers. The body that is sent on stays compressed; a copy is unpacked to be read.

use hyper::HeaderMap;
use hyper::header::{ACCEPT_ENCODING, HeaderValue};

pub use crate::net::coding::{Decoder, Unread};

/// The text of a whole body with these headers.
///
/// # Errors
/// As [`Decoder::of`] and [`Decoder::feed`]; also it has no end.
pub fn unpacked(headers: &HeaderMap, body: &[u8]) -> Result<Vec<u8>, Unread> {
    let mut decoder = Decoder::of(headers)?;
    let text = decoder.feed(body)?;
    if decoder.is_whole() { Ok(text) } else { Err(Unread::Damaged) }
}

/// The codings that a client accepts, without those that cannot be read here. A client that accepts those also accepts
/// an answer without a coding, so this changes only the transport. `None` if none has to be left out.
fn readable(headers: &HeaderMap) -> Option<HeaderValue> {
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

/// Has a request accept only what can be read here.
pub fn accept_readable(headers: &mut HeaderMap, streams: bool) {
    let accepted = match streams {
        // Compressed events cannot be cut.
        true => headers.contains_key(ACCEPT_ENCODING).then(|| HeaderValue::from_static("identity")),
        false => readable(headers),
    };
    accepted.into_iter().for_each(|accepted| drop(headers.insert(ACCEPT_ENCODING, accepted)));
}

/// Bytes in the form of gzip.
#[cfg(test)]
pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0x0e, 0, 0, 0, 0, 0, 3];
    bytes.extend_from_slice(b"\x02\0zza.txt\0xx");
    bytes.extend(miniz_oxide::deflate::compress_to_vec(text, 6));
    bytes.extend([0; 8]);
    bytes
}

#[cfg(test)]
mod tests {
    use hyper::header::CONTENT_ENCODING;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec as compress_to_vec_zstd};

    use super::super::room::LONGEST;
    use super::*;

    fn headers(coding: &str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_ENCODING, coding.parse().unwrap())])
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
        let packed = gzip(b"some text");
        assert_eq!(unpacked(&headers("gzip"), &packed).unwrap(), b"some text");
        for damaged in [&packed[..packed.len() / 2], b"no gzip at all"] {
            assert_eq!(unpacked(&headers("gzip"), damaged), Err(Unread::Damaged));
        }
        let bomb = gzip(&vec![0; 2 * LONGEST + 1]);
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
