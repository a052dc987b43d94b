//! Reads bytes as a reply of this wire, without a network: for fuzzing and tests.

use std::sync::Arc;

use reqwest::header::HeaderMap;

use super::{WIRE, answer::Answer, names::Names};
use crate::domain::{ModelError, Reply, Request};
use crate::{Progress, http};

/// Reads the body of a successful response to this request, of this content type, in pieces of this many
/// bytes (at least 1), as if they had come from a server.
///
/// # Errors
/// As [`crate::Model::ask`], without retries.
pub fn read(
    body: &[u8],
    kind: &str,
    size: usize,
    request: &Request,
    progress: &mut dyn FnMut(Progress),
) -> Result<Reply, ModelError> {
    let names = Arc::new(Names::of(request));
    let answer = Answer::begin(&HeaderMap::new(), &names);
    let answer = http::read_pieces(body.chunks(size.max(1)), kind, &WIRE, answer, progress)?;
    Ok(answer.reply(request, "an endpoint").0)
}
