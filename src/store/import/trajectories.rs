//! Which tools solved a task, in which order: what a graph is learned from.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{dialogue::Dialogue, error::ImportError, files};
use crate::domain::{ToolGraph, ToolName};
use crate::files::{json_file, toml_file::Problem};
use crate::papers::toolnet::{LearnError, learn};

/// How trajectories are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// A line per task: `{"task": TEXT, "tools": [NAME, …]}`, further fields as you like.
    Jsonl,
    /// A file per dialogue, as API-Bank has them.
    ApiBank,
}

/// A tool's name that can be a node of a graph and is none of its own nodes.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Known(pub ToolName);

impl TryFrom<String> for Known {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let tool = ToolName::new(&name);
        if name.is_empty() || tool.is_special() {
            return Err(format!(
                "{name:?} is not a valid tool name (not \"\", \"start\" or \"end\")"
            ));
        }
        Ok(Self(tool))
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

    fn push(&mut self, trajectory: Trajectory) {
        if trajectory.tools.is_empty() {
            self.without_calls += 1;
        } else {
            self.list.push(trajectory);
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
                Format::ApiBank => trajectories.push(Dialogue::parse(&name, &text)?.trajectory()),
            }
        }
    }
    Ok(trajectories)
}

/// A line of a file of trajectories.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    task: String,
    tools: Vec<Known>,
}

fn read_lines(file: &str, text: &str, into: &mut Trajectories) -> Result<(), Problem> {
    let expected = "{\"task\": TEXT, \"tools\": [NAME, …]}";
    for (_, line) in json_file::read_lines::<Line>(file, text, expected) {
        let Line { task, tools } = line?;
        let tools = tools.into_iter().map(|Known(tool)| tool).collect();
        into.push(Trajectory { task, tools });
    }
    Ok(())
}
