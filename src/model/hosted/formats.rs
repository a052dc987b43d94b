//! Differences between the formats beside their codecs: addresses, headers, settings.

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::domain::Request;
use crate::http::{Endpoint, Wire};
use crate::wire::learned::Learned;
use crate::wire::usage::cost_in_header;
use crate::wire::{FunctionNames, Report, WireFormat, WireSettings, chat, messages, responses};

/// The longest answer where a request must name one: more than any current model refuses.
const LONGEST: u32 = 8192;

/// The headers of a format.
pub(super) fn headers(format: WireFormat) -> Wire {
    match format {
        WireFormat::Chat | WireFormat::Responses => Wire {
            key_header: "authorization",
            key_prefix: "Bearer ",
            headers: &[],
            api: "an OpenAI-compatible API",
            address_end: "/v1",
        },
        WireFormat::Messages => Wire {
            key_header: "x-api-key",
            key_prefix: "",
            headers: &[("anthropic-version", "2023-06-01")],
            api: "Anthropic's Messages API",
            address_end: "/v1",
        },
    }
}

/// Where requests go, below the endpoint's address.
pub(super) fn path(format: WireFormat) -> &'static [&'static str] {
    match format {
        WireFormat::Chat => &["chat", "completions"],
        WireFormat::Responses => &["responses"],
        WireFormat::Messages => &["messages"],
    }
}

/// The body of a request.
pub(super) fn write(format: WireFormat, request: &Request, settings: &WireSettings<'_>) -> Value {
    match format {
        WireFormat::Chat => chat::write_request(request, settings),
        WireFormat::Responses => responses::write_request(request, settings),
        WireFormat::Messages => messages::write_request(request, settings),
    }
}

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
