//! The tokens of a model and the bytes that each one means.

use std::collections::HashMap;

use super::alphabet;
use crate::{error::Fault, gguf::Metadata};

/// The most tokens. The largest known vocabularies have about 260,000.
const MOST: usize = 1 << 20;

/// What a token is for, by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A piece of text.
    Normal,
    /// A mark such as the end of a message, which no text means by itself.
    Control,
    /// A piece of text that is never split.
    UserDefined,
    /// Not used by a text.
    Other,
}

/// All tokens; a token's number is its index.
pub struct Vocabulary {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    kinds: Vec<Kind>,
}

impl Vocabulary {
    pub fn read(metadata: &Metadata) -> Result<Self, Fault> {
        let key = "tokenizer.ggml.tokens";
        let missing = || Fault::bad(format!("no `{key}`"), "a list of tokens");
        let texts = metadata.texts(key)?.ok_or_else(missing)?;
        if !(1..=MOST).contains(&texts.len()) {
            return Err(Fault::bad(
                format!("`{key}` has {} tokens", texts.len()),
                format!("1 to {MOST}"),
            ));
        }
        let kinds = kinds(metadata, texts.len())?;
        let mut own = Self { bytes: Vec::new(), ends: Vec::with_capacity(texts.len()), kinds };
        for (n, text) in texts.iter().enumerate() {
            let text = std::str::from_utf8(text)
                .map_err(|_| Fault::bad(format!("token {n} is not UTF-8"), "UTF-8"))?;
            // Text outside the alphabet means itself, as that of control tokens does.
            if own.kinds[n] != Kind::Normal || !alphabet::decode(text, &mut own.bytes) {
                own.bytes.extend_from_slice(text.as_bytes());
            }
            own.ends.push(own.bytes.len());
        }
        Ok(own)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a token, and what it is for; `None` where there is no such token.
    pub fn get(&self, token: u32) -> Option<(&[u8], Kind)> {
        let at = usize::try_from(token).ok()?;
        let begin =
            at.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(0));
        Some((self.bytes.get(begin..*self.ends.get(at)?)?, *self.kinds.get(at)?))
    }

    /// All tokens in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8], Kind)> {
        (0..).map_while(|token| self.get(token).map(|(bytes, kind)| (token, bytes, kind)))
    }

    /// The tokens of pieces of text by their bytes. Of equal ones the first counts.
    pub fn by_bytes(&self) -> HashMap<&[u8], u32> {
        let mut tokens = HashMap::with_capacity(self.len());
        for (token, bytes, _) in self.iter().filter(|(_, _, kind)| *kind == Kind::Normal) {
            tokens.entry(bytes).or_insert(token);
        }
        tokens
    }
}

fn kinds(metadata: &Metadata, tokens: usize) -> Result<Vec<Kind>, Fault> {
    let key = "tokenizer.ggml.token_type";
    let Some(numbers) = metadata.integers(key)? else {
        return Err(Fault::bad(format!("no `{key}`"), "the kind of each token"));
    };
    if numbers.len() != tokens {
        let found = format!("`{key}` has {} entries for {tokens} tokens", numbers.len());
        return Err(Fault::bad(found, "one for each token"));
    }
    let kind = |number: &i32| match number {
        1 => Kind::Normal,
        3 => Kind::Control,
        4 => Kind::UserDefined,
        _ => Kind::Other,
    };
    Ok(numbers.iter().map(kind).collect())
}
