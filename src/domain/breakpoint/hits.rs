//! The hits at which a breakpoint holds.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A condition on the number of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hits {
    /// Only at this hit.
    Exactly(u32),
    /// At every hit after this many.
    MoreThan(u32),
    /// At every nth hit.
    Every(u32),
}

impl Hits {
    pub(super) fn holds(self, nth: u32) -> bool {
        match self {
            Hits::Exactly(n) => nth == n,
            Hits::MoreThan(n) => nth > n,
            Hits::Every(n) => nth.is_multiple_of(n.max(1)),
        }
    }
}

impl fmt::Display for Hits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hits::Exactly(n) => write!(f, "{n}"),
            Hits::MoreThan(n) => write!(f, ">{n}"),
            Hits::Every(n) => write!(f, "%{n}"),
        }
    }
}

impl FromStr for Hits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || format!("hits is `{text}`, not a number such as 3, >3 or %10");
        let (kind, digits): (fn(u32) -> Hits, _) = match text.as_bytes().first() {
            Some(b'>') => (Hits::MoreThan, &text[1..]),
            Some(b'%') => (Hits::Every, &text[1..]),
            _ => (Hits::Exactly, text.trim_start_matches('=')),
        };
        let number: u32 = digits.trim().parse().map_err(|_| wrong())?;
        let hits = kind(number);
        if number == 0 && !matches!(hits, Hits::MoreThan(_)) {
            return Err(wrong());
        }
        Ok(hits)
    }
}
