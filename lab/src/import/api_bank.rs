//! API-Bank as a workspace: its tools with recorded answers, its dialogues as tasks and as
//! trajectories, and the graph learned from them.
//!
//! - `tools/NAME.toml`, `tools/NAME.answers.jsonl`: every tool that a dialogue calls. Tools that
//!   are never called have no answers, so they are left out.
//! - `tasks.jsonl`: one dialogue per line. The text is everything that the user said up to the last
//!   call, because users give the arguments bit by bit. It is scored by its calls and has no right
//!   answer: most results are only `success`, and the assistant's wording cannot be compared.
//!   While a task is worked on, the graph leaves its own dialogue out.
//! - `trajectories.jsonl`, `graph.json`: the order of calls, and the graph learned from it.
//! - `workspace.toml`: the origin of the data.
//!
//! The tools have no examples for retrieval: the only available questions are the tasks themselves,
//! and finding a tool by the question that then tests it would prove nothing.

use std::{collections::HashSet, fmt, path::Path};

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::schema;
use crate::data::tool_declarations::{self, Declared};
use crate::domain::words::counted;
use crate::domain::{ChainStep, EffectClass, Listing, Scoring, Task, ToolName, chance::canonical};
use crate::files::toml_file::Problem;
use crate::papers::toolnet::learn;
use crate::store::import::dialogue::{Dialogue, DialogueCall};
use crate::store::import::manifest::{Manifest, ManifestSource};
use crate::store::import::{ImportError, Trajectory, files};

/// The file that identifies a workspace.
const MARK: &str = "workspace.toml";

/// The amount of imported data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportSummary {
    pub tools: usize,
    /// Dialogues with calls: each is a task and a trajectory.
    pub tasks: usize,
    pub calls: usize,
    /// Dialogues without tool calls; they are left out.
    pub without_calls: usize,
}

impl fmt::Display for ImportSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tools, tasks, calls, without_calls } = self;
        write!(
            f,
            "{}, {} with {}; {} without calls left out",
            counted(*tools, "tool"),
            counted(*tasks, "task"),
            counted(*calls, "call"),
            counted(*without_calls, "dialogue"),
        )
    }
}

/// Turns API-Bank into a workspace.
///
/// `dir` is the folder with `derived_tools.json` and, anywhere below, the dialogues; or a folder of
/// dialogues alone, whose tools then have only the descriptions of their calls.
///
/// Files in `out` are replaced one by one and atomically; other files in there stay.
///
/// # Errors
/// Something cannot be read or written, a file is not in API-Bank's form, or `out` is neither empty nor an earlier
/// import and `force` is not given.
pub fn import_api_bank(dir: &Path, out: &Path, force: bool) -> Result<ImportSummary, ImportError> {
    let declared = tool_declarations::read(dir)?;
    let (dialogues, without_calls) = dialogues(dir)?;
    let mut tools: IndexMap<&ToolName, Vec<&DialogueCall>> = IndexMap::new();
    for call in dialogues.iter().flat_map(|(_, dialogue)| dialogue.calls()) {
        tools.entry(&call.tool).or_default().push(call);
    }
    tools.sort_unstable_keys();
    for tool in tools.keys() {
        check_file_name(tool, dir)?;
    }

    if !force && !files::is_vacant(out)? && !out.join(MARK).is_file() {
        return Err(ImportError::Occupied(out.to_owned()));
    }
    files::make_folder(&out.join("tools"))?;
    // The mark comes first: an interrupted import can be repeated without force.
    files::write(&out.join(MARK), &mark(dir))?;
    for (tool, calls) in &tools {
        write_tool(&out.join("tools"), tool, declared.get(tool.as_str()), calls)?;
    }
    let tasks: Vec<Task> = dialogues.iter().map(|(name, dialogue)| task(name, dialogue)).collect();
    let trajectories: Vec<Trajectory> =
        dialogues.iter().map(|(_, dialogue)| dialogue.trajectory()).collect();
    let graph = learn(&trajectories).map_err(|error| unusable(dir, error))?;
    write_lines(&out.join("tasks.jsonl"), &tasks)?;
    write_lines(&out.join("trajectories.jsonl"), &trajectories)?;
    files::write(&out.join("graph.json"), &Listing::learned(&graph).to_json())?;

    let calls = trajectories.iter().map(|trajectory| trajectory.tools.len()).sum();
    Ok(ImportSummary { tools: tools.len(), tasks: tasks.len(), calls, without_calls })
}

/// The dialogues with calls, by path, each with the stem of its file; and the number of those
/// without.
fn dialogues(dir: &Path) -> Result<(Vec<(String, Dialogue)>, usize), ImportError> {
    let mut list = Vec::new();
    let mut without_calls = 0;
    for path in files::find(dir, "jsonl")? {
        let dialogue = Dialogue::parse(&path.display().to_string(), &files::read(&path)?)?;
        if dialogue.calls().next().is_none() {
            without_calls += 1;
        } else {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            list.push((stem.into_owned(), dialogue));
        }
    }
    Ok((list, without_calls))
}

/// Checks a name that becomes a file name: it must not contain path components.
fn check_file_name(tool: &ToolName, dir: &Path) -> Result<(), ImportError> {
    let name = tool.as_str();
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if plain && !name.starts_with('.') && name.len() <= 64 {
        return Ok(());
    }
    let problem = format!(
        "tool {name:?}: expected a name of at most 64 letters, digits, '_', '-' and '.', \
         not beginning with '.'; rename it in the dialogues"
    );
    Err(unusable(dir, problem))
}

fn write_tool(
    folder: &Path,
    tool: &ToolName,
    declared: Option<&Declared>,
    calls: &[&DialogueCall],
) -> Result<(), ImportError> {
    let recorded = format!("{tool}.answers.jsonl");
    let none = IndexMap::new();
    let undescribed = format!("{tool}, known from recorded calls only.");
    let manifest = Manifest {
        name: tool.as_str(),
        description: declared
            .map(|declared| declared.description.trim())
            .filter(|description| !description.is_empty())
            .unwrap_or(&undescribed),
        class: declared.map_or("", |declared| &declared.database_name),
        // The original tool may have written, but looking up an answer changes nothing.
        effect: EffectClass::Read,
        timeout: "10s",
        parameters: &schema::parameters(
            declared.map_or(&none, |declared| &declared.input_parameters),
            &calls.iter().map(|call| &call.arguments).collect::<Vec<_>>(),
        ),
        disabled: None,
        source: ManifestSource::Recorded { recorded: &recorded },
        returns: None,
    };
    let path = folder.join(format!("{tool}.toml"));
    let text = toml::to_string(&manifest).map_err(|error| unusable(&path, error))?;
    files::write(&folder.join(&recorded), &answers(calls))?;
    files::write(&path, &text)
}

/// The table of a recorded tool, one line per call. If the same arguments had two different
/// answers, which a table cannot return, the first stays.
fn answers(calls: &[&DialogueCall]) -> String {
    let mut seen = HashSet::new();
    let mut lines = String::new();
    for DialogueCall { arguments, result, .. } in calls {
        if seen.insert(canonical(&Value::Object(arguments.clone()))) {
            let line = match result {
                Ok(result) => json!({ "arguments": arguments, "result": result }),
                Err(error) => json!({ "arguments": arguments, "error": error }),
            };
            lines += &format!("{line}\n");
        }
    }
    lines
}

fn task(name: &str, dialogue: &Dialogue) -> Task {
    let chain: Vec<ChainStep> = dialogue.calls().map(step).collect();
    let (name, scoring) = (name.to_owned(), Scoring::Calls);
    Task { name, chain, scoring, in_graph: true, ..Task::from_text(dialogue.request()) }
}

fn step(call: &DialogueCall) -> ChainStep {
    ChainStep {
        tools: vec![call.tool.clone()],
        arguments: Value::Object(call.arguments.clone()),
        finds: call.result.as_ref().ok().filter(|text| !text.is_empty()).cloned(),
        takes: None,
    }
}

fn write_lines<T: Serialize>(path: &Path, records: &[T]) -> Result<(), ImportError> {
    let mut text = String::new();
    for record in records {
        text += &serde_json::to_string(record).map_err(|error| unusable(path, error))?;
        text.push('\n');
    }
    files::write(path, &text)
}

fn mark(dir: &Path) -> String {
    let from = toml::Value::String(dir.display().to_string());
    format!(
        "# A toolyard workspace made from API-Bank (Li et al., 2023). Importing again replaces the files that\n\
         # the import made and leaves others alone.\n\
         format = 1\nkind = \"api-bank\"\nfrom = {from}\n"
    )
}

fn unusable(path: &Path, error: impl fmt::Display) -> ImportError {
    Problem::of_file(path.display().to_string(), error.to_string()).into()
}
