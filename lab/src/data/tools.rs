//! `tool.json`: the tools of a set.

use std::path::Path;

use indexmap::IndexMap;
use serde::Deserialize;

use super::set::DataTool;
use crate::files::{json_file, toml_file::Problem};
use crate::store::import::files;

const EXPECTED: &str = "{\"tool_dict\": {NAME: NUMBER, …}, \"tool_information\": {NAME: \
    {\"tool_description\": TEXT}, …}}";

#[derive(Deserialize)]
struct File {
    tool_dict: IndexMap<String, usize>,
    #[serde(default)]
    tool_information: IndexMap<String, Information>,
}

#[derive(Deserialize)]
struct Information {
    #[serde(default)]
    tool_description: String,
}

/// The tools in the order of their numbers.
pub fn read(path: &Path) -> Result<Vec<DataTool>, Problem> {
    let name = path.display().to_string();
    let File { tool_dict, mut tool_information } =
        json_file::read(&name, &files::read(path)?, EXPECTED)?;
    let mut tools: Vec<(usize, String)> =
        tool_dict.into_iter().map(|(name, number)| (number, name)).collect();
    tools.sort();
    if tools.is_empty() {
        let text = format!("there is no tool in tool_dict; expected {EXPECTED}");
        return Err(Problem::of_file(name, text));
    }
    let tool = |(_, name): (usize, String)| {
        let information = tool_information.swap_remove(&name);
        let description = information.map(|of| of.tool_description).unwrap_or_default();
        DataTool { name, description: description.trim().to_owned() }
    };
    Ok(tools.into_iter().map(tool).collect())
}
