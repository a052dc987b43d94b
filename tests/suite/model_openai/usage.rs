//! Usage in the dialects of many servers, and what it costs. Field cases 8.1 to 8.4.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolyard::domain::Usage;
use toolyard::model::hosted::{Hosted, replies};
use toolyard::model::{Model, http::Endpoint};

use super::{HELLO, STOP, request};

/// The usage of a stream with this last chunk.
fn usage(last: &Value) -> Usage {
    let body: String =
        [HELLO, STOP, &last.to_string()].iter().map(|event| format!("data: {event}\n\n")).collect();
    replies::read(body.as_bytes(), "text/event-stream", 64, &request(), &mut |_| {}).unwrap().usage
}

/// What it costs in millionths of a dollar: 1 for a token of input, 2 of output, 0.1 of cached input.
fn cost(usage: &Usage) -> f64 {
    let mut endpoint = Endpoint::new("m", "http://h/v1", "x");
    (endpoint.price_in, endpoint.price_out) = (Some(1.0), Some(2.0));
    endpoint.price_cached = Some(0.1);
    let model = Hosted::new(endpoint).unwrap();
    let cost = f64::from(model.spec().price(usage).unwrap());
    (cost * 1e9).round() / 1e3
}

#[test]
fn usage_costs_what_the_endpoint_charges_in_every_dialect() {
    for (case, reported, expected) in [
        (
            "8.1",
            json!({"prompt_tokens": 1000, "completion_tokens": 20, "cached_tokens": 900}),
            230.0,
        ),
        (
            "8.2",
            json!({"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 990}),
            149.0,
        ),
        (
            "8.3",
            json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 220,
                "completion_tokens_details": {"reasoning_tokens": 100}}),
            340.0,
        ),
        (
            "8.3",
            json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
                "completion_tokens_details": {"reasoning_tokens": 100}}),
            140.0,
        ),
    ] {
        let read = usage(&json!({"choices": [], "usage": reported}));
        assert!(!read.estimated, "{case}: {read:?}");
        assert_eq!(cost(&read), expected, "{case}: {read:?}");
    }
}

#[test]
fn usage_is_read_in_a_choice_and_in_the_field_of_a_provider() {
    // 8.4
    let reported = json!({"prompt_tokens": 9, "completion_tokens": 4});
    for last in [
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": reported}]}),
        json!({"choices": [{"index": 0, "delta": {}}], "x_groq": {"id": "r", "usage": reported}}),
        json!({"choices": [], "usage": reported}),
        json!({"choices": [{"index": 0, "delta": {}, "usage": reported}], "usage": null}),
    ] {
        let read = usage(&last);
        assert_eq!((read.tokens_in, read.tokens_out, read.estimated), (9, 4, false), "{last}");
    }
}
