//! Bytes as requests and as answers of every format: nothing panics, every place is a value of the text, a text that is
//! patched nowhere stays as it is, and a document whose calls change is still one.

use std::ops::Range;
use std::sync::Arc;

use serde_json::value::RawValue;
use toolyard::domain::{Request, Role, ToolCall};
use toolyard::wire::{Feed, FunctionNames, Report, Spot, WireFormat, changed, patch};

/// Bytes in place of those of each format.
pub fn wires(data: &[u8]) {
    WireFormat::ALL.into_iter().for_each(|format| wire(data, format));
}

fn wire(data: &[u8], format: WireFormat) {
    let answer = format.begin(&Arc::<FunctionNames>::default(), Report::default());
    let text = String::from_utf8_lossy(data);
    let is_value = |place: &Range<usize>| {
        let value = text.get(place.clone()).unwrap_or_default();
        assert!(serde_json::from_str::<&RawValue>(value).is_ok(), "{value}");
    };
    if let Ok(asked) = format.read_request(data) {
        // A field that is not there has no value.
        let spots = asked.calls.iter().chain(&asked.results).chain(&asked.failures);
        spots.filter(|spot| !spot.range.is_empty()).for_each(|spot| is_value(&spot.range));
        let written = |spot: &Spot| (spot.range.clone(), spot.written("x", false));
        let places: Vec<_> = asked.results.iter().map(written).collect();
        let places: Vec<_> =
            places.iter().map(|(range, new)| (range.clone(), new.as_str())).collect();
        // One id may have two results, and so one place.
        if let Ok(patched) = patch(data, &places) {
            assert!(format.read_request(&patched).is_ok(), "{}", String::from_utf8_lossy(&patched));
        }
    }
    assert_eq!(patch(data, &[]).as_deref(), Ok(data));
    format.has_call(&text);
    let call = ToolCall { id: "c".into(), tool: "t".into(), arguments: "{".into() };
    for calls in [&[][..], &[call]] {
        let new = changed(format, data, &text, calls);
        // A document is an object: `0` has no place for calls.
        let is_object = |bytes: &[u8]| {
            serde_json::from_slice::<&RawValue>(bytes).is_ok_and(|it| it.get().starts_with('{'))
        };
        assert!(!is_object(data) || is_object(&new), "{}", String::from_utf8_lossy(&new));
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
