//! A judge reads along while a model writes (CoTools, eq. 3 and 4), and ends the text where a call
//! starts, if the knobs say so.

use std::cell::{Cell, RefCell};

use tokio::sync::Notify;

use super::{ModelCall, stream};
use crate::domain::{
    CallJudge, EffectRef, Finish, JudgedPiece, Knob, ModelError, ReaderEvent, Reply, Usage, tokens,
};
use crate::papers::cotools::hand_rule;
use crate::strategy::Before;
use crate::{handle::Handle, ranker::Query};

/// The text so far.
#[derive(Default)]
struct JudgedText {
    text: RefCell<String>,
    is_whole: Cell<bool>,
    grown: Notify,
}

/// Calls the model while the judge reads.
pub async fn stream(
    handle: &Handle,
    effect: EffectRef,
    call: &ModelCall,
    before: &Before,
) -> Result<Reply, ModelError> {
    let written = JudgedText::default();
    let mut grown = |new: &str| {
        written.text.borrow_mut().push_str(new);
        written.grown.notify_one();
    };
    let mut reply =
        std::pin::pin!(stream::stream(handle, effect, &*call.model, &call.request, &mut grown));
    let mut judged = std::pin::pin!(read_along(handle, effect, before, &written));
    tokio::select! {
        biased;
        end = &mut judged => {
            let text = end.map(|end| written.text.borrow()[..end].to_owned()).unwrap_or_default();
            let tokens_in = tokens::count_request(&call.request);
            let usage = Usage::estimate(tokens_in, tokens::count(&text));
            Ok(Reply { finish: Finish::Judged, usage, ..Reply::of_text(text) })
        }
        reply = &mut reply => {
            let mut reply = reply?;
            // Some models do not stream.
            written.text.borrow_mut().clone_from(&reply.text);
            written.is_whole.set(true);
            written.grown.notify_one();
            if let Some(end) = judged.await {
                reply.text.truncate(end);
                reply.finish = Finish::Judged;
            }
            Ok(reply)
        }
    }
}

/// Judges the text as it grows. Returns the place where the text ends because a call starts there; `None` at the end of
/// the text.
async fn read_along(
    handle: &Handle,
    effect: EffectRef,
    before: &Before,
    written: &JudgedText,
) -> Option<usize> {
    let ranker = handle.read(|session| session.kit().ranker.clone());
    let mut read = 0;
    loop {
        let is_whole = written.is_whole.get();
        let text = written.text.borrow().clone();
        let how: CallJudge = handle.read(|session| session.state().knobs.choice());
        if text.len() > read && how != CallJudge::Off {
            let pieces = match &ranker {
                Some(ranker) => {
                    let so_far = format!("{}{text}", before.so_far);
                    let question = &before.question;
                    let query = Query { question, answer: Some(&so_far), is_need: false };
                    ranker.judge(query, before.so_far.len()).await
                }
                None => None,
            };
            let mut pieces = pieces.unwrap_or_else(|| by_hand(&text));
            pieces.retain(|piece| piece.end > read && text.is_char_boundary(piece.end));
            read = text.len();
            let theta = handle.read(|session| session.state().knobs.get(Knob::Theta)) as f32;
            // Not at the very start of an answer.
            let starts =
                |piece: &&JudgedPiece| piece.p > theta && !text[..piece.end].trim().is_empty();
            let start = pieces.iter().find(starts).map(|piece| piece.end);
            let start = start.filter(|_| how == CallJudge::Act);
            if let Some(start) = start {
                pieces.retain(|piece| piece.end <= start);
            }
            if !pieces.is_empty() {
                handle.emit(ReaderEvent::TokenJudged { effect, pieces });
            }
            if start.is_some() {
                return start;
            }
        }
        if is_whole {
            return None;
        }
        written.grown.notified().await;
    }
}

/// The rule that replaces a trained judge: a call starts after `=`, `= ` or `= $`.
fn by_hand(text: &str) -> Vec<JudgedPiece> {
    let ends = text.char_indices().map(|(at, c)| (at + c.len_utf8(), c));
    let ends = ends.filter(|(end, c)| {
        let is_last = *end == text.len();
        is_last || c.is_whitespace() || matches!(c, '=' | '$')
    });
    ends.map(|(end, _)| JudgedPiece { end, p: f32::from(u8::from(hand_rule(&text[..end]))).into() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_fires_after_an_equals_sign() {
        let fires = |text: &str| -> Vec<usize> {
            by_hand(text).iter().filter(|piece| piece.p > 0.5).map(|piece| piece.end).collect()
        };
        assert_eq!(fires("17 * 23 = 391"), [9, 10]);
        assert_eq!(fires("a=5, b"), [2]);
        assert_eq!(fires("no sign"), [0_usize; 0]);
        assert_eq!(by_hand("täglich").last().unwrap().end, "täglich".len());
    }
}
