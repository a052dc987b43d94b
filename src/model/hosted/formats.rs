//! The settings of a request, and the cost in the headers of its answer.

use reqwest::header::HeaderMap;

use crate::http::Endpoint;
use crate::wire::learned::Learned;
use crate::wire::usage::cost_in_header;
use crate::wire::{FunctionNames, Report, WireSettings};

/// The longest answer if a request must name a limit: no current model refuses this number.
const LONGEST: u32 = 8192;

pub(super) fn settings<'a>(
    endpoint: &'a Endpoint,
    source: &'a str,
    names: &'a FunctionNames,
    learned: &'a Learned,
) -> WireSettings<'a> {
    WireSettings {
        model: &endpoint.model,
        source,
        names,
        streams: endpoint.stream,
        max_tokens_field: &endpoint.max_tokens_field,
        longest: u32::try_from(endpoint.answer_limit).unwrap_or(LONGEST).min(LONGEST),
        allowed_tools: endpoint.allowed_tools,
        caches: endpoint.caches,
        extra: &endpoint.extra,
        learned,
    }
}

/// The cost that LiteLLM reports in a header.
pub(super) fn cost(headers: &HeaderMap) -> Report {
    let cost = headers.get("x-litellm-response-cost");
    let cost = cost.map(|cost| String::from_utf8_lossy(cost.as_bytes()));
    cost.map_or_else(Report::default, |cost| cost_in_header(&cost))
}
