//! Answering in an endpoint's place.

use std::ops::Range;

use crate::FunctionNames;

/// Metadata of an answer that is not part of its reply.
#[derive(Clone, Copy, Debug)]
pub struct Answering<'a> {
    /// The id of the answer, unique among answers: letters, digits, `_` and `-`.
    pub id: &'a str,
    /// The model in the endpoint's words, as the request names it.
    pub model: &'a str,
    /// The names of tools as they were sent.
    pub names: &'a FunctionNames,
    /// The time of the answer, in seconds since 1970.
    pub created: i64,
}

/// A part of a call in the data of one event, or in a whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPiece {
    /// The key that distinguishes the calls of one answer: an index, or the id of an item.
    pub key: String,
    /// The call's id, where this part has it.
    pub id: Option<String>,
    /// The bytes of the JSON value of the name, with its quotes.
    pub name: Option<Range<usize>>,
    /// The bytes of the JSON value of the arguments, or of the next piece of them.
    pub arguments: Option<Range<usize>>,
    /// Whether this part has all of the arguments, so that no other part continues them.
    pub is_whole: bool,
}
