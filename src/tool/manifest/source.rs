//! Parses the source of a tool.

use std::path::Path;

use super::{Source, http};
use crate::domain::words::clipped;
use crate::files::toml_file::{Field, Fields};
use crate::tool::{builtin::Builtin, command::CommandSource, output::MAX_OUTPUT, recorded::Table};

/// A source, and its description for people.
pub fn read(mut fields: Fields<'_>, folder: &Path) -> Option<(Source, String)> {
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
            Builtin::read(&name, options.as_ref()).map(|function| {
                let shown = format!("builtin {}", function.name());
                (Source::Builtin(function), shown)
            })
        }
        (None, Some(command), ..) => read_command(&mut fields, &command, folder),
        (None, None, Some(recorded), _) => read_recorded(&mut fields, &recorded, folder),
        (None, None, None, Some(url)) => {
            http::read(&mut fields, &url).map(|(source, shown)| (Source::Http(source), shown))
        }
        (None, None, None, None) => None,
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
        command.refuse("a word of a command must not contain the character NUL");
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
