//! Which tools solved a task, in which order: what a graph is learned from.

use std::{fmt, path::Path, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{dialogue::Dialogue, error::ImportError, files, record::Record};
use crate::domain::{ToolGraph, ToolName};
use crate::papers::toolnet::{LearnError, learn};

/// How trajectories are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line per task: `{"task": TEXT, "tools": [NAME, …]}`, further fields as you like.
    Jsonl,
    /// A file per dialogue, as API-Bank has them.
    ApiBank,
}

impl Format {
    pub const ALL: [Self; 2] = [Self::Jsonl, Self::ApiBank];

    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::ApiBank => "api-bank",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No format has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected \"jsonl\" or \"api-bank\", found {0:?}")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let mut all = Self::ALL.into_iter();
        all.find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// One solved task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// What was asked for; may be empty.
    pub task: String,
    /// The tools called, in order; never empty.
    pub tools: Vec<ToolName>,
}

impl AsRef<[ToolName]> for Trajectory {
    fn as_ref(&self) -> &[ToolName] {
        &self.tools
    }
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectories {
    pub list: Vec<Trajectory>,
    /// How many tasks were left out because they called no tool.
    pub without_calls: usize,
}

impl Trajectories {
    /// The graph that these show (ToolNet, eq. 5).
    ///
    /// # Errors
    /// Where a tool has a name that none can have; names that were read here are all right.
    pub fn learn(&self) -> Result<ToolGraph, LearnError> {
        learn(&self.list)
    }

    fn push(&mut self, task: String, tools: Vec<ToolName>) {
        if tools.is_empty() {
            self.without_calls += 1;
        } else {
            self.list.push(Trajectory { task, tools });
        }
    }
}

/// Reads trajectories from files, and from the `*.jsonl` in folders and below them, by path.
///
/// # Errors
/// Where a file cannot be read or a line is not as the format has it.
pub fn read_trajectories<P: AsRef<Path>>(
    format: Format,
    paths: impl IntoIterator<Item = P>,
) -> Result<Trajectories, ImportError> {
    let mut trajectories = Trajectories::default();
    for path in paths {
        for file in files::find(path.as_ref(), "jsonl")? {
            let (name, text) = (file.display().to_string(), files::read(&file)?);
            match format {
                Format::Jsonl => read_lines(&name, &text, &mut trajectories)?,
                Format::ApiBank => {
                    let dialogue = Dialogue::parse(&name, &text)?;
                    let tools = dialogue.calls().map(|call| call.tool.clone()).collect();
                    trajectories.push(dialogue.request(), tools);
                }
            }
        }
    }
    Ok(trajectories)
}

fn read_lines(file: &str, text: &str, into: &mut Trajectories) -> Result<(), ImportError> {
    for record in Record::each(file, text) {
        let record = record?;
        let task = match record.get("task") {
            None => String::new(),
            Some(_) => record.text("task")?.to_owned(),
        };
        let names = record.list("tools")?.iter().enumerate();
        let tools = names.map(|(i, name)| record.tool(&format!("tools[{i}]"), Some(name)));
        into.push(task, tools.collect::<Result<_, _>>()?);
    }
    Ok(())
}
