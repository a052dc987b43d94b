//! The sample sets, embedded so that the demo needs neither files nor network. The same files are in
//! `sample-tools/` and can be loaded, changed and extended there.

use std::path::Path;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::builtin;
use crate::domain::{Base, Strategy, Task};
use crate::files::toml_file::Problems;
use crate::store::{import::Trajectory, tasks};
use crate::tool::manifest::{self, Manifest};

/// An embedded set of tools and tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Sample {
    /// Tools of many kinds, which answer in sentences.
    General,
    /// A film archive whose tools answer in JSON, for programs.
    Films,
}

macro_rules! tools {
    ($folder:literal, $($name:literal),* $(,)?) => {
        &[$((
            concat!("sample-tools/", $folder, $name, ".toml"),
            include_str!(concat!("../../sample-tools/", $folder, $name, ".toml")),
        )),*]
    };
}

/// A file's path, and its text.
type File = (&'static str, &'static str);

const TOOLS: &[File] = tools![
    "",
    "calculator",
    "calculator_lite",
    "climate_table",
    "currency_converter",
    "date_shift",
    "days_between",
    "encyclopedia",
    "list_statistics",
    "lookup_index",
    "math_service",
    "national_library",
    "people_directory",
    "phrasebook",
    "rot13",
    "search_archive",
    "search_backup",
    "search_web",
    "text_counter",
    "text_editor",
    "timetable",
    "unit_converter",
];

const FILM_TOOLS: &[File] = tools![
    "films/",
    "collection_details",
    "film_credits",
    "film_details",
    "film_index",
    "film_releases",
    "film_reviews",
    "person_details",
    "person_films",
    "prizes_of_year",
    "search_film",
    "search_person",
    "search_studio",
    "similar_films",
    "studio_details",
    "studio_films",
];

const TASKS: File =
    ("sample-tools/world/tasks.toml", include_str!("../../sample-tools/world/tasks.toml"));

const FILM_TASKS: File = (
    "sample-tools/films/world/tasks.toml",
    include_str!("../../sample-tools/films/world/tasks.toml"),
);

impl Sample {
    /// The set that shows a strategy: programs need tools that answer in JSON.
    pub fn of(strategy: Strategy) -> Self {
        if strategy.base == Base::Atc { Self::Films } else { Self::General }
    }

    /// The title of a workspace with this set.
    pub fn title(self) -> &'static str {
        match self {
            Self::General => "embedded demo",
            Self::Films => "embedded film demo",
        }
    }

    pub fn titled(title: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|sample| sample.title() == title)
    }

    /// Returns the tools of the sample, in the order of their names.
    ///
    /// # Errors
    /// None in a program that passes its tests, since they load the sample.
    pub fn manifests(self) -> Result<Vec<Manifest>, Problems> {
        let files = match self {
            Self::General => TOOLS,
            Self::Films => FILM_TOOLS,
        };
        // Embedded manifests have no folder of their own; none of them names a file.
        manifest::unique(
            files
                .iter()
                .map(|(file, text)| Manifest::parse(file, text, Path::new(""), builtin::read)),
        )
        .whole()
    }

    /// Returns the tasks of the sample, with gold answers and reference chains.
    ///
    /// # Errors
    /// As [`Self::manifests`].
    pub fn tasks(self) -> Result<Vec<Task>, Problems> {
        let (file, text) = match self {
            Self::General => TASKS,
            Self::Films => FILM_TASKS,
        };
        tasks::parse_toml(file, text)
    }

    /// The solutions of its tasks: the usual tool of every step.
    ///
    /// # Errors
    /// As [`Self::manifests`].
    pub fn trajectories(self) -> Result<Vec<Trajectory>, Problems> {
        let usual = |task: Task| Trajectory {
            task: task.text,
            tools: task
                .chain
                .into_iter()
                .filter_map(|step| step.tools.into_iter().next())
                .collect(),
        };
        Ok(self.tasks()?.into_iter().map(usual).collect())
    }
}
