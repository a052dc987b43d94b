//! Parses the source of a tool.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Surroundings, ToolSource, http};
use crate::domain::words::clipped;
use crate::files::toml_file::{Problem, TomlField, TomlFields};
use crate::net::client::names_a_key;
use crate::net::learn;
use crate::{command::CommandSource, output::MAX_OUTPUT};

/// A source, and its description for people.
///
/// `remarks` gets obstacles to calls that may be gone when calls are made.
pub fn read(
    mut fields: TomlFields<'_>,
    around: &Surroundings<'_>,
    remarks: &mut Vec<Problem>,
) -> Option<(ToolSource, String)> {
    let builtin = fields.get("builtin");
    let command = fields.get("command");
    let recorded = fields.get("recorded");
    let url = fields.get("url");
    let given = [&builtin, &command, &recorded, &url].into_iter().flatten().count();
    if given != 1 {
        let kinds = "`builtin`, `command`, `recorded`, `url`";
        fields.refuse(format!("expected one of {kinds}, got {given}"));
    }
    let source = match (builtin, command, recorded, url) {
        (Some(name), ..) => {
            let options = fields.get("options");
            (around.builtins)(&name, options.as_ref()).map(|function| {
                let shown = format!("builtin {}", function.name);
                (ToolSource::Builtin(function), shown)
            })
        }
        (None, Some(command), ..) => read_command(&mut fields, &command, around.folder, remarks),
        (None, None, Some(recorded), _) => read_recorded(&mut fields, &recorded, around),
        (None, None, None, Some(url)) => {
            http::read(&mut fields, &url).map(|(source, shown)| (ToolSource::Http(source), shown))
        }
        (None, None, None, None) => None,
    };
    if given == 1 {
        fields.finish();
    }
    source
}

fn read_command(
    fields: &mut TomlFields<'_>,
    command: &TomlField<'_>,
    folder: &Path,
    remarks: &mut Vec<Problem>,
) -> Option<(ToolSource, String)> {
    let env = fields.get("env").map_or(Some(Vec::new()), |field| field.texts());
    let set = fields.get("set").map_or(Some(Vec::new()), |field| {
        let variables = field.table()?.all();
        variables.iter().map(|(name, value)| Some(((*name).into(), value.text()?.into()))).collect()
    });
    let cwd_field = fields.get("cwd");
    let cwd = match &cwd_field {
        Some(field) => field.text().map(|text| folder.join(text)),
        None => Some(folder.to_owned()),
    };
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
        command.refuse("a word of a command must not contain the character NUL");
        return None;
    }
    let (env, set): (_, BTreeMap<String, String>) = (env?, set?.into_iter().collect());
    learn_keys(&args, &env, &set);
    let shown = [&["command".into(), program.clone()], args.as_slice()].concat().join(" ");
    let cwd = cwd.filter(|cwd| !cwd.as_os_str().is_empty());
    match (&cwd_field, &cwd) {
        (Some(field), Some(cwd)) if !cwd.is_dir() => {
            remarks.push(field.problem(format!("no such folder: {}", cwd.display())));
        }
        _ => remarks.extend(missing_script(command, cwd.as_deref())),
    }
    let source = CommandSource { program, args, env, set, cwd, max_output: max_output? as usize };
    Some((ToolSource::Command(source), clipped(&shown, 80)))
}

/// Hides the keys that a program gets: its output may repeat them.
fn learn_keys(args: &[String], env: &[String], set: &BTreeMap<String, String>) {
    learn::words(args, names_a_key);
    let given = env.iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
    given.for_each(|(name, value)| learn::variable(name, &value));
    set.iter().for_each(|(name, value)| learn::variable(name, value));
}

/// Endings of files that an interpreter runs.
const SCRIPTS: [&str; 14] =
    ["py", "sh", "bash", "js", "mjs", "cjs", "ts", "rb", "pl", "php", "lua", "awk", "R", "jar"];

/// The first word of the command that is a script's file, if that file does not exist. The program may create the files
/// of other words.
fn missing_script(command: &TomlField<'_>, cwd: Option<&Path>) -> Option<Problem> {
    let words = command.list()?;
    let is_script = |word: &str| {
        let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
        !word.starts_with('-') && ending.is_some_and(|ending| SCRIPTS.contains(&ending))
    };
    let is_path =
        |(at, word): (usize, &str)| if at == 0 { word.contains('/') } else { is_script(word) };
    let place = words
        .iter()
        .enumerate()
        .find(|(at, word)| word.text().is_some_and(|word| is_path((*at, word))));
    let (_, field) = place?;
    let file = cwd.unwrap_or(Path::new("")).join(field.text()?);
    let text =
        || format!("no such file: {}; correct the name, or put the file there", file.display());
    (!file.exists()).then(|| field.problem(text()))
}

fn read_recorded(
    fields: &mut TomlFields<'_>,
    recorded: &TomlField<'_>,
    around: &Surroundings<'_>,
) -> Option<(ToolSource, String)> {
    let otherwise = fields.get("otherwise").map(|field| field.text().map(str::to_owned));
    let name = recorded.text()?;
    let file = around.folder.join(name);
    match around.tables.load(&file) {
        Ok(None) => {
            recorded.refuse(format!("{}: cannot be read: no such file", file.display()));
            None
        }
        Ok(Some(mut table)) => {
            table.otherwise = match otherwise {
                Some(text) => Some(text?),
                None => None,
            };
            Some((ToolSource::Recorded(table), format!("recorded {}", clipped(name, 60))))
        }
        Err(problems) => {
            recorded.refuse_for(problems);
            None
        }
    }
}
