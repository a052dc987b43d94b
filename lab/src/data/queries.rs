//! Files of queries with the tools that answer them.

use std::path::Path;

use serde::Deserialize;

use crate::files::{json_file, toml_file::Problem};
use crate::store::import::files;

const EXPECTED: &str = "{\"query\": TEXT, \"tools\": [NAME, …]}";

/// A query and its tools, any of which is right.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(expecting = "struct Asked")]
pub struct ToolQuery {
    pub query: String,
    /// Names in the catalogue; never empty.
    pub tools: Vec<String>,
}

/// The queries of a file of JSON lines; further fields are skipped. Each comes with the number of its line.
///
/// # Errors
/// The file cannot be read, has no query, or a line is not in that form.
pub fn read_queries(path: &Path) -> Result<Vec<(usize, ToolQuery)>, Problem> {
    let file = path.display().to_string();
    let text = files::read(path)?;
    let mut all = Vec::new();
    for (line, asked) in json_file::read_lines::<ToolQuery>(&file, &text, EXPECTED) {
        let asked = asked?;
        if asked.tools.is_empty() {
            let text = format!("no tool; expected {EXPECTED} with at least one name");
            return Err(Problem::of_line(&file, line, "tools", text));
        }
        all.push((line, asked));
    }
    if all.is_empty() {
        return Err(Problem::of_file(file, format!("no query; expected lines {EXPECTED}")));
    }
    Ok(all)
}
