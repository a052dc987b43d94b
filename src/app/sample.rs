//! The sample set, embedded so that the demo needs neither files nor network. The same files are in
//! `sample-tools/` and can be loaded, changed and extended there.

use std::path::Path;

use crate::domain::Task;
use crate::files::toml_file::Problems;
use crate::store::{import::Trajectory, tasks};
use crate::tool::manifest::{self, Manifest};

macro_rules! tools {
    ($($name:literal),* $(,)?) => {
        [$((
            concat!("sample-tools/", $name, ".toml"),
            include_str!(concat!("../../sample-tools/", $name, ".toml")),
        )),*]
    };
}

const TOOLS: [(&str, &str); 21] = tools![
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

const TASKS: (&str, &str) =
    ("sample-tools/world/tasks.toml", include_str!("../../sample-tools/world/tasks.toml"));

/// The sample tools, in the order of their names.
///
/// # Errors
/// None in a program that passes its tests; they load it.
pub fn manifests() -> Result<Vec<Manifest>, Problems> {
    // Embedded manifests have no folder of their own; none of them names a file.
    manifest::unique(TOOLS.iter().map(|(file, text)| Manifest::parse(file, text, Path::new(""))))
}

/// The sample tasks, with gold answers and reference chains.
///
/// # Errors
/// As [`manifests`].
pub fn tasks() -> Result<Vec<Task>, Problems> {
    tasks::parse_toml(TASKS.0, TASKS.1)
}

/// The solutions of the sample tasks: the usual tool of every step.
///
/// # Errors
/// As [`manifests`].
pub fn trajectories() -> Result<Vec<Trajectory>, Problems> {
    let usual = |task: Task| Trajectory {
        task: task.text,
        tools: task.chain.into_iter().filter_map(|step| step.tools.into_iter().next()).collect(),
    };
    Ok(tasks()?.into_iter().map(usual).collect())
}
