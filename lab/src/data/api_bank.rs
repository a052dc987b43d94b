//! API-Bank as questions: the user's text before the first call that does some work, and the tool of that call.

use std::path::Path;

use super::known::API_BANK;
use super::set::{DataSet, DataTool, Record};
use crate::data::tool_declarations;
use crate::files::toml_file::Problem;
use crate::store::import::ImportError;
use crate::store::import::dialogue::{Dialogue, DialogueTurn};
use crate::store::import::files;

/// Calls that prepare others and say nothing about the user's request.
const PREPARING: [&str; 2] = ["GetUserToken", "ToolSearcher"];

/// The tools of levels 1 and 2, and a question for each dialogue.
pub fn load(folder: &Path) -> Result<DataSet, Problem> {
    let named = |error: ImportError| match error {
        ImportError::Problem(problem) => problem,
        other => Problem::of_file(folder.display().to_string(), other.to_string()),
    };
    let mut tools: Vec<DataTool> = tool_declarations::read(folder)?
        .into_iter()
        .filter(|(_, tool)| tool.is_of_apis())
        .map(|(name, tool)| DataTool { name, description: tool.description.trim().to_owned() })
        .collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    let mut dev = Vec::new();
    for path in files::find(folder, "jsonl").map_err(named)? {
        let file = path.display().to_string();
        let dialogue = Dialogue::parse(&file, &files::read(&path)?)?;
        dev.extend(question(&dialogue, &tools));
    }
    let known = API_BANK;
    let (name, licence) = (known.name.to_owned(), known.licence.to_owned());
    Ok(DataSet {
        name,
        licence,
        template: known.template,
        tools,
        train: Vec::new(),
        dev,
        test: Vec::new(),
    })
}

fn question(dialogue: &Dialogue, tools: &[DataTool]) -> Option<Record> {
    let mut said: Vec<&str> = Vec::new();
    for turn in &dialogue.turns {
        match turn {
            DialogueTurn::User(text) => said.push(text.trim()),
            DialogueTurn::Api(call) if !PREPARING.contains(&call.tool.as_str()) => {
                let tool = tools.iter().position(|tool| tool.name == call.tool.as_str())?;
                let text = said.join("\n");
                let starts = vec![text.chars().count()];
                return Some(Record { text, starts, tools: vec![tool] });
            }
            DialogueTurn::Assistant | DialogueTurn::Api(_) => {}
        }
    }
    None
}
