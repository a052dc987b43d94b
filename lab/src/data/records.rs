//! Records: a text with calls on each line.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use super::gzip;
use super::set::{DataTool, Record};
use crate::files::{json_file, toml_file::Problem};
use crate::store::import::files;

const EXPECTED: &str = "{\"text\": TEXT, \"start_str_idx\": [CHARACTER, …], \"tool_calling\": \
    [{\"call_tool\": NAME}, …]}, or {\"question\": TEXT, \"tool\": NAME}";

/// The most bytes of a packed file.
const LARGEST: u64 = 1 << 26;

/// A record in either form of the authors: a text with calls in it, or a question whose answer follows it.
#[derive(Deserialize)]
#[serde(expecting = "struct Line")]
struct CotoolsRecord {
    #[serde(default)]
    dataset_name: String,
    text: Option<String>,
    start_str_idx: Option<Vec<usize>>,
    tool_calling: Option<Vec<Calling>>,
    question: Option<String>,
    tool: Option<String>,
}

/// A text, the first characters of results in it, and the names of their tools.
struct RecordText {
    text: String,
    starts: Vec<usize>,
    tools: Vec<String>,
}

impl CotoolsRecord {
    /// Returns the parts of the record, or the name of the missing field.
    fn parts(self) -> Result<RecordText, &'static str> {
        if let (None, Some(text)) = (&self.text, self.question) {
            let starts = vec![text.chars().count()];
            return Ok(RecordText { text, starts, tools: vec![self.tool.ok_or("tool")?] });
        }
        let text = self.text.ok_or("text")?;
        let starts = self.start_str_idx.ok_or("start_str_idx")?;
        let calls = self.tool_calling.ok_or("tool_calling")?;
        Ok(RecordText {
            text,
            starts,
            tools: calls.into_iter().map(|call| call.call_tool).collect(),
        })
    }
}

#[derive(Deserialize)]
struct Calling {
    call_tool: String,
}

/// The records of a file, and the `dataset_name` of the first.
///
/// # Errors
/// The file cannot be read, or a record does not fit its own text or the tools.
pub fn read(path: &Path, tools: &[DataTool]) -> Result<(Vec<Record>, String), Problem> {
    let file = path.display().to_string();
    let text = text(path)?;
    let places: HashMap<&str, usize> =
        tools.iter().enumerate().map(|(place, tool)| (bare(&tool.name), place)).collect();
    let (mut records, mut name) = (Vec::new(), None);
    for (line, read) in json_file::read_lines::<CotoolsRecord>(&file, &text, EXPECTED) {
        let read = read?;
        let bad = |field: &str, text: String| Problem::of_line(&file, line, field, text);
        name.get_or_insert_with(|| read.dataset_name.clone());
        let missing = |field| bad(field, format!("missing; expected {EXPECTED}"));
        let RecordText { text, starts, tools } = read.parts().map_err(missing)?;
        let characters = text.chars().count();
        if starts.len() != tools.len() {
            let (places, calls) = (starts.len(), tools.len());
            let text = format!("{places} places, but {calls} calls; expected one for each");
            return Err(bad("start_str_idx", text));
        }
        if let Some(start) = starts.iter().find(|start| **start > characters) {
            let text =
                format!("character {start}, but the text has {characters}; expected a place in it");
            return Err(bad("start_str_idx", text));
        }
        let place = |name: String| {
            places.get(bare(&name)).copied().ok_or_else(|| {
                bad("tool", format!("there is no tool {name:?}; expected one of tool.json"))
            })
        };
        let tools = tools.into_iter().map(place).collect::<Result<_, _>>()?;
        records.push(Record { text, starts, tools });
    }
    Ok((records, name.unwrap_or_default()))
}

/// A tool's name as test files write it, without `<` and `>`.
fn bare(name: &str) -> &str {
    name.strip_prefix('<').and_then(|name| name.strip_suffix('>')).unwrap_or(name)
}

fn text(path: &Path) -> Result<String, Problem> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return files::read(path);
    }
    let bad = |text: String| Problem::of_file(path.display().to_string(), text);
    let mut packed = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut packed))
        .map_err(|error| bad(format!("cannot be read: {error}")))?;
    if packed.len() as u64 > LARGEST {
        return Err(bad("longer than 64 MiB; expected a file of records".to_owned()));
    }
    let bytes = gzip::unpack(&packed).map_err(|why| bad(why.to_owned()))?;
    String::from_utf8(bytes).map_err(|_| bad("not UTF-8; expected JSON lines".to_owned()))
}
