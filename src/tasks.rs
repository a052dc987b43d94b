//! Files of tasks. `.toml` names the capabilities once and a chain of steps per task; `.jsonl` has a
//! [`Task`] per line, or only `{"task": TEXT, "gold": …}`; `.txt` has the text of a task per line.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    id::ToolName,
    spec::{ChainStep, Task},
    toml_file::{Field, Fields, Problem, Problems, TomlFile},
    words,
};

/// Reads a file of tasks; its ending says how it is written.
///
/// # Errors
/// Everything that is wrong with it; a file without a task too.
pub fn load(path: &Path) -> Result<Vec<Task>, Problems> {
    let file = path.display().to_string();
    let parse = match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => parse_toml,
        Some("jsonl") => parse_jsonl,
        Some("txt") => parse_text,
        Some(_) | None => {
            let text = "cannot tell how it is written; expected a name in .toml, .jsonl or .txt";
            return Err(Problem::of_file(file, text).into());
        }
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Problem::of_file(&file, format!("cannot be read: {error}")))?;
    let tasks = parse(&file, &text)?;
    if tasks.is_empty() {
        return Err(Problem::of_file(file, "holds no task; expected at least one").into());
    }
    Ok(tasks)
}

/// The text of a task per line; empty lines are skipped.
///
/// # Errors
/// None; the signature is that of its siblings.
pub fn parse_text(_file: &str, text: &str) -> Result<Vec<Task>, Problems> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(Task::from_text).collect())
}

/// A task per line, as JSON.
///
/// # Errors
/// Every line that is no task.
pub fn parse_jsonl(file: &str, text: &str) -> Result<Vec<Task>, Problems> {
    let mut tasks = Vec::new();
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match Line::read(line) {
            Ok(task) => tasks.push(task),
            Err(text) => problems.push(Problem {
                file: file.to_owned(),
                line: Some(at + 1),
                field: String::new(),
                text: format!("{text}; expected {{\"task\": TEXT, \"gold\": ANSWER}}"),
            }),
        }
    }
    if problems.is_empty() { Ok(tasks) } else { Err(Problems(problems)) }
}

/// A task as people write it: its text is called `task` too, and a gold answer may be a number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    name: String,
    #[serde(alias = "task")]
    text: String,
    #[serde(default)]
    gold: Option<Value>,
    #[serde(default)]
    chain: Vec<ChainStep>,
}

impl Line {
    fn read(line: &str) -> Result<Task, String> {
        let Self { name, text, gold, chain } =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        if text.trim().is_empty() {
            return Err("the task's text is empty".into());
        }
        let gold = gold.map(|gold| match gold {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(flag) => Ok(if flag { "yes" } else { "no" }.into()),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                Err("`gold` is neither a text nor a number".to_owned())
            }
        });
        Ok(Task { name, text, gold: gold.transpose()?, chain })
    }
}

/// `[capabilities]` and `[[task]]`.
///
/// # Errors
/// Everything that is wrong, with its line.
pub fn parse_toml(file: &str, text: &str) -> Result<Vec<Task>, Problems> {
    TomlFile::read(file, text, |mut fields| {
        let capabilities = match fields.get("capabilities") {
            Some(field) => read_capabilities(&field)?,
            None => Capabilities::new(),
        };
        let tasks = fields.need("task", "[[task]] with `text`, and `gold` where it is known")?;
        fields.finish();
        let mut names = HashMap::new();
        let list = tasks.list()?;
        let tasks: Vec<_> =
            list.iter().map(|field| read_task(field, &capabilities, &mut names)).collect();
        tasks.into_iter().collect()
    })
}

/// What a step may need → the tools that claim to do it, the usual one first.
type Capabilities = IndexMap<String, Vec<ToolName>>;

fn read_capabilities(field: &Field<'_>) -> Option<Capabilities> {
    let entries = field.table()?.all();
    entries.iter().map(|(name, field)| Some(((*name).to_owned(), read_tools(field)?))).collect()
}

fn read_tools(field: &Field<'_>) -> Option<Vec<ToolName>> {
    let names = field.texts()?;
    if names.is_empty() {
        field.refuse("expected the name of at least one tool, the usual one first");
        return None;
    }
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        field.refuse(format!("names {twice:?} twice"));
        return None;
    }
    Some(names.into_iter().map(ToolName::from).collect())
}

fn read_task(
    field: &Field<'_>,
    capabilities: &Capabilities,
    names: &mut HashMap<String, ()>,
) -> Option<Task> {
    let mut fields = field.table()?;
    let name = fields.get("name").map_or(Some(""), |field| {
        let name = field.text()?;
        if names.insert(name.to_owned(), ()).is_some() {
            field.refuse(format!("{name:?} is the name of an earlier task; choose another"));
            return None;
        }
        Some(name)
    });
    let text = fields.need("text", "text = \"what the user wants to know\"").and_then(|field| {
        let text = field.text()?;
        if text.trim().is_empty() {
            field.wrong("a text that is not empty");
            return None;
        }
        Some(text)
    });
    let gold = fields.get("gold").map(|field| read_gold(&field));
    let chain = fields.get("chain").map_or(Some(Vec::new()), |field| {
        let steps: Vec<_> =
            field.list()?.iter().map(|step| read_step(step.table()?, capabilities)).collect();
        steps.into_iter().collect()
    });
    fields.finish();
    let gold = match gold {
        Some(gold) => Some(gold?),
        None => None,
    };
    Some(Task { name: name?.to_owned(), text: text?.to_owned(), gold, chain: chain? })
}

/// A text, or a number as it is written.
fn read_gold(field: &Field<'_>) -> Option<String> {
    match field.json()? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            field.wrong("a text or a number");
            None
        }
    }
}

fn read_step(mut fields: Fields<'_>, capabilities: &Capabilities) -> Option<ChainStep> {
    let does = fields.get("do");
    let tools = fields.get("tools");
    let tools = match (&does, &tools) {
        (Some(name), None) => read_capability(name, capabilities),
        (None, Some(tools)) => read_tools(tools),
        (Some(_), Some(_)) | (None, None) => {
            fields.refuse("expected `do` with a capability, or `tools` with a list of names");
            None
        }
    };
    let arguments = fields.get("arguments").map_or_else(
        || Some(Value::Object(serde_json::Map::new())),
        |field| {
            field.table()?;
            field.json()
        },
    );
    let finds = match fields.get("finds") {
        Some(field) => field.text().map(|text| Some(text.to_owned())),
        None => Some(None),
    };
    fields.finish();
    Some(ChainStep { tools: tools?, arguments: arguments?, finds: finds? })
}

fn read_capability(name: &Field<'_>, capabilities: &Capabilities) -> Option<Vec<ToolName>> {
    let text = name.text()?;
    let tools = capabilities.get(text);
    if tools.is_none() {
        let known = words::expected(text, capabilities.keys().map(String::as_str));
        name.refuse(format!("no capability is called {text:?}; {known}"));
    }
    tools.cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GOOD: &str = r#"
[capabilities]
search = ["search_web", "search_backup"]

[[task]]
name = "sum"
text = "How much is it?"
gold = 7
chain = [
  { do = "search", arguments = { query = "it" }, finds = "3 and 4" },
  { tools = ["calculator"], arguments = { expression = "3 + 4" } },
]

[[task]]
text = "Why?"
"#;

    #[test]
    fn capabilities_become_tools() {
        let tasks = parse_toml("t.toml", GOOD).unwrap();
        assert_eq!(tasks[0].gold.as_deref(), Some("7"));
        assert_eq!(
            tasks[0].chain[0],
            ChainStep {
                tools: vec!["search_web".into(), "search_backup".into()],
                arguments: json!({ "query": "it" }),
                finds: Some("3 and 4".into()),
            }
        );
        assert_eq!(tasks[0].chain[1].tools, ["calculator".into()]);
        assert_eq!(tasks[1], Task::from_text("Why?"));
    }

    #[test]
    fn every_mistake_has_its_line_and_field() {
        let bad = GOOD
            .replace("do = \"search\"", "do = \"serch\"")
            .replace("tools = [\"calculator\"]", "tool = \"calculator\"")
            .replace("text = \"Why?\"", "text = \" \"\nname = \"sum\"\nglod = 3");
        let problems = parse_toml("t.toml", &bad).unwrap_err().to_string();
        let expected = [
            "t.toml:10: task[0].chain[0].do: no capability is called \"serch\"; did you mean \
             `search`? (known: search)",
            "t.toml:11: task[0].chain[1]: expected `do` with a capability, or `tools` with a list \
             of names",
            "t.toml:11: task[0].chain[1].tool: unknown key; did you mean `tools`? (known: do, \
             tools, arguments, finds)",
            "t.toml:16: task[1].name: \"sum\" is the name of an earlier task; choose another",
            "t.toml:15: task[1].text: expected a text that is not empty, got \" \"",
            "t.toml:17: task[1].glod: unknown key; did you mean `gold`? (known: name, text, gold, \
             chain)",
        ];
        assert_eq!(problems.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lines_of_json_may_say_task_and_have_numbers_as_gold() {
        let text =
            "{\"task\":\"a\",\"gold\":2.5}\n\n{\"text\":\"b\",\"name\":\"n\",\"chain\":[]}\n";
        let tasks = parse_jsonl("t.jsonl", text).unwrap();
        assert_eq!(tasks[0].gold.as_deref(), Some("2.5"));
        assert_eq!((tasks[1].name.as_str(), tasks[1].text.as_str()), ("n", "b"));
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
        assert_eq!(write("a.toml", GOOD).unwrap().len(), 2);
        let csv = write("a.csv", "x").unwrap_err().to_string();
        assert!(csv.ends_with("expected a name in .toml, .jsonl or .txt"), "{csv}");
        let empty = write("b.txt", "\n").unwrap_err().to_string();
        assert!(empty.ends_with("b.txt: holds no task; expected at least one"), "{empty}");
    }
}
