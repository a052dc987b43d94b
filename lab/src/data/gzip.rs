//! Unpacks a file in gzip's form (RFC 1952).

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The most bytes after unpacking.
const LARGEST: usize = 1 << 28;

/// Bits of the header's flags.
const CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;

/// The size of the end of a member: a checksum and a length.
const TRAILER: usize = 8;

/// Returns the content. The checksum is not compared: damaged content is not valid JSON.
///
/// # Errors
/// A fault in the bytes, in words.
pub fn unpack(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
    let packed = body(bytes).ok_or("not a gzip file, or it ends early; download it again")?;
    decompress_to_vec_with_limit(packed, LARGEST)
        .map_err(|_| "damaged, or larger than 256 MiB when unpacked; download it again")
}

/// The compressed part of the first member.
fn body(bytes: &[u8]) -> Option<&[u8]> {
    let (head, mut rest) = bytes.split_first_chunk::<10>()?;
    let [0x1f, 0x8b, 8, flags, ..] = *head else { return None };
    if flags & EXTRA != 0 {
        let (length, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & CRC != 0 {
        rest = rest.get(2..)?;
    }
    rest.get(..rest.len().checked_sub(TRAILER)?)
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec;

    use super::*;

    fn packed(flags: u8, more: &[u8], text: &str) -> Vec<u8> {
        let mut bytes = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3];
        bytes.extend_from_slice(more);
        bytes.extend(compress_to_vec(text.as_bytes(), 6));
        bytes.extend([0; TRAILER]);
        bytes
    }

    #[test]
    fn a_file_is_unpacked_whatever_its_header_has() {
        for (flags, more) in [
            (0, &b""[..]),
            (NAME, b"a.txt\0"),
            (NAME | COMMENT | CRC, b"a\0b\0xx"),
            (EXTRA, b"\x02\0zz"),
        ] {
            assert_eq!(unpack(&packed(flags, more, "some text")).unwrap(), b"some text");
        }
    }

    #[test]
    fn damaged_files_are_refused() {
        let whole = packed(NAME, b"a.txt\0", &"many words ".repeat(90));
        for end in 0..whole.len() - TRAILER {
            let _ = unpack(&whole[..end]);
        }
        assert!(unpack(b"{\"text\": 1}").is_err() && unpack(&whole[..20]).is_err());
    }
}
