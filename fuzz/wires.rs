//! Bytes as requests and as answers of every format: nothing panics, every place is a value of the text, and a text
//! that is patched nowhere stays as it is.

use std::ops::Range;
use std::sync::Arc;

use toolyard::domain::{Request, Role};
use toolyard::wire::{
    CallPiece, Feed, FunctionNames, GrowingAnswer, IncomingRequest, NotRead, Report, Spot, chat,
    messages, patch, responses,
};

/// OpenAI's chat completions.
pub fn wire_chat(data: &[u8]) {
    let answer = chat::ChatAnswer::begin(&Arc::default(), Report::default());
    wire(data, chat::read_request, chat::calls_in, answer);
}

/// OpenAI's Responses.
pub fn wire_responses(data: &[u8]) {
    let answer =
        responses::ResponsesAnswer::begin(&Arc::<FunctionNames>::default(), Report::default());
    wire(data, responses::read_request, responses::calls_in, answer);
}

/// Anthropic's Messages.
pub fn wire_messages(data: &[u8]) {
    let answer =
        messages::MessagesAnswer::begin(&Arc::<FunctionNames>::default(), Report::default());
    wire(data, messages::read_request, messages::calls_in, answer);
}

fn wire<R: GrowingAnswer>(
    data: &[u8],
    request: fn(&[u8]) -> Result<IncomingRequest, NotRead>,
    calls: fn(&str) -> Vec<CallPiece>,
    answer: R,
) {
    let text = String::from_utf8_lossy(data);
    let is_value = |place: &Range<usize>| {
        let value = text.get(place.clone()).unwrap_or_default();
        assert!(serde_json::from_str::<&serde_json::value::RawValue>(value).is_ok(), "{value}");
    };
    if let Ok(asked) = request(data) {
        // A field that is not there has no value.
        let spots = asked.calls.iter().chain(&asked.results).chain(&asked.failures);
        spots.filter(|spot| !spot.range.is_empty()).for_each(|spot| is_value(&spot.range));
        let written = |spot: &Spot| (spot.range.clone(), spot.written("x", false));
        let places: Vec<_> = asked.results.iter().map(written).collect();
        let places: Vec<_> =
            places.iter().map(|(range, new)| (range.clone(), new.as_str())).collect();
        // One id may have two results, and so one place.
        if let Ok(patched) = patch(data, &places) {
            assert!(request(&patched).is_ok(), "{}", String::from_utf8_lossy(&patched));
        }
    }
    assert_eq!(patch(data, &[]).as_deref(), Ok(data));
    for piece in calls(&text) {
        piece.name.iter().chain(&piece.arguments).for_each(is_value);
    }
    let mut feed = Feed::new(answer);
    for piece in data.chunks(7) {
        if feed.feed(piece, &mut |_| {}).is_err() {
            return;
        }
    }
    if let Ok(answer) = feed.end(&mut |_| {}) {
        let (reply, _) = answer.reply(&Request::new(Role::Actor, Vec::new()), "h");
        assert!(reply.calls.len() <= 1024, "{} calls", reply.calls.len());
    }
}
