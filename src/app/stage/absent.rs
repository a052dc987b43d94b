//! A program without the stage: none of its types has a value.

use std::{iter, rc::Rc};

use clap::{ValueEnum, builder::PossibleValue};
use serde::{Deserialize, Serialize};

use crate::domain::{ModelName, Strategy, Task};
use crate::files::toml_file::{Problems, TomlField, TomlFields};
use crate::model::Model;
use crate::session::SimulatedSpec;
pub use crate::tool::builtin::none as builtins;
use crate::tool::manifest::Manifest;

/// An empty list of demos.
pub const DEMOS: &[(&str, &str)] = &[];

/// No sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sample {}

impl ValueEnum for Sample {
    fn value_variants<'a>() -> &'a [Self] {
        &[]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match *self {}
    }
}

impl Sample {
    pub fn title(self) -> &'static str {
        match self {}
    }

    pub fn titled(_title: &str) -> Option<Self> {
        None
    }

    pub fn manifests(self) -> Result<Vec<Manifest>, Problems> {
        match self {}
    }

    pub fn tasks(self) -> Result<Vec<Task>, Problems> {
        match self {}
    }

    pub fn trajectories(self) -> Result<Vec<crate::store::import::Trajectory>, Problems> {
        match self {}
    }
}

/// No simulated model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SimulatedSettings {}

pub fn sample_of(_strategy: Strategy) -> Option<Sample> {
    None
}

pub fn usual() -> Option<SimulatedSettings> {
    None
}

pub fn pair() -> Vec<(&'static str, SimulatedSettings)> {
    Vec::new()
}

pub fn read(kind: &TomlField<'_>, _fields: &mut TomlFields<'_>) -> Option<SimulatedSettings> {
    kind.refuse("this toolyard was built without the simulated model");
    None
}

pub fn settle(settings: &mut SimulatedSettings, _spec: SimulatedSpec) {
    match *settings {}
}

pub fn model(
    _name: ModelName,
    settings: &SimulatedSettings,
    _seed: u64,
    _tasks: &[Task],
) -> Rc<dyn Model> {
    match *settings {}
}

pub fn made_up(_total: usize) -> Result<impl Iterator<Item = Manifest>, String> {
    Err::<iter::Empty<Manifest>, _>("this toolyard was built without made-up tools".to_owned())
}
