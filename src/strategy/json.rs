//! Finds requested JSON anywhere in a model's reply.

use serde_json::value::RawValue;

/// More braces than any honest reply has before its answer.
const BRACES: usize = 100;

/// The JSON objects in a text, regardless of the text around them. The number of tried braces is
/// limited: each may cost a walk to the end of the text, and a model may write megabytes of them.
pub fn objects(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').take(BRACES).filter_map(|(at, _)| {
        let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter::<&RawValue>();
        stream.next()?.ok().map(RawValue::get)
    })
}
