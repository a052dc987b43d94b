//! Tokens back to text, piece by piece: a character may be made of several tokens.

use super::Tokenizer;

/// Collects the bytes of tokens, and gives out text as soon as its characters are complete.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// The begin of a character: at most three bytes.
    pending: Vec<u8>,
}

impl Decoder {
    /// The text that a token completes; empty where its character goes on. Bytes that are not UTF-8 become U+FFFD.
    /// Control tokens and unknown numbers have no text.
    pub fn push(&mut self, tokenizer: &Tokenizer, token: u32) -> String {
        self.pending.extend_from_slice(tokenizer.piece(token));
        let mut text = String::new();
        let mut rest = self.pending.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                }
                Err(error) => {
                    let (valid, other) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    rest = other;
                    if let Some(length) = error.error_len() {
                        text.push(char::REPLACEMENT_CHARACTER);
                        rest = &rest[length..];
                        continue;
                    }
                }
            }
            self.pending = rest.to_vec();
            return text;
        }
    }

    /// The rest of the text: U+FFFD for an incomplete character.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.pending).into_owned()
    }
}
