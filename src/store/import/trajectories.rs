//! The tools that solved a task, in order: the input for learning a graph.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{dialogue::Dialogue, error::ImportError, files};
use crate::domain::{ToolGraph, ToolName};
use crate::files::{json_file, toml_file::Problem};
use crate::papers::toolnet::{LearnError, learn};

/// File formats of trajectories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum TrajectoryFormat {
    /// A line per task: `{"task": TEXT, "tools": [NAME, …]}`, with any further fields.
    Jsonl,
    /// A file per dialogue, as in API-Bank.
    ApiBank,
}

/// The name of a tool that can be a node of a graph, other than its special nodes.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct NodeName(pub ToolName);

impl TryFrom<String> for NodeName {
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

/// A solved task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// The text of the task; may be empty.
    pub task: String,
    /// The called tools, in order; never empty.
    pub tools: Vec<ToolName>,
}

impl AsRef<[ToolName]> for Trajectory {
    fn as_ref(&self) -> &[ToolName] {
        &self.tools
    }
}

/// Trajectories read from files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectories {
    pub list: Vec<Trajectory>,
    /// Tasks left out because they called no tool.
    pub without_calls: usize,
}

impl Trajectories {
    /// The graph learned from these (ToolNet, eq. 5).
    ///
    /// # Errors
    /// A tool has an invalid name; names read here are always valid.
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
/// A file cannot be read, or a line is not in the given format.
pub fn read_trajectories<P: AsRef<Path>>(
    format: TrajectoryFormat,
    paths: impl IntoIterator<Item = P>,
) -> Result<Trajectories, ImportError> {
    let mut trajectories = Trajectories::default();
    for path in paths {
        for file in files::find(path.as_ref(), "jsonl")? {
            let (name, text) = (file.display().to_string(), files::read(&file)?);
            match format {
                TrajectoryFormat::Jsonl => read_lines(&name, &text, &mut trajectories)?,
                TrajectoryFormat::ApiBank => {
                    trajectories.push(Dialogue::parse(&name, &text)?.trajectory())
                }
            }
        }
    }
    Ok(trajectories)
}

/// A line of a file of trajectories.
#[derive(Deserialize)]
#[serde(expecting = "struct Line")]
struct TrajectoryLine {
    #[serde(default)]
    task: String,
    tools: Vec<NodeName>,
}

fn read_lines(file: &str, text: &str, into: &mut Trajectories) -> Result<(), Problem> {
    let expected = "{\"task\": TEXT, \"tools\": [NAME, …]}";
    for (_, line) in json_file::read_lines::<TrajectoryLine>(file, text, expected) {
        let TrajectoryLine { task, tools } = line?;
        let tools = tools.into_iter().map(|NodeName(tool)| tool).collect();
        into.push(Trajectory { task, tools });
    }
    Ok(())
}
