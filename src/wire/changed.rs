//! Changes the calls of an answer: everything else stays byte for byte.

use crate::domain::ToolCall;
use crate::frames::frames;
use crate::plan::{Changes, Edit};
use crate::{WireFormat, patch};

/// Replaces the calls of an answer by these. A call with the id of an old one keeps all that does not differ; other old
/// calls are dropped, and other new ones come last. The answer is a document, or the rest of a stream from its first
/// call or its end on; `before` is the data of the last event before that rest that had a place.
pub fn changed(format: WireFormat, answer: &[u8], before: &str, calls: &[ToolCall]) -> Vec<u8> {
    let of = format.codec().changes;
    let first = answer.iter().find(|byte| !byte.is_ascii_whitespace());
    if let (Some(b'{'), Ok(document)) = (first, str::from_utf8(answer)) {
        let changes = of(&[document], before, calls);
        let edits = changes.events.first().map_or(&[][..], |event| &event.edits);
        return edited(document, edits).unwrap_or_else(|| answer.to_vec());
    }
    let frames = frames(answer);
    let data: Vec<&str> = frames.iter().map(|frame| frame.data.as_str()).collect();
    let Changes { events, mut added } = of(&data, before, calls);
    added.sort_by_key(|(at, _)| *at);
    let (mut all, mut added) = (Vec::new(), added.into_iter().peekable());
    for (at, (frame, event)) in frames.iter().zip(&events).enumerate() {
        while let Some((_, more)) = added.next_if(|(place, _)| *place <= at) {
            all.extend(more.into_bytes());
        }
        match edited(&frame.data, &event.edits) {
            _ if event.is_dropped => {}
            Some(data) => all.extend(frame.with(str::from_utf8(&data).unwrap_or_default())),
            None => all.extend_from_slice(frame.bytes),
        }
    }
    all.extend(added.flat_map(|(_, more)| more.into_bytes()));
    all
}

/// The edited text; `None` if nothing changes.
fn edited(text: &str, edits: &[Edit]) -> Option<Vec<u8>> {
    let edits: Vec<_> = edits.iter().map(|(place, new)| (place.clone(), new.as_str())).collect();
    if edits.is_empty() { None } else { patch(text.as_bytes(), &edits).ok() }
}

#[cfg(test)]
mod tests;
