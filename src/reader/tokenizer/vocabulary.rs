//! The tokens of a model and the bytes that each one means.

use std::collections::HashMap;

use super::alphabet;
use crate::{error::ModelFileFault, gguf::Metadata};

/// The most tokens. The largest known vocabularies have about 260,000.
const MOST: usize = 1 << 20;

/// The purpose of a token, by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenType {
    /// A piece of text.
    Normal,
    /// A mark such as the end of a message, which no ordinary text contains.
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
    kinds: Vec<TokenType>,
}

impl Vocabulary {
    pub fn read(metadata: &Metadata) -> Result<Self, ModelFileFault> {
        let key = "tokenizer.ggml.tokens";
        let missing = || ModelFileFault::bad(format!("no `{key}`"), "a list of tokens");
        let texts = metadata.texts(key)?.ok_or_else(missing)?;
        if !(1..=MOST).contains(&texts.len()) {
            return Err(ModelFileFault::bad(
                format!("`{key}` has {} tokens", texts.len()),
                format!("1 to {MOST}"),
            ));
        }
        let kinds = kinds(metadata, texts.len())?;
        let mut own = Self { bytes: Vec::new(), ends: Vec::with_capacity(texts.len()), kinds };
        for (n, text) in texts.iter().enumerate() {
            let text = std::str::from_utf8(text)
                .map_err(|_| ModelFileFault::bad(format!("token {n} is not UTF-8"), "UTF-8"))?;
            // Text outside the alphabet stays unchanged, as that of control tokens does.
            if own.kinds[n] != TokenType::Normal || !alphabet::decode(text, &mut own.bytes) {
                own.bytes.extend_from_slice(text.as_bytes());
            }
            own.ends.push(own.bytes.len());
        }
        Ok(own)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a token, and its purpose; `None` if there is no such token.
    pub fn get(&self, token: u32) -> Option<(&[u8], TokenType)> {
        let at = usize::try_from(token).ok()?;
        let begin =
            at.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(0));
        Some((self.bytes.get(begin..*self.ends.get(at)?)?, *self.kinds.get(at)?))
    }

    /// All tokens in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8], TokenType)> {
        (0..).map_while(|token| self.get(token).map(|(bytes, kind)| (token, bytes, kind)))
    }

    /// The tokens of pieces of text by their bytes. Among equal ones, the first counts.
    pub fn by_bytes(&self) -> HashMap<&[u8], u32> {
        let mut tokens = HashMap::with_capacity(self.len());
        for (token, bytes, _) in self.iter().filter(|(_, _, kind)| *kind == TokenType::Normal) {
            tokens.entry(bytes).or_insert(token);
        }
        tokens
    }
}

fn kinds(metadata: &Metadata, tokens: usize) -> Result<Vec<TokenType>, ModelFileFault> {
    let key = "tokenizer.ggml.token_type";
    let Some(numbers) = metadata.integers(key)? else {
        return Err(ModelFileFault::bad(format!("no `{key}`"), "the kind of each token"));
    };
    if numbers.len() != tokens {
        let found = format!("`{key}` has {} entries for {tokens} tokens", numbers.len());
        return Err(ModelFileFault::bad(found, "one for each token"));
    }
    let kind = |number: &i32| match number {
        1 => TokenType::Normal,
        3 => TokenType::Control,
        4 => TokenType::UserDefined,
        _ => TokenType::Other,
    };
    Ok(numbers.iter().map(kind).collect())
}
