//! `toolyard experience`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{ExperienceCommand, StoreArgs, colour, out, runtime::runtime, trouble::Trouble};
use crate::domain::words::counted;
use crate::files::whole_file;
use crate::model::{Embedder, Embeddings};
use crate::store::experience::{Experience, ExperienceError, Imported, Prune, Summary};
use crate::ui::text::clean;
use crate::{config::Config, session};

/// Queries per request to an embedding model; endpoints accept at least some hundred.
const TEXTS_AT_ONCE: u32 = 64;

pub fn experience(command: &ExperienceCommand) -> Result<(), Trouble> {
    match command {
        ExperienceCommand::Import { lines, source, store } => {
            import(lines, source.as_deref(), &file(store)?)
        }
        ExperienceCommand::Export { out, store } => export(out.as_deref(), &file(store)?),
        ExperienceCommand::Prune { older_than, keep, tool, source, all: _, dry_run, store } => {
            let what = Prune {
                since: None,
                before: older_than.map(ago).transpose()?,
                keep: *keep,
                tool: tool.as_deref().map(Into::into),
                source: source.clone(),
            };
            prune(&what, *dry_run, &file(store)?)
        }
        ExperienceCommand::Embed { most, store } => {
            let config = Config::find(store.config.config.as_deref()).map_err(Trouble::usage)?;
            let model = session::embedder(&config)?;
            let model = model.as_ref().and_then(|model| model.embedder()).ok_or_else(|| {
                let text = "no embedding model is configured; see [experience.embeddings] in \
                    config.example.toml";
                Trouble::Usage(text.to_owned())
            })?;
            embed(model, most.unwrap_or(u32::MAX), &file(store)?)
        }
        ExperienceCommand::Show { json, store } => show(*json, &file(store)?),
    }
}

/// The file of past uses.
fn file(args: &StoreArgs) -> Result<PathBuf, Trouble> {
    if let Some(file) = &args.file {
        return Ok(file.clone());
    }
    let config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
    config.experience_file(args.workspace.as_deref()).ok_or_else(|| {
        Trouble::Usage("no home directory; name the file with --file FILE".to_owned())
    })
}

/// Returns the time this many days ago.
fn ago(days: u32) -> Result<Timestamp, Trouble> {
    let length = SignedDuration::from_hours(24 * i64::from(days));
    let then = Timestamp::now().checked_sub(length);
    then.map_err(|_| Trouble::Usage(format!("--older-than {days}: too long ago")))
}

fn import(lines: &Path, source: Option<&str>, file: &Path) -> Result<(), Trouble> {
    let name = lines.file_name().unwrap_or_default().to_string_lossy();
    let origin = source.unwrap_or(&name);
    let mut store = Experience::open(file).map_err(Trouble::from)?;
    let imported = store.import(lines, origin, Timestamp::now()).map_err(Trouble::from)?;
    let Imported { added, known } = imported;
    let before = match known {
        0 => String::new(),
        _ => format!(" ({} of {} were imported before)", known, uses(added + known)),
    };
    out::print_line(format!("{} → {}{before}", uses(added), file.display()))
}

fn export(to: Option<&Path>, file: &Path) -> Result<(), Trouble> {
    let store = Experience::open_existing(file).map_err(Trouble::from)?;
    let Some(to) = to else { return print(&store) };
    if fs::canonicalize(to).is_ok_and(|to| fs::canonicalize(file).is_ok_and(|file| file == to)) {
        return Err(Trouble::Usage(format!("--out {}: that is the store itself", to.display())));
    }
    let exported =
        whole_file::write_private(to, |out| store.export(out)).map_err(|error| match error {
            ExperienceError::Write(source) => {
                Trouble::Failed(format!("{}: {source}", to.display()))
            }
            error => error.into(),
        })?;
    out::print_line(format!("{} → {}", uses(exported), to.display()))
}

fn print(store: &Experience) -> Result<(), Trouble> {
    let mut out = out::OutputBuffer::default();
    match store.export(&mut out) {
        Ok(_) => out::accepted(out.flush()),
        Err(ExperienceError::Write(error)) => out::accepted(Err(error)),
        Err(error) => Err(error.into()),
    }
}

fn prune(what: &Prune, is_dry: bool, file: &Path) -> Result<(), Trouble> {
    let mut store = Experience::open_existing(file).map_err(Trouble::from)?;
    if is_dry {
        let n = store.would_prune(what).map_err(Trouble::from)?;
        return out::print_line(format!("{} would be deleted from {}", uses(n), file.display()));
    }
    let pruned = store.prune(what).map_err(Trouble::from)?;
    out::print_line(format!(
        "deleted {} and {} without remaining uses from {}",
        uses(pruned.uses),
        queries(pruned.queries),
        file.display()
    ))
}

fn embed(model: &dyn Embedder, most: u32, file: &Path) -> Result<(), Trouble> {
    let mut store = Experience::open_existing(file).map_err(Trouble::from)?;
    let runtime = runtime()?;
    let (mut read, mut tokens) = (0, 0);
    while read < most {
        let wanted = TEXTS_AT_ONCE.min(most - read);
        let texts = store.without_embedding(model.model(), wanted).map_err(Trouble::from)?;
        if texts.is_empty() {
            break;
        }
        let Embeddings { embeddings, usage, notice } =
            runtime.block_on(model.embed(&texts)).map_err(Trouble::failed)?;
        notice.iter().for_each(|notice| out::warn(notice));
        let kept: Vec<_> = texts.iter().map(String::as_str).zip(embeddings).collect();
        store.keep_embeddings(&kept).map_err(Trouble::from)?;
        read += wanted.min(u32::try_from(texts.len()).unwrap_or(u32::MAX));
        tokens = usage.tokens_in.saturating_add(tokens);
    }
    let model = clean(model.model());
    let read = queries(read.into());
    out::print_line(format!("{model} embedded {read}, {}", many(tokens, "token")))
}

fn show(as_json: bool, file: &Path) -> Result<(), Trouble> {
    let store = Experience::open_existing(file).map_err(Trouble::from)?;
    let Summary { uses: n, queries: asked, tools } = store.summary().map_err(Trouble::from)?;
    if as_json {
        let file = file.display().to_string();
        let all = json!({ "file": file, "uses": n, "queries": asked, "tools": tools });
        return out::print_pretty(&all);
    }
    let mut text = format!("{} in {} · {}\n", uses(n), queries(asked), file.display());
    if !tools.is_empty() {
        text += &format!("{:<40} {:>9} {:>8} {:>9}\n", "tool", "uses", "helpful", "queries");
    }
    for tool in tools {
        let name = clean(tool.tool.as_str());
        let share = 100.0 * tool.helpful as f64 / tool.uses as f64;
        text += &format!("{name:<40} {:>9} {share:>7.0}% {:>9}\n", tool.uses, tool.queries);
    }
    out::print(colour::headed(&text, 1))
}

fn many(n: u64, thing: &str) -> String {
    counted(usize::try_from(n).unwrap_or(usize::MAX), thing)
}

fn uses(n: u64) -> String {
    many(n, "use")
}

fn queries(n: u64) -> String {
    many(n, "query")
}
