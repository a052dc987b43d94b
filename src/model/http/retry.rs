//! When to retry, and after how long.

use std::time::Duration;

use reqwest::{StatusCode, header::HeaderMap};

use crate::domain::Chance;

/// The longest wait that an endpoint may ask for. If it asks for more, an earlier retry would only
/// fail again, so there is none.
pub(super) const LONGEST_ASKED: Duration = Duration::from_secs(120);
/// The first wait without advice from the endpoint, doubled with each retry up to the longest.
const FIRST: f64 = 0.5;
const LONGEST: f64 = 8.0;
/// The share of a wait that randomness may remove: waits still grow from retry to retry.
const JITTER: f64 = 0.25;

/// Whether to retry a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Again {
    Never,
    /// At once for the first time, since the server closed an idle connection; then as [`Again::Soon`].
    AtOnce,
    /// After a wait that is chosen here.
    Soon,
    /// After the wait that the endpoint asked for.
    After(Duration),
}

impl Again {
    /// Reads the status and the headers of a refused request, and the wait that the endpoint asks for.
    pub(super) fn of(status: StatusCode, headers: &HeaderMap, asked: Option<Duration>) -> Self {
        let worth = match headers.get("x-should-retry").map(|value| value.as_bytes()) {
            Some(b"true") => true,
            Some(b"false") => false,
            Some(_) | None => worth(status),
        };
        match asked {
            _ if !worth => Again::Never,
            Some(wait) if wait > LONGEST_ASKED => Again::Never,
            Some(wait) => Again::After(wait),
            None => Again::Soon,
        }
    }

    /// The wait before the next attempt, after `failed` attempts of at most `retries + 1`. `chance`
    /// is that of the request, so that a run can be repeated.
    pub(super) fn wait(self, failed: u32, retries: u32, chance: Chance) -> Option<Duration> {
        if failed > retries {
            return None;
        }
        match self {
            Again::Never => None,
            Again::After(wait) => Some(wait),
            Again::AtOnce if failed == 1 => Some(Duration::ZERO),
            Again::AtOnce | Again::Soon => {
                let doubled = FIRST * 2f64.powi(failed.saturating_sub(1).min(16) as i32);
                let chance = chance.with(b"retry").with(&failed.to_le_bytes());
                let seconds = doubled.min(LONGEST) * (1.0 - JITTER * chance.unit());
                // Whole milliseconds are easier to read, and are what a journal stores.
                Some(Duration::from_millis((seconds * 1000.0) as u64))
            }
        }
    }
}

/// Statuses that may be temporary: a timeout, a conflict, a request that came too early, a rate limit, a connection that
/// a proxy closed, a failing server.
pub(super) fn worth(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 409 | 425 | 429 | 499) || status.is_server_error()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    use super::*;
    use crate::net::retry_after;

    fn again(status: u16, headers: &[(&'static str, &'static str)]) -> Again {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect();
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let asked = retry_after::asked(&headers, now);
        Again::of(StatusCode::from_u16(status).unwrap(), &headers, asked)
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for status in [408, 409, 425, 429, 499, 500, 502, 503, 504, 529] {
            assert_eq!(again(status, &[]), Again::Soon, "{status}");
        }
        for status in [400, 401, 402, 403, 404, 413, 422, 301] {
            assert_eq!(again(status, &[("retry-after", "1")]), Again::Never, "{status}");
        }
        assert_eq!(again(400, &[("x-should-retry", "true")]), Again::Soon);
        assert_eq!(again(500, &[("x-should-retry", "false")]), Again::Never);
    }

    #[test]
    fn the_endpoint_says_how_long() {
        let after = |milliseconds| Again::After(Duration::from_millis(milliseconds));
        assert_eq!(again(429, &[("retry-after", "2")]), after(2000));
        assert_eq!(again(429, &[("retry-after", "1.5")]), after(1500));
        assert_eq!(again(429, &[("retry-after-ms", "250"), ("retry-after", "9")]), after(250));
        assert_eq!(again(503, &[("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT")]), after(10_000));
        assert_eq!(again(503, &[("retry-after", "120")]), after(120_000));
        assert_eq!(again(503, &[("retry-after", "121")]), Again::Never);
        for nothing in ["0", "-5", "soon", "NaN", "inf", "Sun, 06 Nov 1994 08:49:30 GMT"] {
            assert_eq!(again(503, &[("retry-after", nothing)]), Again::Soon, "{nothing}");
        }
    }

    proptest! {
        #[test]
        fn our_own_waits_double_up_to_eight_seconds(seed: u64) {
            let wait = |failed| Again::Soon.wait(failed, 9, Chance::new(seed)).unwrap().as_secs_f64();
            for (failed, full) in [(1, 0.5), (2, 1.0), (3, 2.0), (4, 4.0), (5, 8.0), (9, 8.0)] {
                prop_assert!(wait(failed) <= full && wait(failed) >= full * 0.74, "{failed}");
                prop_assert_eq!(wait(failed), wait(failed));
            }
            let at_once = |failed| Again::AtOnce.wait(failed, 9, Chance::new(seed));
            prop_assert_eq!(at_once(1), Some(Duration::ZERO));
            prop_assert_eq!(at_once(2), Again::Soon.wait(2, 9, Chance::new(seed)));
            prop_assert_eq!(Again::AtOnce.wait(1, 0, Chance::new(seed)), None);
            prop_assert_eq!(Again::Soon.wait(10, 9, Chance::new(seed)), None);
            prop_assert_eq!(Again::Soon.wait(1, 0, Chance::new(seed)), None);
            prop_assert_eq!(Again::Never.wait(1, 9, Chance::new(seed)), None);
        }
    }
}
