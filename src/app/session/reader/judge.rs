//! The thread of a judge that reads along while an answer is written.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, mpsc};

use tokio::sync::oneshot;
use tracing::warn;

use super::reader_query::Asking;
use crate::domain::JudgedPiece;
use crate::encoder::{Encoder, EncoderError};
use crate::papers::cotools::{HeadFile, Heads, QueryTemplate};

/// An answer to judge after byte `from`.
pub(super) struct ToJudge {
    pub query: Asking,
    pub from: usize,
    pub answer: oneshot::Sender<Vec<JudgedPiece>>,
}

/// A judge with its own reader, since it reads other texts than the ranking of tools.
pub(super) struct ReadingAlong {
    encoder: Encoder,
    heads: Arc<HeadFile>,
    cancelled: Arc<AtomicBool>,
}

impl ReadingAlong {
    pub fn new(encoder: Encoder, heads: Arc<HeadFile>, cancelled: Arc<AtomicBool>) -> Self {
        Self { encoder, heads, cancelled }
    }

    /// Judges until no request can come any more. In an unreadable text, no call starts.
    pub fn run(mut self, asked: &mpsc::Receiver<ToJudge>) {
        while let Ok(ToJudge { query, from, answer }) = asked.recv() {
            let pieces = self.judge(&query, from).unwrap_or_else(|why| {
                warn!(%why, "a text was not judged");
                Vec::new()
            });
            let _ = answer.send(pieces);
        }
    }

    fn judge(&mut self, query: &Asking, from: usize) -> Result<Vec<JudgedPiece>, EncoderError> {
        // The training texts of the judge begin like this.
        let question = QueryTemplate::StepByStep.text(&query.question, " ");
        let text = format!("{question}{}", query.answer.as_deref().unwrap_or_default());
        let base = question.len() + from;
        let Self { encoder, heads, cancelled } = self;
        let read = encoder.token_states_after(&text, base, heads.about.layer, cancelled)?;
        let (tokens, mut states) = read;
        heads.about.preparation.apply(&mut states, None)?;
        let Heads::Judge(judge) = &heads.heads else { return Ok(Vec::new()) };
        let p = judge.probabilities(&states)?;
        let ends = tokens.ends[tokens.ends.len() - p.len()..].iter();
        Ok(ends.zip(p).map(|(end, p)| JudgedPiece { end: end - base, p: p.into() }).collect())
    }
}
