//! The alphabet of byte-level BPE (GPT-2): vocabularies are text, so each byte is written as a printable character.

/// The first character of unprintable bytes. Printable bytes stay themselves; the others are counted from U+0100 on.
const OTHERS: u32 = 0x100;

const fn is_itself(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff)
}

/// The bytes that are not written as themselves, in order.
const HIDDEN: [u8; 68] = {
    let (mut bytes, mut at, mut byte) = ([0; 68], 0, 0u8);
    while at < bytes.len() {
        if !is_itself(byte) {
            bytes[at] = byte;
            at += 1;
        }
        byte = byte.wrapping_add(1);
    }
    bytes
};

/// The byte of a character; `None` if no byte is written like that.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    match u8::try_from(code) {
        Ok(byte) => is_itself(byte).then_some(byte),
        Err(_) => HIDDEN.get(usize::try_from(code - OTHERS).ok()?).copied(),
    }
}

/// Appends the bytes of a text in this alphabet. For another text, appends nothing and returns false.
pub fn decode(text: &str, into: &mut Vec<u8>) -> bool {
    let before = into.len();
    for character in text.chars() {
        match byte_of(character) {
            Some(byte) => into.push(byte),
            None => {
                into.truncate(before);
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_one_character() {
        let mut bytes: Vec<u8> =
            (0..0x400).filter_map(char::from_u32).filter_map(byte_of).collect();
        bytes.sort_unstable();
        assert!(bytes.into_iter().eq(0..=255));
    }

    #[test]
    fn known_texts() {
        let bytes = |text: &str| {
            let mut bytes = Vec::new();
            decode(text, &mut bytes).then_some(bytes)
        };
        assert_eq!(bytes("ĠParis").as_deref(), Some(" Paris".as_bytes()));
        assert_eq!(bytes("Ċ").as_deref(), Some("\n".as_bytes()));
        assert_eq!(bytes("cafÃ©").as_deref(), Some("café".as_bytes()));
        assert_eq!(bytes("a b"), None);
    }
}
