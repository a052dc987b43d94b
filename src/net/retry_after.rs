//! The wait that a server asks for.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// The wait that a server asks for; zero and past times count as none.
pub fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str, unit: f64| {
        let seconds = text(name)?.parse::<f64>().ok()? * unit;
        Duration::try_from_secs_f64(seconds).ok()
    };
    let until = || httpdate::parse_http_date(text("retry-after")?).ok()?.duration_since(now).ok();
    number("retry-after-ms", 0.001)
        .or_else(|| number("retry-after", 1.0))
        .or_else(until)
        .filter(|wait| !wait.is_zero())
}
