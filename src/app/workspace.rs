//! The agent's environment: tools, tasks, the graph and learned scores, from a folder or from an
//! embedded sample.
//!
//! ```text
//! DIR/tools/*.toml      manifests
//! DIR/tasks.toml|jsonl|txt
//! DIR/prompts/NAME.md   override built-in prompts
//! DIR/few-shots.toml    examples that roles see before their task
//! DIR/graph.json        the static prior, as `toolyard graph learn` writes it; without it, uninformed
//! DIR/experience.jsonl  past uses that come with it: a new store of past uses begins with them
//! DIR/breakpoints.toml  breakpoints that were set on a screen; DIR/watches.toml  its watches
//! DIR/learned.json      scores and explored edges of earlier sessions, written after every task
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use jiff::Timestamp;

use crate::domain::{FewShot, Prior, Prompts, Task, ToolGraph, ToolName};
use crate::files::toml_file::{Problem, Problems};
use crate::learned::LearnedState;
use crate::stage::{self, Sample};
use crate::store::experience::{Experience, ExperienceError};
use crate::store::{breakpoints, few_shots, json_store, prompts, tasks};
use crate::tool::manifest::{self, Loaded, Manifest};

/// Advice for a program without samples.
const NO_SAMPLE: &str =
    "this toolyard was built without sample tools; name a folder with --workspace";
/// The name of the file of past uses in a workspace.
const EXPERIENCE: &str = "experience.jsonl";

/// The contents of a session except models and settings.
#[derive(Clone)]
pub struct Workspace {
    /// The title for people.
    pub title: String,
    /// `None` for an embedded sample.
    pub folder: Option<PathBuf>,
    /// `None` for a folder.
    pub sample: Option<Sample>,
    /// Folders of manifests, in addition to embedded ones.
    pub tool_folders: Vec<PathBuf>,
    pub manifests: Vec<Manifest>,
    /// Faults of manifests that are left out.
    pub left_out: Vec<Problem>,
    pub tasks: Vec<Task>,
    pub graph: ToolGraph,
    pub prompts: Prompts,
    pub few_shots: Vec<FewShot>,
    pub breakpoints: breakpoints::SavedBreakpoints,
    pub learned: LearnedState,
}

/// All manifests: those of a sample, and of these folders. Names are unique. Wrong manifests are left out.
///
/// # Errors
/// A folder cannot be read, or all manifests are wrong.
pub fn manifests(sample: Option<Sample>, folders: &[PathBuf]) -> Result<Loaded, Problems> {
    let mut all = sample.map_or_else(|| Ok(Vec::new()), Sample::manifests)?;
    let mut problems = Vec::new();
    for folder in folders {
        let loaded = manifest::load_dir(folder, stage::builtins)?;
        all.extend(loaded.manifests);
        problems.extend(loaded.problems);
    }
    let mut loaded = manifest::unique(all.into_iter().map(Ok));
    problems.append(&mut loaded.problems);
    Loaded { problems, ..loaded }.usable()
}

/// The prompts of this workspace, or the built-in ones.
///
/// # Errors
/// The folder does not exist, or all faults of its prompts.
pub fn prompts_of(folder: Option<&Path>) -> Result<Prompts, Problems> {
    let Some(folder) = folder else { return Ok(Prompts::new(&BTreeMap::new())) };
    if !folder.is_dir() {
        let text = "no such folder; expected one with tools/*.toml in it";
        return Err(Problem::of_file(folder.display().to_string(), text).into());
    }
    prompts::load(folder)
}

impl Workspace {
    /// Adds the workspace's past uses to a new store; returns their number and their file. `None`: there are none.
    ///
    /// # Errors
    /// The first invalid line of the file, or the store cannot be written.
    pub fn begin(&self, store: &mut Experience) -> Result<Option<(u64, PathBuf)>, ExperienceError> {
        let file = self.folder.as_ref().map(|folder| folder.join(EXPERIENCE));
        let Some(file) = file.filter(|file| file.is_file()) else { return Ok(None) };
        let imported = store.import(&file, EXPERIENCE, Timestamp::now())?;
        Ok(Some((imported.added, file)))
    }

    /// The workspace of this folder, or without one this sample, with the tools of further folders.
    ///
    /// # Errors
    /// All faults of the manifests, or the first problem of another file.
    pub fn open(
        folder: Option<&Path>,
        sample: Option<Sample>,
        more_tools: &[PathBuf],
    ) -> Result<Self, Problems> {
        match (folder, sample) {
            (Some(folder), _) => Self::of_folder(folder, more_tools),
            (None, Some(sample)) => Self::embedded(sample, more_tools),
            (None, None) => Err(Problem::of_file("workspace", NO_SAMPLE).into()),
        }
    }

    /// An empty workspace.
    pub fn none(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            folder: None,
            sample: None,
            tool_folders: Vec::new(),
            manifests: Vec::new(),
            left_out: Vec::new(),
            tasks: Vec::new(),
            graph: ToolGraph::new(Prior::Uninformed),
            prompts: Prompts::new(&BTreeMap::new()),
            few_shots: Vec::new(),
            breakpoints: Vec::new(),
            learned: LearnedState::default(),
        }
    }

    fn embedded(sample: Sample, more_tools: &[PathBuf]) -> Result<Self, Problems> {
        let graph = crate::papers::toolnet::learn(&sample.trajectories()?)
            .map_err(|error| Problem::of_file("sample trajectories", error.to_string()))?;
        let Loaded { manifests, problems } = manifests(Some(sample), more_tools)?;
        Ok(Self {
            title: sample.title().to_owned(),
            folder: None,
            sample: Some(sample),
            tool_folders: more_tools.to_vec(),
            graph: fitted(graph, &manifests),
            prompts: prompts_of(None)?,
            manifests,
            left_out: problems,
            tasks: sample.tasks()?,
            few_shots: Vec::new(),
            breakpoints: Vec::new(),
            learned: LearnedState::default(),
        })
    }

    fn of_folder(folder: &Path, more_tools: &[PathBuf]) -> Result<Self, Problems> {
        let prompts = prompts_of(Some(folder))?;
        let mut tool_folders = vec![folder.join("tools")];
        tool_folders.extend_from_slice(more_tools);
        let Loaded { manifests, problems } = manifests(None, &tool_folders)?;
        let file = folder.join("graph.json");
        let graph = match json_store::text(&file)? {
            Some(text) => ToolGraph::from_json(&text)
                .map_err(|error| Problem::of_file(file.display().to_string(), error.to_string()))?,
            None => ToolGraph::new(Prior::Uninformed),
        };
        Ok(Self {
            title: titled(folder),
            folder: Some(folder.to_owned()),
            sample: None,
            tool_folders,
            graph: fitted(graph, &manifests),
            prompts,
            manifests,
            left_out: problems,
            tasks: find_tasks(folder)?,
            few_shots: few_shots::load(folder)?,
            breakpoints: breakpoints::load(folder)?,
            learned: LearnedState::load(&folder.join("learned.json"))?,
        })
    }

    /// Returns problems of manifests that are left out, and remarks on tools for which `is_meant` holds, in words for
    /// people.
    pub fn notices(&self, is_meant: impl Fn(&ToolName) -> bool) -> Vec<String> {
        let left = self.left_out.iter().map(|problem| format!("{problem}; this tool is left out"));
        let meant = self.manifests.iter().filter(|manifest| is_meant(&manifest.spec.name));
        let remarks = meant.flat_map(|manifest| &manifest.remarks);
        left.chain(remarks.map(ToString::to_string)).collect()
    }

    /// The graph with the explored edges of earlier sessions.
    pub fn known_graph(&self) -> ToolGraph {
        let mut graph = self.graph.clone();
        for (from, to) in &self.learned.explored {
            if graph.contains(from.as_str()) && graph.contains(to.as_str()) {
                graph.add_edge(from.as_str(), to.as_str());
            }
        }
        graph
    }

    /// The scores of tools that still exist.
    pub fn known_scores(&self) -> BTreeMap<ToolName, f64> {
        let known = |tool: &ToolName| tool.is_special() || self.graph.contains(tool.as_str());
        let scores = self.learned.scores.iter().filter(|(tool, _)| known(tool));
        scores.map(|(tool, score)| (tool.clone(), *score)).collect()
    }
}

/// The graph with exactly these tools.
fn fitted(mut graph: ToolGraph, manifests: &[Manifest]) -> ToolGraph {
    let there: IndexSet<_> = manifests.iter().map(|manifest| &manifest.spec.name).collect();
    let gone: Vec<_> = graph.tools().filter(|tool| !there.contains(tool)).cloned().collect();
    for tool in gone {
        graph.remove_tool(tool.as_str());
    }
    for tool in there {
        graph.add_tool(tool.clone());
    }
    graph
}

fn find_tasks(folder: &Path) -> Result<Vec<Task>, Problems> {
    let names = ["tasks.toml", "tasks.jsonl", "tasks.txt"];
    match names.iter().map(|name| folder.join(name)).find(|path| path.is_file()) {
        Some(path) => tasks::load(&path),
        None => Ok(Vec::new()),
    }
}

/// The path of a folder as it was named; the name of the working directory itself.
fn titled(folder: &Path) -> String {
    let own = (folder == Path::new(".")).then(|| folder.canonicalize().ok()).flatten();
    let name = own.as_deref().and_then(Path::file_name);
    name.map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}
