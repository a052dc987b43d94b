//! The sections of the file. Each reader applies valid values and notes faults; the caller decides
//! once whether all was right.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use strum::VariantArray;

use super::{
    Config, ExperienceConfig, ReaderSettings, SessionConfig, ToolsConfig, UiConfig, model,
    removed_names, roles, workers,
};
use crate::domain::approval::{Approval, Rule};
use crate::domain::{Finite, Knob, KnobSpec, Knobs, knob::KNOBS, words};
use crate::files::toml_file::{Problem, Problems, TomlField, TomlFields};
use crate::mcp::config::{Surroundings, own_servers};
use crate::net::known;
use crate::ui::alert::{Alert, CallsBy};
use crate::ui::own::{OwnCommand, Shows};
use crate::ui::symbols::Charset;
use crate::ui::theme::load::{AUTO, built_in_names};
use crate::ui::{KeymapError, key::KeySequence, keymap::Keymap};
use crate::wire::WireFormat;

/// The lowest and the highest cost or value, in credits.
const SMALLEST: f64 = 0.001;
const DEAREST: f64 = 1e6;

/// The whole file. Relative paths start at `folder`.
pub(super) fn config(mut fields: TomlFields<'_>, folder: &Path) -> Config {
    let mut config = Config::default();
    fields.section("session", |fields| {
        config.chosen.strategy = fields.get("strategy").is_some();
        session(fields, folder, &mut config.session);
        if let (Some(field), Some(path)) = (fields.get("workspace"), &config.session.workspace) {
            let expected = "expected a folder with tools/*.toml in it";
            config.named_folders.push((path.clone(), no_folder(&field, path, expected)));
        }
    });
    fields.section("knobs", |fields| {
        config.chosen.speed = fields.get(Knob::Speed.spec().name).is_some();
        // Older files have milliseconds at each boundary; 0 meant what `off` means now.
        config.chosen.speed |=
            fields.get("pace").and_then(|field| field.number(0.0, 5000.0)) == Some(0.0);
        config.chosen.retrieve = fields.get(Knob::Retrieve.spec().name).is_some();
        knobs(fields, &mut config.knobs);
    });
    if let Some(fields) = fields.get("models").and_then(|field| field.table()) {
        model::models(&fields, folder, &mut config);
    }
    fields.section("roles", |fields| roles::roles(fields, &mut config));
    fields.section("ui", |fields| {
        ui(fields, folder, &mut config.ui);
        if let Some(fields) = fields.get("keys").and_then(|field| field.table()) {
            keys(&fields, &mut config);
        }
    });
    fields.section("tools", |fields| {
        tools(fields, folder, &mut config.tools);
        let named = fields.get("folders").and_then(|field| field.list()).unwrap_or_default();
        for (field, path) in named.iter().zip(&config.tools.folders) {
            let expected = "expected a folder of tool manifests";
            config.named_folders.push((path.clone(), no_folder(field, path, expected)));
        }
    });
    fields.section("experience", |fields| experience(fields, folder, &mut config.experience));
    fields.section("reader", |fields| reader(fields, folder, &mut config.reader));
    fields.section("cost", |fields| cost(fields, folder, &mut config));
    fields.section("workers", |fields| workers::workers(fields, &mut config.workers));
    fields.section("approval", |fields| approval(fields, &mut config.approval));
    fields.finish();
    config
}

fn no_folder(field: &TomlField<'_>, path: &Path, expected: &str) -> Problem {
    field.problem(format!("no such folder: {}; {expected}", path.display()))
}

fn session(fields: &mut TomlFields<'_>, folder: &Path, session: &mut SessionConfig) {
    fields.put("strategy", &mut session.strategy, parsed);
    fields.put("seed", &mut session.seed, |field| field.whole(0, i64::MAX).map(i64::unsigned_abs));
    fields.put("workspace", &mut session.workspace, |field| path(field, folder).map(Some));
    fields.put("journals", &mut session.journals, |field| path(field, folder).map(Some));
}

fn parsed<T: std::str::FromStr<Err = String>>(field: &TomlField<'_>) -> Option<T> {
    field.text()?.parse().map_err(|why: String| field.refuse(why)).ok()
}

/// A path; `~/` is the user's home.
pub(super) fn path(field: &TomlField<'_>, folder: &Path) -> Option<PathBuf> {
    let text = field.text()?;
    if text.is_empty() || text.contains('\0') {
        field.wrong("a path");
        return None;
    }
    let Some(below) = text.strip_prefix("~/") else {
        // `.` is the folder itself, also where its name is shown.
        return Some(folder.join(text).components().collect());
    };
    let home = directories::BaseDirs::new().map(|base| base.home_dir().join(below));
    let home = home.filter(|home| home.is_absolute());
    if home.is_none() {
        field.refuse("`~` needs a home directory; write the full path");
    }
    home
}

fn knobs(fields: &mut TomlFields<'_>, knobs: &mut Knobs) {
    for spec in KNOBS {
        if let Some(value) = fields.get(spec.name).and_then(|field| knob(&field, spec)) {
            knobs.set(spec.knob, value);
        }
    }
}

/// A knob's value as a number, as true or false, or as text.
fn knob(field: &TomlField<'_>, spec: &KnobSpec) -> Option<f64> {
    let value = field.json()?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let value = spec.parse(&text).ok();
    if value.is_none() {
        field.wrong(&spec.range());
    }
    value
}

fn ui(fields: &mut TomlFields<'_>, folder: &Path, ui: &mut UiConfig) {
    fields.put("theme", &mut ui.theme, |field| theme(field, folder));
    fields.put("symbols", &mut ui.symbols, |field| field.one_of(&Charset::NAMES));
    fields.put("mouse", &mut ui.mouse, TomlField::flag);
    fields.put("shots", &mut ui.shots, |field| path(field, folder).map(Some));
    fields.put("alerts", &mut ui.alerts.on, alerts);
    fields.put("alerts_by", &mut ui.alerts.by, |field| field.one_of(&named::<CallsBy>()));
    if let Some(fields) = fields.get("commands").and_then(|field| field.table()) {
        ui.commands = own_commands(&fields);
    }
}

/// The name of a built-in theme, or the path of a file. The file's content is not checked here: its reader skips
/// faults.
fn theme(field: &TomlField<'_>, folder: &Path) -> Option<String> {
    let text = field.text()?;
    if text.ends_with(".toml") {
        return path(field, folder).map(|path| path.display().to_string());
    }
    let known = || std::iter::once(AUTO).chain(built_in_names());
    if !known().any(|name| name == text) {
        let expected = words::expected(text, known());
        field.refuse(format!("unknown theme {text:?}; {expected}; or a path ending in .toml"));
        return None;
    }
    Some(text.to_owned())
}

/// Lists all values with their names in the file.
fn named<T: VariantArray + Copy + Into<&'static str>>() -> Vec<(&'static str, T)> {
    T::VARIANTS.iter().map(|value| ((*value).into(), *value)).collect()
}

fn alerts(field: &TomlField<'_>) -> Option<Vec<Alert>> {
    let each = field.list()?;
    each.iter().map(|field| field.one_of(&named::<Alert>())).collect()
}

/// The user's own commands, in the order of the file. A command whose key is taken is reported.
fn own_commands(fields: &TomlFields<'_>) -> Vec<OwnCommand> {
    let mut commands: Vec<OwnCommand> = Vec::new();
    for (name, field) in fields.all() {
        let Some(mut of_command) = field.table() else { continue };
        let mut command = OwnCommand { name: name.to_owned(), ..OwnCommand::default() };
        let advice = "a line for the shell, such as \"jq . {json}\"";
        let run = of_command
            .need("run", advice)
            .and_then(|field| field.filled(advice).map(str::to_owned));
        command.run = run.unwrap_or_default();
        of_command.put("doc", &mut command.doc, |field| field.text().map(str::to_owned));
        of_command.put("shows", &mut command.shows, |field| field.one_of(&named::<Shows>()));
        of_command.put("key", &mut command.key, |field| {
            let keys = field.text()?;
            if let Some(other) = commands.iter().find(|other| other.key.as_deref() == Some(keys)) {
                field.refuse(format!("`{keys}` also runs {}; give it another key", other.name));
                return None;
            }
            let read = KeySequence::to_bind(keys);
            read.map(|_| Some(keys.to_owned())).map_err(|why| field.refuse(why)).ok()
        });
        of_command.finish();
        commands.push(command);
    }
    commands
}

fn keys(fields: &TomlFields<'_>, config: &mut Config) {
    let ui = &mut config.ui;
    let mut all: Vec<(String, TomlField<'_>)> = Vec::new();
    for (name, field) in fields.all() {
        // A table is a layer: `[ui.keys.graph] pin = "p"`.
        match field.is_table().then(|| field.table()).flatten() {
            Some(layer) => {
                let of_layer = layer.all().into_iter();
                all.extend(of_layer.map(|(action, field)| (format!("{name}.{action}"), field)));
            }
            None => all.push((name.to_owned(), field)),
        }
    }
    for (action, field) in &all {
        if let Some(notice) = removed_names::action(action, field) {
            config.gone.notices.push(notice);
            continue;
        }
        // One key needs no brackets.
        let keys = if field.is_text() {
            field.text().map(|key| vec![key.to_owned()])
        } else {
            field.texts()
        };
        if let Some(keys) = keys {
            ui.keys.insert(action.clone(), keys);
        }
    }
    for error in Keymap::new(&ui.keys).1 {
        if let Some((action, why)) = fault(&error, &ui.keys)
            && let Some((_, field)) = all.iter().find(|(name, _)| name == action)
        {
            field.refuse(why);
        }
    }
}

/// The action of the faulty line, and the fault. Taking a key from an action's defaults is not a
/// fault: the user's choice counts, even if a later version has more defaults.
fn fault<'e>(
    error: &'e KeymapError,
    own: &BTreeMap<String, Vec<String>>,
) -> Option<(&'e str, String)> {
    let action = match error {
        KeymapError::Unknown { name, .. } => name.as_str(),
        KeymapError::Conflict { second, .. } if !own.contains_key(second) => return None,
        KeymapError::Conflict { first, .. } => first,
        KeymapError::Lost { keys, .. } if !keys.iter().any(|(_, name)| own.contains_key(name)) => {
            return None;
        }
        KeymapError::Lost { first, .. } => first,
    };
    let text = error.to_string();
    // The problem already names the field.
    let why = text.strip_prefix(&format!("keys.{action}: ")).unwrap_or(&text);
    Some((action, why.to_owned()))
}

fn tools(fields: &mut TomlFields<'_>, folder: &Path, tools: &mut ToolsConfig) {
    fields.put("folders", &mut tools.folders, |field| paths(field, folder));
    fields.put("mcp_files", &mut tools.mcp_files, |field| paths(field, folder));
    if let Some(table) = fields.get("mcp") {
        let home = directories::BaseDirs::new();
        let home = home.as_ref().map(directories::BaseDirs::home_dir);
        tools.servers = own_servers(&table, &Surroundings::of_process(home, folder));
    }
}

fn reader(fields: &mut TomlFields<'_>, folder: &Path, reader: &mut ReaderSettings) {
    fields.put("model", &mut reader.model, |field| path(field, folder).map(Some));
    fields.put("heads", &mut reader.heads, |field| paths(field, folder));
    fields.section("embeddings", |fields| {
        reader.embeddings = model::endpoint("embeddings", WireFormat::Chat, fields, folder);
    });
}

fn paths(field: &TomlField<'_>, folder: &Path) -> Option<Vec<PathBuf>> {
    Some(field.list()?.iter().filter_map(|field| path(field, folder)).collect())
}

fn experience(fields: &mut TomlFields<'_>, folder: &Path, experience: &mut ExperienceConfig) {
    fields.put("file", &mut experience.file, |field| path(field, folder).map(Some));
    fields.section("embeddings", |fields| {
        experience.embeddings = model::endpoint("embeddings", WireFormat::Chat, fields, folder);
    });
}

/// Reads the lists of rules for tool calls that need consent.
fn approval(fields: &mut TomlFields<'_>, approval: &mut Approval) {
    let rules = |field: &TomlField<'_>| {
        let read = field.list()?.into_iter().map(|field| {
            let read = Rule::read(field.text()?);
            read.map_err(|why| field.refuse_briefly(&why)).ok()
        });
        read.collect::<Vec<_>>().into_iter().collect::<Option<Vec<Rule>>>()
    };
    fields.put("deny", &mut approval.deny, rules);
    fields.put("allow", &mut approval.allow, rules);
    fields.put("ask", &mut approval.ask, rules);
}

/// Unknown prices count as at least [`SMALLEST`]: at 0 they would be free.
fn cost(fields: &mut TomlFields<'_>, folder: &Path, config: &mut Config) {
    let rates = &mut config.cost;
    let exchange = |field: &TomlField<'_>| field.number(0.0, DEAREST).map(Finite::from);
    let unknown = |field: &TomlField<'_>| field.number(SMALLEST, DEAREST).map(Finite::from);
    fields.put("credits_per_dollar", &mut rates.credits_per_dollar, exchange);
    fields.put("credits_per_second", &mut rates.credits_per_second, exchange);
    fields.put("unknown_ask", &mut rates.unknown_ask, unknown);
    fields.put("unknown_tool", &mut rates.unknown_tool, unknown);
    fields
        .put("max_dollars", &mut config.max_dollars, |field| field.number(0.0, DEAREST).map(Some));
    fields.put("prices", &mut config.prices, |field| path(field, folder).map(Some));
}

/// The problems without anything that looks like a key: the message about a misplaced key must not put it into a log.
pub(super) fn without_keys(mut problems: Problems) -> Problems {
    for problem in &mut problems.0 {
        problem.text = known::without_keys(&problem.text);
        problem.field = known::without_keys(&problem.field);
    }
    problems
}
