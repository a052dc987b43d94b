//! The demos: sessions with a tour. Each is an ordinary session of the simulated model; only the keys are given.

mod budget;
mod resilience;
mod watch;
mod workers;

use std::{fs, io, path::Path};

use clap::ValueEnum;

use crate::tour::{Beat, Steps};

/// A guided session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Demo {
    /// A tool breaks; watch the agent move to another one.
    Resilience,
    /// Five tools with prices; watch the plan against what is spent.
    Budget,
    /// Three calls at once, two models; one tool fails.
    Workers,
    /// An agent that is not toolyard's own: pause it, break one of its tools.
    Watch,
}

/// Names of the demos, each with its description.
pub const DEMOS: &[(&str, &str)] = &[
    (Demo::Resilience.name(), Demo::Resilience.about()),
    (Demo::Budget.name(), Demo::Budget.about()),
    (Demo::Workers.name(), Demo::Workers.about()),
    (Demo::Watch.name(), Demo::Watch.about()),
];

impl Demo {
    pub const ALL: [Demo; 4] = [Demo::Resilience, Demo::Budget, Demo::Workers, Demo::Watch];

    /// Returns the name, as in the command.
    pub const fn name(self) -> &'static str {
        match self {
            Demo::Resilience => "resilience",
            Demo::Budget => "budget",
            Demo::Workers => "workers",
            Demo::Watch => "watch",
        }
    }

    /// Describes the demo in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Demo::Resilience => "a tool breaks; watch the agent move to another one",
            Demo::Budget => "20 credits, five tools; watch the plan against what is spent",
            Demo::Workers => "three calls at once, two models; one tool fails",
            Demo::Watch => "your kind of agent: see, pause and break its calls",
        }
    }

    /// Returns the steps that press the keys of the demo.
    ///
    /// # Errors
    /// A key is invalid.
    pub fn steps(self) -> Result<Steps, String> {
        Steps::new(self.name(), self.beats())
    }

    fn beats(self) -> Vec<Beat> {
        match self {
            Demo::Resilience => resilience::beats(),
            Demo::Budget => budget::beats(),
            Demo::Workers => workers::beats(),
            Demo::Watch => watch::beats(),
        }
    }

    /// Returns the session of the demo as the text of a scenario. It uses the files of [`Self::write`], and neither
    /// reads nor changes files of the person.
    pub fn session(self) -> &'static str {
        match self {
            Demo::Resilience => include_str!("resilience.toml"),
            Demo::Budget => include_str!("budget.toml"),
            Demo::Workers => include_str!("workers.toml"),
            Demo::Watch => include_str!("watch.toml"),
        }
    }

    /// Writes the files that the session reads into this folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join("config.toml"), include_str!("config.toml"))?;
        let files = if self == Demo::Budget { &budget::FILES[..] } else { &[] };
        for (name, text) in files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap_or(folder))?;
            fs::write(file, text)?;
        }
        Ok(())
    }
}
