//! The answer that a watched agent receives.

use std::sync::Arc;

use crate::domain::{ModelError, ModelErrorKind, Reply, ToolCall};
use crate::effect::{self, Outcome};
use crate::model::relay::{RelayResult, Release};

/// The agent's answer, as a change of the answer that came.
pub fn release(came: Option<RelayResult>, given: &Reply) -> Release {
    let instead = || Release::Instead(Ok(Arc::new(given.clone())));
    let Some(Ok(raw)) = came else { return instead() };
    // Neither the record nor an edit of it has keys. Unchanged parts go on with their keys.
    let Ok(told) = as_told(Ok(Arc::clone(&raw))) else { return instead() };
    if *told == *given {
        return Release::AsCame;
    }
    if *told != (Reply { calls: told.calls.clone(), ..given.clone() }) {
        return instead();
    }
    let as_came = |call: &ToolCall| {
        let at = told.calls.iter().position(|told| told == call)?;
        raw.calls.get(at).cloned()
    };
    let calls = given.calls.iter().map(|call| as_came(call).unwrap_or_else(|| call.clone()));
    Release::Calls(calls.collect())
}

/// The answer that came, as the record has it.
pub fn as_told(came: RelayResult) -> RelayResult {
    match effect::redacted(Outcome::Reply(came)) {
        Outcome::Reply(said) => said,
        _ => Err(ModelError::new(ModelErrorKind::BadAnswer, "not the outcome of a model call")),
    }
}
