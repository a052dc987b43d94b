//! The programs of a command: one file, or one reply of a model in each line.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::args::CheckArgs;
use crate::app::shell::trouble::Trouble;
use crate::domain::program::Raised;
use crate::papers::atc::extract;

/// A program, or why there is none.
pub struct ProgramItem {
    pub id: Option<Value>,
    pub program: Result<Arc<str>, Raised>,
}

#[derive(Deserialize)]
#[serde(expecting = "struct Line")]
struct ProgramReply {
    #[serde(default)]
    id: Option<Value>,
    reply: String,
}

/// # Errors
/// The file cannot be read, or a line is not such an object.
pub fn items(args: &CheckArgs) -> Result<Vec<ProgramItem>, Trouble> {
    let read = |path: &Path| {
        fs::read_to_string(path)
            .map_err(|error| Trouble::Usage(format!("{}: {error}", path.display())))
    };
    if let Some(path) = &args.replies {
        let text = read(path)?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        return lines.map(|(at, line)| item(path, at + 1, line)).collect();
    }
    let text = args.file.as_deref().map(read).transpose()?.unwrap_or_default();
    Ok(vec![ProgramItem { id: None, program: Ok(Arc::from(text.replace("\r\n", "\n"))) }])
}

fn item(path: &Path, number: usize, line: &str) -> Result<ProgramItem, Trouble> {
    let ProgramReply { id, reply } = serde_json::from_str(line).map_err(|error| {
        let wanted = "expected {\"id\": …, \"reply\": \"…\"}";
        Trouble::Usage(format!("{}:{number}: {error}; {wanted}", path.display()))
    })?;
    let program = extract(&reply).map(Arc::from);
    Ok(ProgramItem {
        id,
        program: program.map_err(|why| Raised::new("NoProgram", why.to_string())),
    })
}
