//! The demos: sessions with a tour. Each is an ordinary session of the simulated model; only the keys are given.

mod budget;
mod resilience;
mod workers;

use std::{fs, io, path::Path};

use clap::ValueEnum;

use crate::config::SIMULATED;
use crate::domain::{Choice, Knob, Speed};
use crate::session::{JournalChoice, SessionSpec};
use crate::ui::tour::Beat;

/// A guided session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Demo {
    /// A tool breaks; watch the agent move to another one.
    Resilience,
    /// Five tools with prices; watch the plan against what is spent.
    Budget,
    /// Three calls at once, two models; one tool fails.
    Workers,
}

/// The two simulated models of the demo of workers.
const CONFIG: &str = "[models.large]\nkind = \"simulated\"\n[models.small]\nkind = \"simulated\"\n";

/// Their names, and what there is to see.
pub const DEMOS: &[(&str, &str)] = &[
    (Demo::Resilience.name(), Demo::Resilience.about()),
    (Demo::Budget.name(), Demo::Budget.about()),
    (Demo::Workers.name(), Demo::Workers.about()),
];

impl Demo {
    pub const ALL: [Demo; 3] = [Demo::Resilience, Demo::Budget, Demo::Workers];

    /// As in the command.
    pub const fn name(self) -> &'static str {
        match self {
            Demo::Resilience => "resilience",
            Demo::Budget => "budget",
            Demo::Workers => "workers",
        }
    }

    /// What there is to see, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Demo::Resilience => "a tool breaks; watch the agent move to another one",
            Demo::Budget => "20 credits, five tools; watch the plan against what is spent",
            Demo::Workers => "three calls at once, two models; one tool fails",
        }
    }

    /// What it shows.
    pub fn beats(self) -> Vec<Beat> {
        match self {
            Demo::Resilience => resilience::beats(),
            Demo::Budget => budget::beats(),
            Demo::Workers => workers::beats(),
        }
    }

    /// Its session; what that reads is written into this folder. Nothing of the person's own is read or changed.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn session(self, folder: &Path, speed: Speed) -> io::Result<SessionSpec> {
        let config = folder.join("config.toml");
        fs::write(&config, CONFIG)?;
        let mut spec = SessionSpec {
            config: Some(config),
            model: Some(SIMULATED.into()),
            seed: Some(1),
            fresh: true,
            journal: JournalChoice::File(folder.join("demo.jsonl")),
            ..SessionSpec::default()
        };
        let speed = Speed::ALL.iter().position(|other| *other == speed).unwrap_or_default();
        spec.knobs.insert(Knob::Speed, speed as f64);
        match self {
            Demo::Resilience => resilience::session(&mut spec),
            Demo::Budget => budget::session(&mut spec, folder)?,
            Demo::Workers => workers::session(&mut spec),
        }
        Ok(spec)
    }
}
