//! JSON that models were asked for, wherever in their reply it stands.

use serde_json::value::RawValue;

/// More than the braces before any honest answer.
const BRACES: usize = 100;

/// The JSON objects in a text, whatever a model wrote around them. Only so many braces are tried:
/// each may cost a walk to the end of the text, and a model may write megabytes of them.
pub fn objects(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').take(BRACES).filter_map(|(at, _)| {
        let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter::<&RawValue>();
        stream.next()?.ok().map(RawValue::get)
    })
}
