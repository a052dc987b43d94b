//! Changes the calls of an answer: all events that have nothing of them stay byte for byte.

use crate::domain::ToolCall;
use crate::frames::{Frame, frames, objects};
use crate::plan::AnswerEvent;
use crate::{Codec, WireFormat};

/// Replaces the calls of an answer by these. A call with the id of an old one keeps all that does not differ; other old
/// calls are dropped, and other new ones come last. The answer is a document, or the rest of a stream from its first
/// call or its end on; `before` is the data of the last event before that rest that had a place.
pub fn changed(format: WireFormat, answer: &[u8], before: &str, calls: &[ToolCall]) -> Vec<u8> {
    let Codec { change, is_sequence, .. } = format.codec();
    let first = answer.iter().find(|byte| !byte.is_ascii_whitespace());
    // The rest of a list can begin with what separates its objects.
    let has_objects = *is_sequence && first.is_some_and(|first| b"{[,]".contains(first));
    if first == Some(&b'[') && !has_objects {
        // No format has calls in such a document.
        return answer.to_vec();
    }
    if let (Some(b'{'), Ok(document), false) = (first, str::from_utf8(answer), has_objects) {
        let mut events = [document, ""].map(AnswerEvent::of);
        change(&mut events, before, calls);
        return events[0].text().map_or_else(|| answer.to_vec(), String::into_bytes);
    }
    let mut frames = if has_objects { objects(answer) } else { frames(answer) };
    frames.push(Frame::default());
    let mut events: Vec<_> = frames.iter().map(|frame| AnswerEvent::of(&frame.data)).collect();
    change(&mut events, before, calls);
    let mut all = Vec::new();
    for (frame, event) in frames.iter().zip(&events) {
        all.extend_from_slice(event.added.as_bytes());
        match event.text() {
            _ if event.is_dropped => {}
            Some(data) => all.extend(frame.with(&data)),
            None => all.extend_from_slice(frame.bytes),
        }
    }
    all
}

#[cfg(test)]
mod tests;
