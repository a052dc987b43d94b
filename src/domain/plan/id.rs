//! The names of evidence.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The number of a piece of evidence. Written `E1`, and `#E1` in inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "RawEvidenceId", into = "String")]
pub struct EvidenceId(pub u32);

/// The text is not a name of evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the name of a piece of evidence such as \"E1\", got {0:?}")]
pub struct NotAnId(String);

/// Digits of any number that fits into 32 bits.
pub const DIGITS: usize = 9;

impl EvidenceId {
    /// Returns the name as written in inputs: `#E1`.
    pub fn mark(self) -> String {
        format!("#{self}")
    }
}

impl fmt::Display for EvidenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("E{}", self.0))
    }
}

impl FromStr for EvidenceId {
    type Err = NotAnId;

    /// Accepts `E1`, also with a hash, in lower case, or without the letter.
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let bare = text.trim();
        let bare = bare.strip_prefix(['#', '＃']).unwrap_or(bare);
        let digits = bare.strip_prefix(['E', 'e']).unwrap_or(bare);
        let all_digits = digits.chars().all(|c| c.is_ascii_digit()) && digits.len() <= DIGITS;
        let number = digits.parse().ok().filter(|_| all_digits);
        number.map(Self).ok_or_else(|| NotAnId(crate::words::clipped(text, 40)))
    }
}

impl From<EvidenceId> for String {
    fn from(id: EvidenceId) -> Self {
        id.to_string()
    }
}

/// As models write it in JSON.
#[derive(Deserialize)]
#[serde(untagged, expecting = "data did not match any variant of untagged enum Written")]
enum RawEvidenceId {
    Number(u32),
    Text(String),
}

impl TryFrom<RawEvidenceId> for EvidenceId {
    type Error = NotAnId;

    fn try_from(written: RawEvidenceId) -> Result<Self, NotAnId> {
        match written {
            RawEvidenceId::Number(number) => Ok(Self(number)),
            RawEvidenceId::Text(text) => text.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_all_their_spellings_and_written_in_one() {
        for text in ["\"E12\"", "\"#E12\"", "\"e12\"", "\"#12\"", "12", "\" E012 \""] {
            let id: EvidenceId = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&id).unwrap(), "\"E12\"", "{text}");
        }
        for text in ["", "E", "E-1", "E+1", "E1234567890", "F1", "E1 E2", "#"] {
            assert!(text.parse::<EvidenceId>().is_err(), "{text}");
        }
    }
}
