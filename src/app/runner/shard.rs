//! A part of the jobs.

use std::{fmt, str::FromStr};

/// Every `of`-th job, from the job `number - 1` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub number: usize,
    pub of: usize,
}

impl Shard {
    /// Whether the job at this place, from 0, belongs to the part.
    pub const fn has(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.trim().parse().ok()?, of: of.trim().parse().ok()? })
        });
        let is_one = |shard: &Self| (1..=shard.of).contains(&shard.number);
        parts.filter(is_one).ok_or_else(|| {
            "expected I/N, the I-th of N parts with I from 1 to N, such as 1/3".to_owned()
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_belongs_to_one_part() {
        let parts: Vec<Shard> = ["1/3", "2/3", " 3 / 3"].map(|text| text.parse().unwrap()).into();
        for place in 0..20 {
            assert_eq!(parts.iter().filter(|part| part.has(place)).count(), 1, "{place}");
        }
        for wrong in ["4/3", "0/3", "1", "1/0", "", "a/b", "-1/3", "1/3/3"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains("I/N"), "{wrong}");
        }
    }
}
