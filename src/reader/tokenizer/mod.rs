//! Byte-level BPE, as in GPT-2 and SmolLM, from the vocabulary and the merges of a model file.

mod alphabet;
mod merges;
mod split;
mod vocabulary;

use std::collections::HashMap;
use std::ops::Range;

use regex::Regex;

use self::merges::Merges;
use self::split::Splitter;
use self::vocabulary::{TokenType, Vocabulary};
use super::error::{ModelFileFault, ReaderError};
use super::gguf::Metadata;

/// The longest text that is split into tokens, in bytes.
pub const LONGEST_TEXT: usize = 1 << 20;

/// The most bytes of all special tokens of a vocabulary.
const SPECIAL: usize = 1 << 16;

/// How the texts of control tokens, such as `<|im_end|>`, are read within a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Control tokens, for prompts that the program makes.
    Token,
    /// Ordinary text, for content that users, tools and models wrote.
    Text,
}

/// The tokens of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub ids: Vec<u32>,
    /// The end of each token in the text, in bytes; it begins where the one before ends. A token may end inside a
    /// character. Bytes that the vocabulary lacks belong to the next token.
    pub ends: Vec<usize>,
}

impl Tokens {
    fn push(&mut self, token: u32, end: usize) {
        self.ids.push(token);
        self.ends.push(end);
    }

    /// Appends a token that has no text, such as the end token.
    #[must_use]
    pub fn and(mut self, token: u32) -> Self {
        let end = self.ends.last().copied().unwrap_or(0);
        self.push(token, end);
        self
    }
}

/// Splits texts into tokens.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    splitter: Splitter,
    merges: Merges,
    control: Specials,
    user_defined: Specials,
    end: u32,
}

/// Tokens whose texts are searched in a text, the longest first.
struct Specials {
    tokens: HashMap<String, u32>,
    texts: Option<Regex>,
}

impl Specials {
    fn new(
        vocabulary: &Vocabulary,
        is_one: impl Fn(TokenType) -> bool,
    ) -> Result<Self, ModelFileFault> {
        let mut tokens = HashMap::new();
        for (token, bytes, _) in vocabulary.iter().filter(|(_, _, kind)| is_one(*kind)) {
            let text = String::from_utf8_lossy(bytes).into_owned();
            if !text.is_empty() {
                tokens.entry(text).or_insert(token);
            }
        }
        let mut longest: Vec<_> = tokens.keys().map(|text| regex::escape(text)).collect();
        longest.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let bytes: usize = longest.iter().map(String::len).sum();
        let too_many = || {
            ModelFileFault::bad(
                format!("{bytes} bytes of special tokens"),
                format!("at most {SPECIAL}"),
            )
        };
        if bytes > SPECIAL {
            return Err(too_many());
        }
        // The regular expression searches in linear time.
        let texts = (!longest.is_empty()).then(|| Regex::new(&longest.join("|"))).transpose();
        Ok(Self { texts: texts.map_err(|_| too_many())?, tokens })
    }
}

impl Tokenizer {
    /// The tokenizer of a model file.
    pub fn read(metadata: &Metadata) -> Result<Self, ModelFileFault> {
        let model = metadata.text("tokenizer.ggml.model")?.unwrap_or_default();
        if model != "gpt2" {
            let found = format!("`tokenizer.ggml.model` is {model:?}");
            return Err(ModelFileFault::bad(
                found,
                "\"gpt2\" (byte-level BPE); other tokenizers are not supported",
            ));
        }
        if metadata.flag("tokenizer.ggml.add_bos_token")? == Some(true) {
            let found = "`tokenizer.ggml.add_bos_token` is true";
            return Err(ModelFileFault::bad(
                found,
                "a model whose texts begin without a token of their own",
            ));
        }
        let splitter = Splitter::named(metadata.text("tokenizer.ggml.pre")?.unwrap_or_default())?;
        let vocabulary = Vocabulary::read(metadata)?;
        let end = metadata.number("tokenizer.ggml.eos_token_id")?;
        let end = end.and_then(|end| u32::try_from(end).ok());
        let Some(end) = end.filter(|end| vocabulary.get(*end).is_some()) else {
            return Err(ModelFileFault::bad(
                "no `tokenizer.ggml.eos_token_id`",
                "the number of the end token",
            ));
        };
        Ok(Self {
            merges: Merges::read(metadata, &vocabulary)?,
            control: Specials::new(&vocabulary, |kind| {
                matches!(kind, TokenType::Control | TokenType::UserDefined)
            })?,
            user_defined: Specials::new(&vocabulary, |kind| kind == TokenType::UserDefined)?,
            vocabulary,
            splitter,
            end,
        })
    }

    /// The number of tokens.
    pub fn size(&self) -> usize {
        self.vocabulary.len()
    }

    /// The token that ends a text or a message.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The text of a token as bytes, which may be a part of a character. Empty for control tokens.
    pub fn piece(&self, token: u32) -> &[u8] {
        match self.vocabulary.get(token) {
            Some((bytes, TokenType::Normal | TokenType::UserDefined)) => bytes,
            _ => &[],
        }
    }

    /// The tokens of a text of at most [`LONGEST_TEXT`] bytes. Nothing is added before or after it.
    ///
    /// # Errors
    /// The text is too long.
    pub fn encode(&self, text: &str, special: Special) -> Result<Tokens, ReaderError> {
        if text.len() > LONGEST_TEXT {
            return Err(ReaderError::LongText { bytes: text.len(), most: LONGEST_TEXT });
        }
        let specials = match special {
            Special::Token => &self.control,
            Special::Text => &self.user_defined,
        };
        let mut tokens = Tokens::default();
        let mut begin = 0;
        for found in specials.texts.iter().flat_map(|texts| texts.find_iter(text)) {
            if let Some(token) = specials.tokens.get(found.as_str()) {
                self.encode_words(text, begin..found.start(), &mut tokens);
                tokens.push(*token, found.end());
                begin = found.end();
            }
        }
        self.encode_words(text, begin..text.len(), &mut tokens);
        Ok(tokens)
    }

    fn encode_words(&self, text: &str, part: Range<usize>, tokens: &mut Tokens) {
        let (offset, text) = (part.start, &text[part]);
        self.splitter.split(text, |word| {
            let begin = offset + word.start;
            self.merges.merge(&text.as_bytes()[word], |token, end| tokens.push(token, begin + end));
        });
    }
}
