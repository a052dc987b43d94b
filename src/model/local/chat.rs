//! A chat as tokens, in ChatML:
//!
//! ```text
//! <|im_start|>user
//! How are you?<|im_end|>
//! <|im_start|>assistant
//! ```
//!
//! The template in a model file is a program (Jinja) of a stranger, and is never run: its text only tells whether it
//! writes ChatML. What else it would do, such as a system text of its own where a chat has none, is left out. Marks are
//! put as tokens, and contents are split as plain text. So no content can end its message or begin another one.

use crate::domain::{Message, Messages};
use crate::reader::{Reader, ReaderError, Special, Tokenizer};

const START: &str = "<|im_start|>";
const END: &str = "<|im_end|>";

/// What is said of a file with another format.
const SUPPORTED: &str =
    "expected a chat model in ChatML (<|im_start|>, <|im_end|>), such as SmolLM2-135M-Instruct";

/// The marks of ChatML in a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatMl {
    start: u32,
    end: u32,
}

impl ChatMl {
    /// The marks of a model that chats in ChatML. A file without a template needs only the marks.
    ///
    /// # Errors
    /// It chats in another format, or not at all.
    pub fn of(reader: &impl Reader) -> Result<Self, String> {
        let template = reader.facts().chat_template.as_deref();
        if template.is_some_and(|template| !template.contains(START) || !template.contains(END)) {
            return Err(format!("its chat template is not supported; {SUPPORTED}"));
        }
        let mark = |text| {
            let missing = || format!("its vocabulary has no control token {text}; {SUPPORTED}");
            control(reader.tokenizer(), text).ok_or_else(missing)
        };
        Ok(Self { start: mark(START)?, end: mark(END)? })
    }

    /// The messages as the model reads them, and the beginning of its answer.
    ///
    /// # Errors
    /// A message is too long.
    pub fn tokens(
        &self,
        tokenizer: &Tokenizer,
        messages: &Messages,
    ) -> Result<Vec<u32>, ReaderError> {
        let plain = |text: &str| tokenizer.encode(text, Special::Text);
        let mut tokens = Vec::new();
        for message in messages {
            tokens.push(self.start);
            tokens.extend(plain(&format!("{}\n{}", role(message), message.text()))?.ids);
            tokens.push(self.end);
            tokens.extend(plain("\n")?.ids);
        }
        tokens.push(self.start);
        tokens.extend(plain("assistant\n")?.ids);
        Ok(tokens)
    }
}

/// Text mode has made a user's message of each result.
fn role(message: &Message) -> &'static str {
    match message {
        Message::System { .. } => "system",
        Message::User { .. } | Message::Tool { .. } => "user",
        Message::Assistant { .. } => "assistant",
    }
}

/// The control token with this text. A token of another kind could be written by a content.
fn control(tokenizer: &Tokenizer, text: &str) -> Option<u32> {
    match tokenizer.encode(text, Special::Token).ok()?.ids[..] {
        [token] if tokenizer.piece(token).is_empty() => Some(token),
        _ => None,
    }
}
