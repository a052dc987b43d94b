//! Answering in an endpoint's place.

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
