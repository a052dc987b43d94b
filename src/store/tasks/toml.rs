//! Tasks in TOML, with reference chains in terms of capabilities.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::domain::{ChainStep, Scoring, Take, Task, ToolName, words};
use crate::files::toml_file::{Problems, TomlField, TomlFields, TomlFile};

/// `[capabilities]` and `[[task]]`.
///
/// # Errors
/// All faults, with their lines.
pub fn parse_toml(file: &str, text: &str) -> Result<Vec<Task>, Problems> {
    TomlFile::read(file, text, |mut fields| {
        let capabilities = match fields.get("capabilities") {
            Some(field) => read_capabilities(&field)?,
            None => Capabilities::new(),
        };
        let tasks = fields.need("task", "[[task]] with `text`, and `gold` if it is known")?;
        fields.finish();
        let mut names = HashSet::new();
        let list = tasks.list()?;
        let tasks: Vec<_> =
            list.iter().map(|field| read_task(field, &capabilities, &mut names)).collect();
        tasks.into_iter().collect()
    })
}

/// Capability → the tools that claim to have it, the usual one first.
type Capabilities = IndexMap<String, Vec<ToolName>>;

fn read_capabilities(field: &TomlField<'_>) -> Option<Capabilities> {
    let entries = field.table()?.all();
    entries.iter().map(|(name, field)| Some(((*name).to_owned(), read_tools(field)?))).collect()
}

fn read_tools(field: &TomlField<'_>) -> Option<Vec<ToolName>> {
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
    field: &TomlField<'_>,
    capabilities: &Capabilities,
    names: &mut HashSet<String>,
) -> Option<Task> {
    let mut fields = field.table()?;
    let name = fields.get("name").map_or(Some(""), |field| {
        let name = field.text()?;
        if !names.insert(name.to_owned()) {
            field.refuse(format!("{name:?} is the name of an earlier task; choose another"));
            return None;
        }
        Some(name)
    });
    let text = fields.need("text", "text = \"what the user wants to know\"");
    let text = text.and_then(|field| field.filled("a non-empty text"));
    let gold = fields.get("gold").map(|field| read_gold(&field));
    let golds = fields.get("golds").map(|field| read_golds(&field));
    let chain = fields.get("chain").map_or(Some(Vec::new()), |field| {
        let steps: Vec<_> =
            field.list()?.iter().map(|step| read_step(step.table()?, capabilities)).collect();
        steps.into_iter().collect()
    });
    let tools = fields.get("tools").map_or(Some(Vec::new()), |field| read_tools(&field));
    let in_graph = fields.get("in_graph").map_or(Some(false), |field| field.flag());
    let scoring = fields.get("scoring").map_or(Some(Scoring::Answer), |field| {
        let scoring = field.one_of(&[("answer", Scoring::Answer), ("calls", Scoring::Calls)])?;
        if scoring == Scoring::Calls && chain.as_ref().is_none_or(Vec::is_empty) {
            field.refuse("a task that is scored by its calls needs a `chain` of them");
            return None;
        }
        Some(scoring)
    });
    fields.finish();
    let gold = gold.map_or(Some(Vec::new()), |gold| Some(vec![gold?]))?;
    let golds = golds.unwrap_or(Some(Vec::new()))?;
    let task = Task {
        name: name?.to_owned(),
        chain: chain?,
        tools: tools?,
        scoring: scoring?,
        in_graph: in_graph?,
        ..Task::from_text(text?)
    };
    Some(task.with_golds(gold.into_iter().chain(golds)))
}

/// At least one right answer.
fn read_golds(field: &TomlField<'_>) -> Option<Vec<String>> {
    let list = field.list()?;
    if list.is_empty() {
        field.refuse("expected a list of at least one right answer");
        return None;
    }
    list.iter().map(read_gold).collect()
}

/// A text, a number as written, or `yes` or `no` for true or false.
fn read_gold(field: &TomlField<'_>) -> Option<String> {
    let gold = super::answer(field.json()?);
    if gold.is_none() {
        field.wrong("a text or a number");
    }
    gold
}

fn read_step(mut fields: TomlFields<'_>, capabilities: &Capabilities) -> Option<ChainStep> {
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
        || Some(Value::Object(Map::new())),
        |field| {
            field.table()?;
            field.json()
        },
    );
    let finds = match fields.get("finds") {
        Some(field) => field.text().map(|text| Some(text.to_owned())),
        None => Some(None),
    };
    let takes = match fields.get("takes") {
        Some(field) => read_take(&field).map(Some),
        None => Some(None),
    };
    fields.finish();
    Some(ChainStep { tools: tools?, arguments: arguments?, finds: finds?, takes: takes? })
}

fn read_take(field: &TomlField<'_>) -> Option<Take> {
    let take = field.text()?.parse();
    take.map_err(|error: String| field.refuse(error)).ok()
}

fn read_capability(name: &TomlField<'_>, capabilities: &Capabilities) -> Option<Vec<ToolName>> {
    let text = name.text()?;
    let tools = capabilities.get(text);
    if tools.is_none() {
        let known = words::expected(text, capabilities.keys().map(String::as_str));
        name.refuse(format!("unknown capability {text:?}; {known}"));
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
golds = ["so", 3, true]
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
                takes: None,
            }
        );
        assert_eq!(tasks[0].chain[1].tools, ["calculator".into()]);
        let golds = ["so", "3", "yes"].map(str::to_owned);
        assert_eq!(tasks[1], Task::from_text("Why?").with_golds(golds));
    }

    #[test]
    fn every_mistake_has_its_line_and_field() {
        let bad = GOOD
            .replace("do = \"search\"", "do = \"serch\"")
            .replace("tools = [\"calculator\"]", "tool = \"calculator\"")
            .replace("text = \"Why?\"", "text = \" \"\nname = \"sum\"\nglod = 3")
            .replace("[\"so\", 3, true]", "[]");
        let problems = parse_toml("t.toml", &bad).unwrap_err().to_string();
        let expected = [
            "t.toml:10: task[0].chain[0].do: unknown capability \"serch\"; did you mean \
             `search`? (known: search)",
            "t.toml:11: task[0].chain[1]: expected `do` with a capability, or `tools` with a list \
             of names",
            "t.toml:11: task[0].chain[1].tool: unknown key; did you mean `tools`? (known: do, \
             tools, arguments, finds, takes)",
            "t.toml:16: task[1].name: \"sum\" is the name of an earlier task; choose another",
            "t.toml:15: task[1].text: expected a non-empty text, got \" \"",
            "t.toml:18: task[1].golds: expected a list of at least one right answer",
            "t.toml:17: task[1].glod: unknown key; did you mean `gold`? (known: name, text, gold, \
             golds, chain, tools, in_graph, scoring)",
        ];
        assert_eq!(problems.lines().collect::<Vec<_>>(), expected);
    }
}
