//! Bodies that are kept: a text in a short form.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::domain::wire_answer::WireBody;

/// The longest text that is kept, in bytes.
pub const LONGEST_KEPT: usize = 8 << 20;
/// How hard to compress: higher levels take longer and save little.
const LEVEL: u8 = 6;

/// The body to keep for this text: packed where that saves more than half, since people read journals.
pub fn packed(text: String) -> WireBody {
    let deflate = STANDARD.encode(compress_to_vec(text.as_bytes(), LEVEL));
    match deflate.len() < text.len() / 2 {
        true => WireBody::Packed { deflate },
        false => WireBody::Text(text),
    }
}

/// The text of a kept body; `None` if it is damaged.
pub fn unpacked(body: &WireBody) -> Option<Cow<'_, str>> {
    match body {
        WireBody::Text(text) => Some(Cow::Borrowed(text)),
        WireBody::Packed { deflate } => {
            let bytes = STANDARD.decode(deflate).ok()?;
            let text = decompress_to_vec_with_limit(&bytes, LONGEST_KEPT).ok()?;
            Some(Cow::Owned(String::from_utf8(text).ok()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_repeats_is_packed_and_what_does_not_can_be_read() {
        let event =
            |at: u32| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{at}\"}}}}]}}\n\n");
        let stream: String = (0..100).map(event).collect();
        let body = packed(stream.clone());
        assert!(matches!(&body, WireBody::Packed { deflate } if deflate.len() < stream.len() / 5));
        assert_eq!(unpacked(&body).as_deref(), Some(&*stream));
        let short = r#"{"error":{"message":"This model's maximum context length is 8 tokens."}}"#;
        assert_eq!(packed(short.to_owned()), WireBody::Text(short.to_owned()));
    }

    #[test]
    fn a_damaged_body_is_none() {
        let deflate = |text: &[u8]| STANDARD.encode(compress_to_vec(text, LEVEL));
        let long = vec![b'a'; LONGEST_KEPT + 1];
        for deflate in [
            "no base64!".to_owned(),
            STANDARD.encode("no deflate"),
            deflate(&[0xff]),
            deflate(&long),
        ] {
            assert_eq!(unpacked(&WireBody::Packed { deflate }), None);
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in "\\PC*", times in 0..200_usize) {
            let text = text.repeat(times);
            let body = packed(text.clone());
            prop_assert_eq!(unpacked(&body).map(|it| it.to_string()), Some(text));
        }
    }
}
