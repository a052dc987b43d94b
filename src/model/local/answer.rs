//! The answer to a chat, token by token.

use std::sync::atomic::AtomicBool;

use super::{chat::ChatMl, draw::Drawing, stops::Stops};
use crate::domain::{Chance, Finish, ModelError, ModelErrorKind, Reply, Request, Usage};
use crate::reader::{Decoder, LocalReader, Reader, ReaderError};

/// A model file that is open for a chat.
pub struct Open {
    pub reader: LocalReader,
    pub chat: ChatMl,
}

impl Open {
    /// Answers a request with at most this many tokens. Calls `said` with each piece of the answer.
    ///
    /// # Errors
    /// The request is too long, or the answer was cancelled; with the text so far.
    pub fn answer(
        &mut self,
        request: &Request,
        longest: u32,
        chance: Chance,
        cancelled: &AtomicBool,
        mut said: impl FnMut(&str),
    ) -> Result<Reply, ModelError> {
        let reader = &mut self.reader;
        let window = reader.facts().context;
        let mut tokens = self.chat.tokens(reader.tokenizer(), &request.messages).map_err(failed)?;
        let asked = tokens.len();
        if asked >= window {
            let text = format!(
                "the request has {asked} tokens, and the model reads at most {window} with its answer; \
                 lower the knobs `history` and `result_max`, or offer fewer tools"
            );
            return Err(ModelError::new(ModelErrorKind::ContextOverflow, text));
        }
        let longest = usize::try_from(request.max_tokens.unwrap_or(longest)).unwrap_or(window);
        let (drawing, cached) = (Drawing::of(request), reader.known(&tokens));
        let (mut decoder, mut stops) = (Decoder::default(), Stops::new(&request.stop));
        let mut text = String::new();
        let mut say = |text: &mut String, more: &str| {
            if !more.is_empty() {
                text.push_str(more);
                said(more);
            }
        };
        let (mut finish, mut is_stopped) = (Finish::Length, false);
        for n in 0..longest.min(window - asked) {
            let token = match reader.next(&tokens, cancelled) {
                Ok(next) => drawing.draw(&next, chance.with(&n.to_le_bytes())),
                Err(error) => return Err(ModelError { partial: text, ..failed(error) }),
            };
            // A token without text is the end of the message, or a mark that has no place in one.
            let token = token.filter(|token| !reader.tokenizer().piece(*token).is_empty());
            let Some(token) = token else {
                finish = Finish::Stop;
                break;
            };
            tokens.push(token);
            let (more, is_end) = stops.push(&decoder.push(reader.tokenizer(), token));
            say(&mut text, &more);
            if is_end {
                (finish, is_stopped) = (Finish::Stop, true);
                break;
            }
        }
        if !is_stopped {
            say(&mut text, &(stops.finish() + &decoder.finish()));
        }
        let (tokens_in, tokens_out) = (asked as u64, (tokens.len() - asked) as u64);
        let usage = Usage { tokens_in, tokens_out, cached: cached as u64, ..Usage::default() };
        Ok(Reply { finish, usage, ..Reply::of_text(text) })
    }
}

/// A reader's error as one of the model.
pub fn failed(error: ReaderError) -> ModelError {
    let kind = match error {
        ReaderError::LongText { .. } | ReaderError::LongContext { .. } => {
            ModelErrorKind::ContextOverflow
        }
        ReaderError::Cancelled => ModelErrorKind::Cancelled,
        ReaderError::NotFinite => ModelErrorKind::BadAnswer,
        ReaderError::Io { .. }
        | ReaderError::BadFile { .. }
        | ReaderError::NoTokens
        | ReaderError::UnknownToken { .. }
        | ReaderError::NoLayer { .. } => ModelErrorKind::Refused,
    };
    ModelError::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::domain::{Message, Role};

    #[test]
    fn a_cancelled_answer_ends_before_the_next_token() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/data/vectors/cotools/tiny.gguf");
        let reader = LocalReader::open(&path).unwrap();
        let mut open = Open { chat: ChatMl::of(&reader).unwrap(), reader };
        let request = Request::new(Role::Actor, vec![Message::user("Go on and on.")]);
        let request = Request { temperature: Some(1.0.into()), ..request };
        // A model with random weights may end its answer at any token.
        for seed in 0..20 {
            let (cancelled, mut pieces) = (AtomicBool::new(false), Vec::new());
            let answer = open.answer(&request, 400, Chance::new(seed), &cancelled, |text| {
                pieces.push(text.to_owned());
                cancelled.store(pieces.len() == 3, Ordering::Relaxed);
            });
            assert!(pieces.len() <= 3, "{pieces:?}");
            if let Err(error) = answer {
                assert_eq!(error.kind, ModelErrorKind::Cancelled);
                assert_eq!(error.partial, pieces.concat());
                return;
            }
        }
        panic!("no answer had three pieces");
    }
}
