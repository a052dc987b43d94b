//! The arguments of `toolyard sweep`, and the session that they describe.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, builder::PossibleValuesParser, builder::TypedValueParser, value_parser};
use strum::VariantArray;

use crate::cli::{SessionArgs, trouble::Trouble};
use crate::compare::Seeds;
use crate::runner::Shard;
use crate::scenario::{Expectations, ScenarioFile};
use crate::session::{ForkSpec, SessionSpec};
use crate::shell::NatsArgs;
use crate::sweep::{SweepMeasure, SweptAxis};

#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Vary this: a knob, model, planner, solver or strategy. May be given twice.
    ///
    /// Values are a range with their number, `alpha=0..1/11`, or a list, `tau=0.1,0.2` or `model=a,b`.
    #[arg(long, value_name = "NAME=VALUES", required = true)]
    pub over: Vec<SweptAxis>,
    /// Number of seeds of each point, from the session's own on; or a list, `3,7` or `0..4`.
    #[arg(long, value_name = "K", default_value = "5")]
    pub seeds: SweepSeeds,
    /// Sweep the session of this scenario, which says whether it passed.
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub scenario: Option<PathBuf>,
    /// Begin each session at this moment of a journal, as `toolyard fork` does.
    #[arg(long, value_name = "JOURNAL:EVENT")]
    pub from: Option<JournalMoment>,
    /// Keep results and journals in this folder; the same command goes on after an interruption.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Measure that is shown; default: right, with a scenario passed.
    #[arg(long, value_name = "M", value_parser = measure())]
    pub measure: Option<SweepMeasure>,
    /// Run only every N-th session, the I-th of N parts, such as `1/3`.
    ///
    /// Parts may run on other machines with the same folder. The same command without it prints the table.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["json", "csv", "svg"])]
    pub shard: Option<Shard>,
    /// Sessions at the same time; default: two for each processor.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub nats: NatsArgs,
    /// Print one JSON object instead of the table.
    #[arg(long)]
    pub json: bool,
    /// Write a line for each session to this file, as CSV.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the chart to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub session: SessionArgs,
}

fn measure() -> impl TypedValueParser<Value = SweepMeasure> {
    let names: Vec<&'static str> = SweepMeasure::VARIANTS.iter().map(|one| one.name()).collect();
    PossibleValuesParser::new(names).try_map(|name| name.parse::<SweepMeasure>())
}

/// Seeds of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepSeeds {
    /// So many, from the session's own on.
    Count(u64),
    These(Seeds),
}

/// The most seeds of a point.
const MOST_SEEDS: u64 = 10_000;

impl FromStr for SweepSeeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.trim().is_empty() && text.trim().chars().all(|c| c.is_ascii_digit()) {
            let count = text.trim().parse().ok().filter(|count| (1..=MOST_SEEDS).contains(count));
            let wrong = || format!("expected a number of seeds from 1 to {MOST_SEEDS}");
            return count.map(Self::Count).ok_or_else(wrong);
        }
        text.parse().map(Self::These)
    }
}

/// An event of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalMoment {
    journal: PathBuf,
    event: u64,
}

impl FromStr for JournalMoment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected JOURNAL:EVENT, such as s.jsonl.zst:120".to_owned();
        let (journal, event) = text.rsplit_once(':').ok_or_else(wrong)?;
        let event = event.parse().map_err(|_| wrong())?;
        Ok(Self { journal: journal.into(), event })
    }
}

/// The session at each point before its settings, and what is expected of it.
pub fn base(args: &SweepArgs) -> Result<(SessionSpec, Option<Expectations>), Trouble> {
    let given = args.session.spec(None)?;
    let SessionSpec { config, max_dollars, seed, .. } = given.clone();
    let only = |allowed: SessionSpec, what: &str, names: &str| match given == allowed {
        true => Ok(()),
        false => {
            Err(Trouble::Usage(format!("with {what} only {names} apply; leave out the others")))
        }
    };
    if let Some(path) = &args.scenario {
        let SessionSpec { model, roles, .. } = given.clone();
        let over =
            SessionSpec { config, model, roles, max_dollars, seed, ..SessionSpec::default() };
        only(
            over.clone(),
            "--scenario",
            "--config, --model, --planner, --solver, --seed and --max-dollars",
        )?;
        let file = ScenarioFile::load(path).map_err(Trouble::usage)?;
        let mut spec = file.scenario.session.clone();
        spec.config = over.config.or(spec.config);
        if over.model.is_some() {
            (spec.model, spec.roles) = (over.model, Default::default());
        }
        spec.roles.extend(over.roles);
        spec.max_dollars = max_dollars.or(spec.max_dollars);
        let prepared = file.prepare(|own| *own = spec.clone()).map_err(Trouble::usage)?;
        spec.seed = Some(seed.unwrap_or(prepared.config.session.seed));
        return Ok((spec, Some(file.scenario.expect)));
    }
    let Some(JournalMoment { journal, event }) = &args.from else {
        for (is_given, option, why) in [
            (
                given.journal != Default::default(),
                "--journal, --no-journal",
                "--out keeps the journals",
            ),
            (given.learned.is_some(), "--learned", "every session begins fresh"),
        ] {
            if is_given {
                return Err(Trouble::Usage(format!("{option} does not apply to sweeps: {why}")));
            }
        }
        return Ok((given, None));
    };
    let SessionSpec { workspace, faults, .. } = given.clone();
    let allowed =
        SessionSpec { config, workspace, faults, max_dollars, seed, ..SessionSpec::default() };
    only(allowed.clone(), "--from", "--config, --workspace, --fault, --seed and --max-dollars")?;
    let fork = ForkSpec { of: journal.clone(), at: *event, ..ForkSpec::default() };
    Ok((SessionSpec { fork: Some(Box::new(fork)), ..allowed }, None))
}
