//! Manifests: a TOML file per tool says what it is called, what it takes, and where it comes from.
//! The reader is strict, because a typo that is passed over shows only when an agent goes astray.

use std::{collections::HashMap, fs, path::Path, rc::Rc, sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{
    id::ToolName,
    spec::{Effect, ToolSpec},
    toml_file::{Field, Fields, Problem, Problems, TomlFile},
    tool::{
        Tool,
        builtin::{Builtin, BuiltinTool},
        check::Checker,
        command::{CommandSource, CommandTool},
        output::MAX_OUTPUT,
        recorded::{RecordedTool, Table},
    },
    words::clipped,
};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// A tool that needs longer is better started by one call and asked about by another.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(3600);
/// Longer names are refused by every endpoint there is.
const NAME: usize = 128;
/// How a menu shows [`ToolName::END`]; a tool of this name could never be told from it.
const FINISH: &str = "Finish";

/// Where a tool comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Builtin(Builtin),
    Command(CommandSource),
    Recorded(Table),
}

/// A tool as its manifest describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    pub spec: Arc<ToolSpec>,
    pub source: Source,
    /// The file it was read from, for messages.
    pub file: String,
}

impl Manifest {
    /// Reads one manifest. `file` names it in messages; paths in it are relative to `folder`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, Problems> {
        TomlFile::read(file, text, |fields| read(fields, file, folder))
    }

    /// The tool that can be called.
    pub fn tool(&self) -> Rc<dyn Tool> {
        let spec = self.spec.clone();
        match &self.source {
            Source::Builtin(function) => Rc::new(BuiltinTool::new(spec, function.clone())),
            Source::Command(source) => Rc::new(CommandTool::new(spec, source.clone())),
            Source::Recorded(table) => Rc::new(RecordedTool::new(spec, table.clone())),
        }
    }
}

/// Reads every `*.toml` of a directory (not of those in it), in the order of their names.
///
/// # Errors
/// Everything that is wrong in any of them; two tools of one name; a directory that cannot be read.
pub fn load_dir(path: &Path) -> Result<Vec<Manifest>, Problems> {
    let unreadable = |error: std::io::Error| {
        let text = format!("cannot be read: {error}; expected a directory of tool manifests");
        Problem::of_file(path.display().to_string(), text)
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if file.extension().is_some_and(|ending| ending == "toml") && !hidden {
            files.push(file);
        }
    }
    files.sort();
    unique(files.iter().map(|file| load(file)))
}

fn load(path: &Path) -> Result<Manifest, Problems> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| Problem::of_file(&file, format!("cannot be read: {error}")))?;
    Manifest::parse(&file, &text, path.parent().unwrap_or(Path::new("")))
}

/// All manifests, or all that is wrong with any of them, two of one name included.
///
/// # Errors
/// As above.
pub fn unique(
    manifests: impl IntoIterator<Item = Result<Manifest, Problems>>,
) -> Result<Vec<Manifest>, Problems> {
    let mut good: Vec<Manifest> = Vec::new();
    let mut problems = Vec::new();
    let mut places: HashMap<ToolName, usize> = HashMap::new();
    for manifest in manifests {
        match manifest {
            Ok(manifest) => match places.get(&manifest.spec.name) {
                Some(earlier) => problems.push(Problem {
                    file: manifest.file,
                    line: None,
                    field: "name".into(),
                    text: format!(
                        "{:?} is the name of the tool in {} already; give one of them another",
                        manifest.spec.name, good[*earlier].file
                    ),
                }),
                None => {
                    places.insert(manifest.spec.name.clone(), good.len());
                    good.push(manifest);
                }
            },
            Err(found) => problems.extend(found.0),
        }
    }
    if problems.is_empty() { Ok(good) } else { Err(Problems(problems)) }
}

/// Reads all fields before it gives up on any, so that all problems are found at once.
fn read(mut fields: Fields<'_>, file: &str, folder: &Path) -> Option<Manifest> {
    let name = fields.need("name", "name = \"my_tool\"").and_then(|field| read_name(&field));
    let description = fields
        .need("description", "description = \"what it does, for the model to choose by\"")
        .and_then(|field| field.text());
    let class = fields.get("class").map_or(Some(""), |field| field.text());
    let cost = fields.get("cost").map_or(Some(0.0), |field| field.number(0.0, 1e9));
    let effect = fields.get("effect").map_or(Some(Effect::Unknown), |field| {
        field.one_of(&[
            ("read", Effect::Read),
            ("idempotent", Effect::Idempotent),
            ("write", Effect::Write),
            ("unknown", Effect::Unknown),
        ])
    });
    let timeout = fields.get("timeout").map_or(Some(DEFAULT_TIMEOUT), |field| {
        field.duration(Duration::from_millis(1), LONGEST_TIMEOUT)
    });
    let examples = fields.get("examples").map_or(Some(Vec::new()), |field| field.texts());
    let parameters = fields.get("parameters");
    let schema = match &parameters {
        Some(field) => read_schema(field),
        None => Some(json!({ "type": "object", "properties": {} })),
    };
    let source = fields
        .need("source", "[source] with one of `builtin`, `command`, `recorded`")
        .and_then(|field| field.table())
        .and_then(|table| read_source(table, folder));
    if let (Some(schema), Some((Source::Builtin(function), _))) = (&schema, &source) {
        check_needs(&fields, parameters.as_ref(), schema, function);
    }
    fields.finish();
    let (source, shown) = source?;
    let spec = ToolSpec {
        name: name?,
        description: description?.to_owned(),
        parameters: schema?,
        class: class?.to_owned(),
        cost: cost?,
        effect: effect?,
        timeout_ms: timeout?.as_millis() as u64,
        source: shown,
        examples: examples?,
    };
    Some(Manifest { spec: Arc::new(spec), source, file: file.to_owned() })
}

fn read_name(field: &Field<'_>) -> Option<ToolName> {
    let text = field.text()?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if text.is_empty() || text.len() > NAME || !text.chars().all(allowed) {
        field.wrong(&format!("1 to {NAME} letters, digits, `_`, `.` or `-`"));
        return None;
    }
    let name = ToolName::new(text);
    if name.is_special() || text == FINISH {
        field.refuse(format!("{text:?} is a node of the tool graph; choose another name"));
        return None;
    }
    Some(name)
}

/// The schema of the arguments, checked against the rules for schemas.
fn read_schema(field: &Field<'_>) -> Option<Value> {
    let mut schema = field.json()?;
    let Some(object) = schema.as_object_mut() else {
        field.wrong("a table with a JSON Schema of the arguments");
        return None;
    };
    let kind = object.entry("type").or_insert_with(|| "object".into());
    if kind != "object" {
        field.refuse(format!("arguments are an object: expected type = \"object\", got {kind}"));
        return None;
    }
    let fault: Option<String> = match jsonschema::meta::validate(&schema) {
        Err(error) => Some(format!("{error} (at {:?})", error.instance_path().as_str())),
        // Compiling every schema of 16,000 tools would be felt at start. Only references and
        // patterns can be wrong in a way that the rules do not show.
        Ok(()) if mentions(&schema, &["$ref", "$dynamicRef", "pattern", "patternProperties"]) => {
            Checker::new(&schema).fault().map(str::to_owned)
        }
        Ok(()) => None,
    };
    if let Some(fault) = fault {
        field.refuse(format!("not a JSON Schema: {}", clipped(&fault, 300)));
        return None;
    }
    Some(schema)
}

fn mentions(schema: &Value, keys: &[&str]) -> bool {
    match schema {
        Value::Object(map) => {
            map.iter().any(|(key, value)| keys.contains(&key.as_str()) || mentions(value, keys))
        }
        Value::Array(items) => items.iter().any(|item| mentions(item, keys)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// A built-in function whose arguments are not declared could never be called.
fn check_needs(
    fields: &Fields<'_>,
    parameters: Option<&Field<'_>>,
    schema: &Value,
    function: &Builtin,
) {
    for need in function.needs() {
        if schema.pointer(&format!("/properties/{need}")).is_none() {
            let text = format!(
                "the built-in tool `{}` needs the argument `{need}`; declare it in \
                 [parameters.properties.{need}]",
                function.name()
            );
            match parameters {
                Some(field) => field.refuse(text),
                None => fields.refuse(text),
            }
        }
    }
}

/// A source, and how it is shown to people.
fn read_source(mut fields: Fields<'_>, folder: &Path) -> Option<(Source, String)> {
    let builtin = fields.get("builtin");
    let command = fields.get("command");
    let recorded = fields.get("recorded");
    let given = [&builtin, &command, &recorded].into_iter().flatten().count();
    if given != 1 {
        fields.refuse(format!("expected one of `builtin`, `command`, `recorded`, got {given}"));
    }
    let source = match (builtin, command, recorded) {
        (Some(name), ..) => {
            let options = fields.get("options");
            Builtin::read(&name, options.as_ref()).map(|function| {
                let shown = format!("builtin {}", function.name());
                (Source::Builtin(function), shown)
            })
        }
        (None, Some(command), _) => read_command(&mut fields, &command, folder),
        (None, None, Some(recorded)) => read_recorded(&mut fields, &recorded, folder),
        (None, None, None) => None,
    };
    if given == 1 {
        fields.finish();
    }
    source
}

fn read_command(
    fields: &mut Fields<'_>,
    command: &Field<'_>,
    folder: &Path,
) -> Option<(Source, String)> {
    let env = fields.get("env").map_or(Some(Vec::new()), |field| field.texts());
    let set = fields.get("set").map_or(Some(Vec::new()), |field| {
        let variables = field.table()?.all();
        variables.iter().map(|(name, value)| Some(((*name).into(), value.text()?.into()))).collect()
    });
    let cwd = fields.get("cwd").map_or(Some(folder.to_owned()), |f| Some(folder.join(f.text()?)));
    let max_output = fields
        .get("max_output")
        .map_or(Some(MAX_OUTPUT as i64), |field| field.whole(1, 16 * 1024 * 1024));
    let mut words = command.texts()?.into_iter();
    let Some(program) = words.next().filter(|program| !program.is_empty()) else {
        command.refuse("expected a program and its arguments, such as [\"python3\", \"tool.py\"]");
        return None;
    };
    let args: Vec<String> = words.collect();
    if [&program].into_iter().chain(&args).any(|word| word.contains('\0')) {
        command.refuse("no word of a command can hold the character NUL");
        return None;
    }
    let shown = [&["command".into(), program.clone()], args.as_slice()].concat().join(" ");
    let cwd = cwd.filter(|cwd| !cwd.as_os_str().is_empty());
    let source = CommandSource {
        program,
        args,
        env: env?,
        set: set?.into_iter().collect(),
        cwd,
        max_output: max_output? as usize,
    };
    Some((Source::Command(source), clipped(&shown, 80)))
}

fn read_recorded(
    fields: &mut Fields<'_>,
    recorded: &Field<'_>,
    folder: &Path,
) -> Option<(Source, String)> {
    let otherwise = fields.get("otherwise").map(|field| field.text().map(str::to_owned));
    let name = recorded.text()?;
    match Table::load(&folder.join(name)) {
        Ok(mut table) => {
            table.otherwise = match otherwise {
                Some(text) => Some(text?),
                None => None,
            };
            Some((Source::Recorded(table), format!("recorded {}", clipped(name, 60))))
        }
        Err(problems) => {
            recorded.refuse_for(problems);
            None
        }
    }
}
