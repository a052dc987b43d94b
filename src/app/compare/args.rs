//! The options of every comparison.

use std::{fmt, num::NonZeroUsize, path::PathBuf, str::FromStr};

use clap::Args;

use crate::domain::{Knob, Strategy};
use crate::runner::Shard;
use crate::shell::{NatsArgs, SessionArgs, value::positive};

/// The most seeds of one comparison.
const MOST_SEEDS: usize = 10_000;

/// The options of a comparison.
#[derive(Debug, Default, Args)]
pub struct CompareOptions {
    /// Strategies to compare, such as react,react+btp.
    #[arg(long, value_name = "S,…", value_delimiter = ',')]
    pub strategies: Vec<Strategy>,
    /// Budgets to compare, in credits.
    #[arg(
        long, value_name = "B,…", value_delimiter = ',', conflicts_with = "budget",
        allow_negative_numbers = true,
        value_parser = |text: &str| Knob::Budget.spec().parse(text)
    )]
    pub budgets: Vec<f64>,
    /// Values of tau to compare, 0 to 1.
    #[arg(
        long, value_name = "T,…", value_delimiter = ',', conflicts_with = "tau",
        allow_negative_numbers = true,
        value_parser = |text: &str| Knob::Tau.spec().parse(text)
    )]
    pub taus: Vec<f64>,
    /// Values of a knob to compare, e.g. `blacklist=off,strict`; may be repeated.
    #[arg(long, value_name = "KNOB=V,…")]
    pub vary: Vec<Vary>,
    /// Run every combination once with each of these seeds: `1,2,5`, or `0..4` for 0 to 4.
    ///
    /// The default is `0..4`. One seed is not judged.
    #[arg(long, value_name = "N,…", conflicts_with = "seed", allow_hyphen_values = true)]
    pub seeds: Option<Seeds>,
    /// Gather past uses first, in sessions with these strategies; `none` starts without a past.
    ///
    /// These sessions have other seeds. Every combination starts from a copy of their past uses.
    #[arg(long, value_name = "S,…")]
    pub warm_up: Option<WarmUp>,
    /// Keep journals in this folder; the same command continues after an interruption.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// With --out: run only every N-th session, the I-th of N parts, such as `1/3`.
    ///
    /// Parts may run on other machines with the same folder. The same command without it prints the tables.
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with = "json")]
    pub shard: Option<Shard>,
    /// Number of parallel sessions; default: two per processor, since they mostly wait.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub nats: NatsArgs,
    /// Print one JSON object with every measure instead of tables.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub session: SessionArgs,
}

/// A knob and the values to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    pub knob: Knob,
    pub values: Vec<f64>,
}

impl FromStr for Vary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, values) = text.split_once('=').unwrap_or((text, ""));
        let knob =
            Knob::named(name.trim()).map_err(|why| format!("{why}; expected KNOB=VALUE,VALUE"))?;
        let values = values.split(',').map(|value| knob.spec().parse(value));
        Ok(Self { knob, values: values.collect::<Result<_, _>>()? })
    }
}

/// Seeds, each once, in the given order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds {
    pub all: Vec<u64>,
    text: String,
}

impl From<u64> for Seeds {
    fn from(seed: u64) -> Self {
        Self { all: vec![seed], text: seed.to_string() }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "expected seeds such as 1,2,5 or 0..4, each a whole number from 0, without repetition and at \
                 most {MOST_SEEDS}"
            )
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let mut all = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once("..").unwrap_or((part, part));
            for seed in number(first)?..=number(last)? {
                if all.len() == MOST_SEEDS || all.contains(&seed) {
                    return Err(wrong());
                }
                all.push(seed);
            }
        }
        if all.is_empty() { Err(wrong()) } else { Ok(Self { all, text: text.to_owned() }) }
    }
}

/// The strategies that gather past uses, one after the other; empty: no past.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WarmUp(pub Vec<Strategy>);

impl FromStr for WarmUp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::default()),
            _ => text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self),
        }
    }
}

impl fmt::Display for WarmUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.pad(if names.is_empty() { "none".to_owned() } else { names.join(",") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_ranges_and_numbers_each_once() {
        let read = |text: &str| text.parse::<Seeds>().map(|seeds| seeds.all);
        assert_eq!(read("0..3"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(read("7, 1..2"), Ok(vec![7, 1, 2]));
        for wrong in ["", "x", "-1", "1,1", "3..1", "0..99999999999", "1..", "0..2,1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn knobs_vary_over_what_they_take() {
        let vary = "blacklist=off,strict".parse();
        assert_eq!(vary, Ok(Vary { knob: Knob::Blacklist, values: vec![0.0, 2.0] }));
        for (wrong, says) in [
            ("blacklst=off", "did you mean"),
            ("tau", "tau takes"),
            ("tau=2", "from 0 to 1"),
            ("=", "no knob"),
        ] {
            let why = wrong.parse::<Vary>().unwrap_err();
            assert!(why.contains(says), "{wrong}: {why}");
        }
    }
}
