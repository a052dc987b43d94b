//! SHA-256, which identifies model files and texts.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use ring::digest::{Context, SHA256};

/// The bytes of a file that are read at once.
const CHUNK: usize = 1 << 16;

/// The hash of a file's bytes, in 64 hexadecimal digits.
///
/// # Errors
/// The file cannot be read.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA256);
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(digits(context)),
            count => context.update(&chunk[..count]),
        }
    }
}

/// The hash of some bytes, in 64 hexadecimal digits.
pub fn of_bytes(bytes: &[u8]) -> String {
    let mut context = Context::new(&SHA256);
    context.update(bytes);
    digits(context)
}

/// The hash of some texts, in 64 hexadecimal digits. The boundaries between texts count.
pub fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut context = Context::new(&SHA256);
    for text in texts {
        context.update(&(text.len() as u64).to_le_bytes());
        context.update(text.as_bytes());
    }
    digits(context)
}

fn digits(context: Context) -> String {
    context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_file_is_that_of_its_bytes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "abc").unwrap();
        // FIPS 180-4, appendix B.1.
        let right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of_file(file.path()).unwrap(), right);
        std::fs::write(&file, "a".repeat(1_000_000)).unwrap();
        let right = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
        assert_eq!(of_file(file.path()).unwrap(), right);
    }

    #[test]
    fn borders_of_texts_count() {
        assert_eq!(of_texts(["ab", "c"]), of_texts(["ab", "c"]));
        assert_ne!(of_texts(["ab", "c"]), of_texts(["a", "bc"]));
    }
}
