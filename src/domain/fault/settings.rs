//! The settings of kinds of faults, by the keys of their text form.

use std::fmt::Display;
use std::str::FromStr;

use strum::VariantArray;

use super::inject;
use super::kind::{Drift, FaultKind, Scores, Spread};
use crate::target::Sort;
use crate::words;

/// The longest latency in milliseconds. More is a timeout, or a mistake.
pub(super) const LONGEST_LATENCY: u64 = 3_600_000;

/// The largest answer in KiB.
const LARGEST: u32 = 16 * 1024;

/// Statuses that an error may have.
pub(super) const STATUSES: std::ops::RangeInclusive<u16> = 400..=599;

impl FaultKind {
    /// The kind's own settings for such a target, in the order of the text form. A text comes last, since it extends to
    /// the end.
    pub fn keys(&self, sort: Sort) -> &'static [&'static str] {
        match self {
            FaultKind::Error { .. } if sort.is_of_tools() => &["text"],
            FaultKind::Error { .. } => &["status", "text"],
            FaultKind::Latency { .. } => &["ms", "spread"],
            FaultKind::RateLimit { .. } => &["retry-after"],
            FaultKind::Flapping { .. } => &["up", "down"],
            FaultKind::Answer { .. }
            | FaultKind::ErrorEvent { .. }
            | FaultKind::Refusal { .. }
            | FaultKind::HiddenError { .. }
            | FaultKind::Injection { .. } => &["text"],
            FaultKind::Drift { .. } | FaultKind::ChangedList { .. } => &["change"],
            FaultKind::Huge { .. } => &["kb"],
            FaultKind::Scores { .. } => &["how", "value"],
            FaultKind::SlowTokens { .. } => &["ms"],
            FaultKind::Price { .. } | FaultKind::WrongUsage { .. } => &["times"],
            _ => &[],
        }
    }

    /// Returns the choices for a setting; empty where the value is typed.
    pub fn choices(key: &str) -> Vec<&'static str> {
        fn names<T: VariantArray + Copy + Into<&'static str>>() -> Vec<&'static str> {
            T::VARIANTS.iter().map(|it| (*it).into()).collect()
        }
        match key {
            "spread" => names::<Spread>(),
            "change" => names::<Drift>(),
            "how" => names::<Scores>(),
            _ => Vec::new(),
        }
    }

    /// The value of a setting; `None` where nothing is set.
    pub fn setting(&self, key: &str) -> Option<String> {
        let name = |name: &'static str| Some(name.to_owned());
        match (self, key) {
            (FaultKind::Error { status, .. }, "status") => status.map(|status| status.to_string()),
            (
                FaultKind::Error { text, .. }
                | FaultKind::HiddenError { text }
                | FaultKind::ErrorEvent { text }
                | FaultKind::Refusal { text }
                | FaultKind::Injection { text },
                "text",
            ) => text.clone(),
            (FaultKind::Answer { text }, "text") => Some(text.clone()),
            (FaultKind::Latency { ms, .. } | FaultKind::SlowTokens { ms }, "ms") => {
                Some(ms.to_string())
            }
            (FaultKind::Latency { spread, .. }, "spread") => {
                (*spread != Spread::Fixed).then(|| name(spread.into())).flatten()
            }
            (FaultKind::RateLimit { retry_after }, "retry-after") => Some(retry_after.to_string()),
            (FaultKind::Flapping { up, .. }, "up") => Some(up.to_string()),
            (FaultKind::Flapping { down, .. }, "down") => Some(down.to_string()),
            (FaultKind::Drift { change } | FaultKind::ChangedList { change }, "change") => {
                name(change.into())
            }
            (FaultKind::Huge { kb }, "kb") => Some(kb.to_string()),
            (FaultKind::Scores { how, .. }, "how") => name(how.into()),
            (FaultKind::Scores { value, .. }, "value") => Some(value.to_string()),
            (FaultKind::Price { times } | FaultKind::WrongUsage { times }, "times") => {
                Some(times.to_string())
            }
            _ => None,
        }
    }

    /// Sets a setting; false if this kind does not have it.
    ///
    /// # Errors
    /// The value is not valid for this setting.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let given = || Some(value.to_owned());
        match (self, key) {
            (FaultKind::Error { status, .. }, "status") => *status = Some(error_status(value)?),
            (
                FaultKind::Error { text, .. }
                | FaultKind::HiddenError { text }
                | FaultKind::ErrorEvent { text }
                | FaultKind::Refusal { text }
                | FaultKind::Injection { text },
                "text",
            ) => *text = given(),
            (FaultKind::Answer { text }, "text") => value.clone_into(text),
            (FaultKind::Latency { ms, .. } | FaultKind::SlowTokens { ms }, "ms") => {
                *ms = number(key, value)?;
                if *ms > LONGEST_LATENCY {
                    return Err(format!(
                        "ms is {ms}, but takes at most an hour, {LONGEST_LATENCY}"
                    ));
                }
            }
            (FaultKind::Latency { spread, .. }, "spread") => *spread = choice(key, value)?,
            (FaultKind::RateLimit { retry_after }, "retry-after") => {
                *retry_after = number(key, value)?;
            }
            (FaultKind::Flapping { up, .. }, "up") => *up = number(key, value)?,
            (FaultKind::Flapping { down, .. }, "down") => *down = positive(key, value)?,
            (FaultKind::Drift { change } | FaultKind::ChangedList { change }, "change") => {
                *change = choice(key, value)?
            }
            (FaultKind::Huge { kb }, "kb") => {
                *kb = positive(key, value)?;
                if *kb > LARGEST {
                    return Err(format!("kb is {kb}, but takes at most {LARGEST}"));
                }
            }
            (FaultKind::Scores { how, .. }, "how") => *how = choice(key, value)?,
            (FaultKind::Scores { value: score, .. }, "value") => {
                let whole = value.parse().ok().filter(|score| (-3..=3).contains(score));
                *score = whole.ok_or_else(|| {
                    format!("value is `{value}`, not a whole number from -3 to 3")
                })?;
            }
            (FaultKind::Price { times } | FaultKind::WrongUsage { times }, "times") => {
                let factor = value.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
                *times = (factor
                    .ok_or_else(|| format!("times is `{value}`, not a number of at least 0"))?)
                .into();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn choice<T: FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| {
        let expected = words::expected(value, FaultKind::choices(key).into_iter());
        format!("there is no {key} `{value}`; {expected}")
    })
}

pub(super) fn number<T: FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key} is `{value}`, not a valid number"))
}

pub(super) fn positive<T: FromStr + Default + PartialEq + Display>(
    key: &str,
    value: &str,
) -> Result<T, String> {
    let n = value.parse().map_err(|_| format!("{key} is `{value}`, not a whole number from 1"))?;
    if n == T::default() { Err(format!("{key} counts from 1")) } else { Ok(n) }
}

fn error_status(value: &str) -> Result<u16, String> {
    let status = value.parse().ok().filter(|status| STATUSES.contains(status));
    status.ok_or_else(|| {
        let (least, most, usual) = (STATUSES.start(), STATUSES.end(), inject::STATUS);
        format!("status is `{value}`, not an HTTP error from {least} to {most}, such as {usual}")
    })
}
