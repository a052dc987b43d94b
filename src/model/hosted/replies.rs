//! Reads bytes as a reply of OpenAI's chat completions, without a network: for fuzzing and tests.

use std::sync::Arc;

use crate::domain::{ModelError, Reply, Request};
use crate::wire::{FunctionNames, Report, WireFormat};
use crate::{ModelProgress, http};

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
    progress: &mut dyn FnMut(ModelProgress),
) -> Result<Reply, ModelError> {
    let names = Arc::new(FunctionNames::of(request));
    let format = WireFormat::Chat;
    let (answer, wire) = (format.begin(&names, Report::default()), &format.codec().http);
    let answer = http::read_pieces(body.chunks(size.max(1)), kind, wire, answer, progress)?;
    Ok(answer.reply(request, "an endpoint").0)
}
