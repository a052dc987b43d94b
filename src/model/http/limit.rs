//! How long a rate-limited caller must wait, according to headers, the body, or a message.

use std::time::{Duration, SystemTime};

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

use super::detail::Detail;
use super::retry::LONGEST_ASKED;
use crate::net::retry_after;

/// Numbers from here on are seconds since 1970; from a thousand times that on, milliseconds.
const EPOCH: f64 = 1e9;
/// The longest wait in seconds. Only a broken server asks for more, and means that it does not want to be asked again.
const MOST: f64 = 1e12;
/// The most bytes between the words that announce a wait and the number.
const NEAR: usize = 16;

/// The wait that a refusal asks for; zero and past times count as none.
pub(super) fn asked(
    status: StatusCode,
    headers: &HeaderMap,
    detail: &Detail,
    now: SystemTime,
) -> Option<Duration> {
    let is_limited = matches!(status.as_u16(), 429 | 503 | 529);
    let otherwise = || {
        let named =
            headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        in_body(&detail.body)
            .or_else(|| in_words(&detail.message))
            .or_else(|| reset(named, now))
            .or_else(|| {
                // OpenRouter repeats the headers of a provider.
                let metadata = &part(&detail.body)["metadata"]["headers"];
                let named = metadata.as_object().into_iter().flatten();
                reset(named.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))), now)
            })
    };
    let in_header = || {
        let text = headers.get("retry-after")?.to_str().ok()?.trim();
        text.parse().map_or_else(|_| span(text, false), seconds)
    };
    retry_after::asked(headers, now)
        .or_else(in_header)
        .or_else(|| is_limited.then(otherwise).flatten())
}

fn part(body: &Value) -> &Value {
    if body["error"].is_object() { &body["error"] } else { body }
}

/// A wait in a field of its own: `google.rpc.RetryInfo`, or `retry_after`.
fn in_body(body: &Value) -> Option<Duration> {
    let part = part(body);
    let details = part["details"].as_array().into_iter().flatten();
    let info =
        details.filter_map(|detail| detail.get("retryDelay")).find_map(|delay| match delay {
            Value::String(text) => span(text, true),
            delay => {
                seconds(delay["seconds"].as_f64()? + delay["nanos"].as_f64().unwrap_or(0.0) / 1e9)
            }
        });
    let field = |name: &str, unit: f64| {
        let value = [part, body, &part["metadata"]].into_iter().find_map(|part| part.get(name))?;
        match value {
            Value::String(text) => span(text, true),
            value => seconds(value.as_f64()? * unit),
        }
    };
    info.or_else(|| field("retry_after_ms", 0.001)).or_else(|| {
        ["retry_after", "retry_after_seconds", "retryAfter"]
            .iter()
            .find_map(|name| field(name, 1.0))
    })
}

/// The wait in a message, such as `Please try again in 3.2s.`
fn in_words(message: &str) -> Option<Duration> {
    let text = message.to_ascii_lowercase();
    let found = ["try again", "retry", "wait", "reset"]
        .iter()
        .flat_map(|word| text.match_indices(word).map(|(at, word)| &text[at + word.len()..]));
    found.into_iter().find_map(|rest| {
        let at = rest.find(|c: char| c.is_ascii_digit()).filter(|at| *at <= NEAR)?;
        let between = &rest[..at];
        let is_link = |c: char| c.is_ascii_alphabetic() || " -:~\"'_".contains(c);
        // A plain number may mean anything else.
        let is_time = between.contains("after");
        between.chars().all(is_link).then(|| span(&rest[at..], is_time)).flatten()
    })
}

/// The wait until a limit is reset, by headers such as `x-ratelimit-reset-requests: 3s`. A limit with nothing remaining
/// decides. Without one, any limit may be the reason, and long waits are ignored.
fn reset<'a>(
    headers: impl Iterator<Item = (&'a str, &'a str)>,
    now: SystemTime,
) -> Option<Duration> {
    let headers: Vec<(String, &str)> = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .filter(|(name, _)| name.contains("ratelimit"))
        .collect();
    let is_used_up = |name: &str| {
        let remaining = name.replace("reset", "remaining");
        headers.iter().any(|(name, value)| *name == remaining && value.parse() == Ok(0.0))
    };
    let waits = headers.iter().filter(|(name, _)| name.contains("reset"));
    let waits: Vec<(bool, Duration)> =
        waits.filter_map(|(name, value)| Some((is_used_up(name), until(value, now)?))).collect();
    let used_up = waits.iter().filter(|(is_used_up, _)| *is_used_up).map(|(_, wait)| *wait);
    let short = || waits.iter().map(|(_, wait)| *wait).filter(|wait| *wait <= LONGEST_ASKED);
    used_up.max().or_else(|| short().min())
}

/// The time until this moment: a span, a time since 1970, or a date.
fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let from_now =
        |moment: SystemTime| moment.duration_since(now).ok().filter(|wait| !wait.is_zero());
    match text.parse::<f64>() {
        Ok(number) if number >= EPOCH => {
            let number = if number >= EPOCH * 1000.0 { number / 1000.0 } else { number };
            from_now(SystemTime::UNIX_EPOCH.checked_add(seconds(number)?)?)
        }
        Ok(number) => seconds(number),
        Err(_) if text.contains('-') => from_now(text.parse::<jiff::Timestamp>().ok()?.into()),
        Err(_) if text.contains(',') => from_now(httpdate::parse_http_date(text).ok()?),
        Err(_) => span(text, false),
    }
}

/// A span of time at the beginning of a text: `1m2.5s`, `200ms`, `20 seconds`; a plain number counts as seconds if
/// `may_be_alone`.
fn span(text: &str, may_be_alone: bool) -> Option<Duration> {
    let mut rest = text.trim_start();
    let mut total = None;
    loop {
        let len = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..len].trim_end_matches('.').parse::<f64>() else { break };
        let after = rest[len..].trim_start();
        let len = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let unit = match &after[..len] {
            "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ if total.is_none() && may_be_alone => return seconds(number),
            _ => break,
        };
        total = Some(total.unwrap_or(0.0) + number * unit);
        rest = after[len..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    seconds(total?)
}

fn seconds(number: f64) -> Option<Duration> {
    let number = if number > MOST { MOST } else { number };
    Duration::try_from_secs_f64(number).ok().filter(|wait| !wait.is_zero())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    use super::*;

    fn wait(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Option<u64> {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_784_111_777);
        let status = StatusCode::from_u16(status).unwrap();
        let asked = asked(status, &headers.collect(), &Detail::read(body.as_bytes()), now)?;
        Some(u64::try_from(asked.as_millis()).unwrap())
    }

    #[test]
    fn waits_are_found_in_bodies_and_words() {
        let info = r#"[{"error":{"code":429,"message":"Please retry in 9s.","details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}]"#;
        assert_eq!(wait(429, &[], info), Some(3000));
        assert_eq!(wait(429, &[("retry-after", "7")], info), Some(7000));
        assert_eq!(wait(500, &[("retry-after", "2s")], ""), Some(2000));
        for absurd in ["1e30", "99999999999999999999999"] {
            assert_eq!(wait(429, &[("retry-after", absurd)], ""), Some(1_000_000_000_000_000));
        }
        for nothing in ["-5", "NaN", "0", "0s", "soon"] {
            assert_eq!(wait(429, &[("retry-after", nothing)], ""), None, "{nothing}");
        }
        let parts = r#"{"error":{"details":[{"retryDelay":{"seconds":2,"nanos":500000000}}]}}"#;
        assert_eq!(wait(503, &[], parts), Some(2500));
        assert_eq!(wait(429, &[], r#"{"error":{"message":"x","retry_after":1.5}}"#), Some(1500));
        for (text, expected) in [
            ("Please try again in 3.2s. Visit https://x/y to learn more.", Some(3200)),
            ("Please try again in 1m26.4s.", Some(86_400)),
            ("try again in 200ms", Some(200)),
            ("Please retry after 20 seconds.", Some(20_000)),
            ("Retry after 6", Some(6000)),
            ("Please retry in 44.219302s.", Some(44_219)),
            ("Please wait for 2 minutes and 5 seconds", Some(125_000)),
            ("Rate limit resets in 12 sec", Some(12_000)),
            ("Please try again at 10:30", None),
            ("try again with 3 fewer tools", None),
            ("Please try again. Limit 3s", None),
            ("slow down", None),
            ("retry after 0 s", None),
        ] {
            let body = serde_json::json!({"error": {"message": text}}).to_string();
            assert_eq!(wait(429, &[], &body), expected, "{text}");
            assert_eq!(wait(500, &[], &body), None, "{text}");
        }
    }

    #[test]
    fn limits_say_when_they_are_reset() {
        let requests = "x-ratelimit-reset-requests";
        for (value, expected) in [
            ("3s", Some(3000)),
            ("1m2.5s", Some(62_500)),
            ("200ms", Some(200)),
            ("45", Some(45_000)),
            ("1784111787", Some(10_000)),
            ("1784111787000", Some(10_000)),
            ("1784111000", None),
            ("2026-07-15T10:36:27Z", Some(10_000)),
            ("6m0s", None),
            ("0s", None),
            ("soon", None),
            ("NaN", None),
        ] {
            assert_eq!(wait(429, &[(requests, value)], ""), expected, "{value}");
        }
        let both = [(requests, "1s"), ("x-ratelimit-reset-tokens", "20s")];
        assert_eq!(wait(429, &both, ""), Some(1000));
        let used = [both[0], both[1], ("x-ratelimit-remaining-tokens", "0")];
        assert_eq!(wait(429, &used, ""), Some(20_000));
        assert_eq!(wait(500, &used, ""), None);
        let day = [("x-ratelimit-reset", "1784120000000"), ("x-ratelimit-remaining", "0")];
        assert_eq!(wait(429, &day, ""), Some(8_223_000));
        let body = r#"{"error":{"message":"x","metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1784111787000"}}}}"#;
        assert_eq!(wait(429, &[], body), Some(10_000));
    }

    proptest! {
        #[test]
        fn any_words_are_read(text in "(try again|retry|wait|reset| in | after |[0-9.]{0,6}|m|s|ms|é| ){0,8}") {
            let _ = in_words(&text);
            let _ = until(&text, SystemTime::UNIX_EPOCH);
        }
    }
}
