//! `toolyard prompts`: the prompts, and the files with which a workspace overrides them.

use std::path::Path;

use super::{PromptsArgs, out, trouble::Trouble};
use crate::domain::{Prompt, PromptSpec, Prompts, prompt::PROMPTS, words};
use crate::store;
use crate::{config::Config, workspace};

pub fn prompts(args: &PromptsArgs) -> Result<(), Trouble> {
    let one = args.name.as_deref().map(named).transpose()?;
    if let Some(folder) = &args.write {
        return write(folder, one);
    }
    let config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
    let folder = config.workspace(args.workspace.as_deref()).map_err(Trouble::usage)?;
    let prompts = workspace::prompts_of(folder).map_err(Trouble::usage)?;
    match one {
        Some(spec) => out::print_line(prompts.text(spec.prompt)),
        None => out::print(table(&prompts)),
    }
}

fn named(name: &str) -> Result<&'static PromptSpec, Trouble> {
    Prompt::by_name(name).map(Prompt::spec).ok_or_else(|| {
        let near = words::expected(name, PROMPTS.iter().map(|spec| spec.name));
        Trouble::Usage(format!("unknown prompt {name:?}; {near}"))
    })
}

fn write(folder: &Path, one: Option<&'static PromptSpec>) -> Result<(), Trouble> {
    let wanted: Vec<_> = one.map_or_else(|| PROMPTS.iter().collect(), |spec| vec![spec]);
    let written = store::prompts::write(folder, &wanted).map_err(Trouble::usage)?;
    out::print(written.iter().map(|path| format!("{}\n", path.display())).collect::<String>())
}

/// Formats one line per prompt; `*` marks those that the workspace overrides.
fn table(prompts: &Prompts) -> String {
    let mut table = line(' ', "prompt", "read by", "purpose, and required words in its text");
    for spec in PROMPTS {
        let mark = if prompts.is_overridden(spec.prompt) { '*' } else { ' ' };
        let roles: Vec<_> = spec.roles.iter().map(|role| role.name()).collect();
        let must = spec.placeholders.iter().chain(spec.markers);
        let must: Vec<_> = must.map(|words| format!("`{words}`")).collect();
        let what = match must.is_empty() {
            true => spec.doc.to_owned(),
            false => format!("{}; {}", spec.doc, must.join(", ")),
        };
        table += &line(mark, spec.name, &roles.join(", "), &what);
    }
    table
}

fn line(mark: char, name: &str, roles: &str, what: &str) -> String {
    format!("{mark} {name:<17} {roles:<15} {what}\n")
}
