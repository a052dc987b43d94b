//! The text of a model as it arrives.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{EffectRef, ModelCallEvent, ModelError, Reply, Request, SessionEvent};
use crate::handle::Handle;
use crate::model::{Model, ModelProgress};
use crate::net::known;

/// Shortest interval between events of streamed text: a screen needs no more, and a journal should
/// have fewer.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Calls the model, and turns streamed text into events. `grown` gets all new text.
pub async fn stream(
    handle: &Handle,
    effect: EffectRef,
    model: &dyn Model,
    request: &Request,
    grown: &mut dyn FnMut(&str),
) -> Result<Reply, ModelError> {
    let mut piece = StreamPiece::default();
    let mut report = |progress: ModelProgress| {
        match progress {
            ModelProgress::Text(text) => {
                grown(&text);
                piece.text.push_str(&text);
            }
            ModelProgress::Reasoning(text) => piece.reasoning.push_str(&text),
            ModelProgress::Retrying { attempt, wait, why } => {
                piece.tell(handle, effect);
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                handle.emit(ModelCallEvent::ModelCallRetried { effect, attempt, wait_ms, why });
            }
            ModelProgress::Sent(body) => {
                handle.emit(ModelCallEvent::ModelCallSent { effect, body });
            }
            ModelProgress::Answered(answer) => {
                handle.emit(ModelCallEvent::ModelCallAnswered { effect, answer });
            }
            ModelProgress::Noticed(text) => handle.emit(SessionEvent::Noticed { text }),
        }
        if piece.since.is_none_or(|since| since.elapsed() >= PROGRESS_EVERY) {
            piece.tell(handle, effect);
        }
    };
    model.ask(request, &mut report).await
}

/// Streamed text that is not in an event yet.
#[derive(Default)]
struct StreamPiece {
    text: String,
    reasoning: String,
    since: Option<Instant>,
}

impl StreamPiece {
    fn tell(&mut self, handle: &Handle, effect: EffectRef) {
        self.since = Some(Instant::now());
        let [text, reasoning] = [&mut self.text, &mut self.reasoning].map(|new| {
            // A key that arrives in two pieces would not be found in either.
            let rest = new.split_off(new.len() - known::begun(new));
            std::mem::replace(new, rest)
        });
        if !(text.is_empty() && reasoning.is_empty()) {
            handle.emit(ModelCallEvent::ModelCallProgressed { effect, text, reasoning });
        }
    }
}
