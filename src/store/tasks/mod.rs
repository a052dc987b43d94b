//! Files of tasks. `.toml` names the capabilities once and a chain of steps per task; `.jsonl` has
//! a [`Task`] per line, or only `{"task": TEXT, "gold": …}`; `.txt` has the text of a task per
//! line.

mod toml;

use std::path::Path;

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

pub use self::toml::parse_toml;
use crate::domain::{ChainStep, Exchange, Scoring, Task, ToolName};
use crate::files::json_file;
use crate::files::text_file::without_mark;
use crate::files::toml_file::{Problem, Problems};

const EXPECTED: &str = "{\"task\": TEXT, \"gold\": ANSWER}";

/// Reads a file of tasks; its extension determines the format.
///
/// # Errors
/// All faults in it, or no task.
pub fn load(path: &Path) -> Result<Vec<Task>, Problems> {
    let file = path.display().to_string();
    let parse = match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => parse_toml,
        Some("jsonl") => parse_jsonl,
        Some("txt") => parse_text,
        Some(_) | None => {
            let text = "unknown format; expected a file name ending in .toml, .jsonl or .txt";
            return Err(Problem::of_file(file, text).into());
        }
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Problem::of_file(&file, format!("cannot be read: {error}")))?;
    let tasks = parse(&file, &text)?;
    if tasks.is_empty() {
        return Err(Problem::of_file(file, "contains no task; expected at least one").into());
    }
    Ok(tasks)
}

/// The text of a task per line; empty lines are skipped.
///
/// # Errors
/// None; the signature matches the other parsers.
pub fn parse_text(_file: &str, text: &str) -> Result<Vec<Task>, Problems> {
    let lines = without_mark(text).lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(Task::from_text).collect())
}

/// A task per line, as JSON.
///
/// # Errors
/// All invalid lines.
pub fn parse_jsonl(file: &str, text: &str) -> Result<Vec<Task>, Problems> {
    let mut tasks = Vec::new();
    let mut problems = Vec::new();
    for (line, written) in json_file::read_lines::<TaskFileLine>(file, text, EXPECTED) {
        let wrong = |(field, text)| Problem::of_line(file, line, field, text);
        match written.and_then(|written| written.task().map_err(wrong)) {
            Ok(task) => tasks.push(task),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(tasks) } else { Err(Problems(problems)) }
}

/// Tasks inside another file, in the form of JSON lines; for `serde(deserialize_with)`.
///
/// # Errors
/// The first invalid task.
pub fn written<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Task>, D::Error> {
    let task = |(field, text): (&str, &str)| D::Error::custom(format!("{field}: {text}"));
    let lines = Vec::<TaskFileLine>::deserialize(from)?;
    lines.into_iter().map(|line| line.task().map_err(task)).collect()
}

/// A task as people write it: its text may also be called `task`, and a gold answer may be a
/// number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Line")]
struct TaskFileLine {
    #[serde(default)]
    name: String,
    #[serde(alias = "task")]
    text: String,
    #[serde(default)]
    gold: Option<Value>,
    #[serde(default)]
    golds: Option<Vec<Value>>,
    #[serde(default)]
    chain: Vec<ChainStep>,
    #[serde(default)]
    tools: Vec<ToolName>,
    #[serde(default)]
    scoring: Scoring,
    #[serde(default)]
    in_graph: bool,
    #[serde(default)]
    before: Vec<Exchange>,
}

impl TaskFileLine {
    /// The task; or the invalid field, and the expected content.
    fn task(self) -> Result<Task, (&'static str, &'static str)> {
        let Self { name, text, gold, golds, chain, tools, scoring, in_graph, before } = self;
        if text.trim().is_empty() {
            return Err(("task", "expected a non-empty text"));
        }
        if scoring == Scoring::Calls && chain.is_empty() {
            return Err(("scoring", "a task that is scored by its calls needs a `chain` of them"));
        }
        if golds.as_ref().is_some_and(Vec::is_empty) {
            return Err(("golds", "expected a list of at least one text or number"));
        }
        let gold = gold.map(|gold| answer(gold).ok_or(("gold", "expected a text or a number")));
        let golds = golds.into_iter().flatten();
        let golds =
            golds.map(|gold| answer(gold).ok_or(("golds", "expected a list of texts or numbers")));
        let golds: Vec<String> = gold.into_iter().chain(golds).collect::<Result<_, _>>()?;
        let task = Task { name, chain, tools, scoring, in_graph, before, ..Task::from_text(text) };
        Ok(task.with_golds(golds))
    }
}

/// A right answer as people write it; `None` if it is not a text, number or flag.
pub(super) fn answer(gold: Value) -> Option<String> {
    match gold {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(if flag { "yes" } else { "no" }.into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_json_may_say_task_and_have_numbers_as_gold() {
        let text =
            "{\"task\":\"a\",\"gold\":2.5}\n\n{\"text\":\"b\",\"name\":\"n\",\"chain\":[]}\n";
        let tasks = parse_jsonl("t.jsonl", text).unwrap();
        assert_eq!(tasks[0].gold.as_deref(), Some("2.5"));
        assert_eq!((tasks[1].name.as_str(), tasks[1].text.as_str()), ("n", "b"));
        let several =
            "{\"task\":\"a\",\"gold\":\"b\",\"golds\":[\"b\",7]}\n{\"task\":\"a\",\"golds\":[1]}";
        let tasks = parse_jsonl("t.jsonl", several).unwrap();
        assert_eq!(tasks[0].golds().collect::<Vec<_>>(), ["b", "7"]);
        assert_eq!(tasks[1].gold.as_deref(), Some("1"));
        let again = serde_json::to_string(&tasks[0]).unwrap();
        assert_eq!(parse_jsonl("t.jsonl", &again).unwrap(), tasks[..1]);
        for wrong in ["[]", "[[]]", "[null]"] {
            let text = format!("{{\"task\":\"a\",\"golds\":{wrong}}}");
            let why = parse_jsonl("t.jsonl", &text).unwrap_err().to_string();
            assert!(why.starts_with("t.jsonl:1: golds: expected a list of"), "{why}");
        }
        let problems =
            parse_jsonl("t.jsonl", "{\"task\":\"a\"}\n{}\n[1\n{\"task\":\"\"}").unwrap_err();
        let lines: Vec<_> = problems.0.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [Some(2), Some(3), Some(4)]);
        assert!(problems.to_string().starts_with("t.jsonl:2: missing field `text`"), "{problems}");
    }

    #[test]
    fn a_file_says_by_its_name_how_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            load(&path)
        };
        assert_eq!(
            write("a.txt", "one\n\n two \n").unwrap(),
            [Task::from_text("one"), Task::from_text("two")]
        );
        let toml = "[[task]]\ntext = \"three\"";
        assert_eq!(write("a.toml", toml).unwrap(), [Task::from_text("three")]);
        // Some editors write a byte order mark.
        for (name, text) in
            [("m.txt", "three"), ("m.toml", toml), ("m.jsonl", "{\"task\": \"three\"}")]
        {
            let marked = write(name, &format!("\u{feff}{text}\n"));
            assert_eq!(marked.unwrap(), [Task::from_text("three")], "{name}");
        }
        let csv = write("a.csv", "x").unwrap_err().to_string();
        assert!(csv.ends_with("expected a file name ending in .toml, .jsonl or .txt"), "{csv}");
        let empty = write("b.txt", "\n").unwrap_err().to_string();
        assert!(empty.ends_with("b.txt: contains no task; expected at least one"), "{empty}");
    }
}
