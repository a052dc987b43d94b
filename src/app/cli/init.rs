//! `toolyard init`: begins a project.

use std::path::Path;

use super::{found_servers, init_args::InitArgs, out, project, runtime::runtime, trouble::Trouble};
use crate::domain::words::counted;
use crate::init::{self, WriteOutcome};
use crate::servers::{self, Absent, ModelServer, ServerAddress};
use crate::trial::{self, Behaviour};
use crate::ui::text::clean;

/// Looks for models, writes the files of a project, and prints the next steps.
pub fn init(args: &InitArgs) -> Result<(), Trouble> {
    let environment = |name: &str| std::env::var_os(name);
    let places = servers::places(&environment).map_err(Trouble::Usage)?;
    let looked = runtime()?.block_on(servers::look(&places, !args.no_probe));
    let mut lines = local(&places, &looked);
    let mut found: Vec<ModelServer> = looked.into_iter().flatten().collect();
    // The roles use the first model, which should call tools.
    found.sort_by_key(|found| {
        found.tried.as_ref().is_some_and(|tried| tried.behaviour != Behaviour::Native)
    });
    found.extend(servers::hosted(&environment));
    lines.extend(chosen(&found));
    let folder = args.dir.canonicalize().unwrap_or_else(|_| args.dir.clone());
    let servers = found_servers::found(&folder);
    lines.extend(servers.iter().map(|(place, keys)| {
        format!("found MCP servers of {}: {}", place.program, keys.join(", "))
    }));
    let mcp_files = if args.dry_run { Vec::new() } else { found_servers::wanted(&servers) };
    if let Some((place, _)) = servers.first().filter(|_| mcp_files.is_empty()) {
        let path = place.path.display();
        lines.push(format!("  not used; `mcp_files` in config.toml or `--mcp {path}` starts them"));
    }
    let mut is_new = false;
    for file in init::files(&found, &mcp_files) {
        let written = match args.dry_run {
            true if file.is_there(&args.dir) => WriteOutcome::Kept,
            true => WriteOutcome::New,
            false => file.write(&args.dir).map_err(Trouble::Failed)?,
        };
        is_new |= file.path == CONFIG && written == WriteOutcome::New;
        let what = match (written, args.dry_run) {
            (WriteOutcome::New, false) => "wrote",
            (WriteOutcome::New, true) => "would write",
            (WriteOutcome::Kept, _) => "unchanged, since it exists:",
        };
        lines.push(format!("{what} {}", args.dir.join(file.path).display()));
    }
    if is_new && !args.dry_run {
        project::remember(&args.dir.join(CONFIG));
    }
    if !is_new {
        lines.push(format!("{CONFIG} existed already, so the models found are not in it"));
    }
    lines.extend(next(&args.dir, args.dry_run));
    let lines: Vec<_> = lines.iter().map(|line| clean(line)).collect();
    out::print_line(lines.join("\n"))
}

pub(super) const CONFIG: &str = "config.toml";

/// Lines about the model server found, or not found, at each place.
fn local(places: &[ServerAddress], looked: &[Result<ModelServer, Absent>]) -> Vec<String> {
    let mut lines = Vec::new();
    for (ServerAddress { provider, url }, looked) in places.iter().zip(looked) {
        let name = provider.name;
        let found = match looked {
            Ok(found) => found,
            Err(absent) => {
                lines.push(match absent {
                    Absent::Nothing => format!("no {name} at {url}"),
                    Absent::NoModel => format!("no {name} at {url}: it lists no chat model"),
                    Absent::Failed(why) => format!("no {name} at {url}: {why}"),
                });
                continue;
            }
        };
        let models = counted(found.models.len(), "model");
        lines.push(format!("found {name} at {url}: {models}, such as {}", found.models[0]));
        let Some(tried) = &found.tried else { continue };
        let window = tried.window.map(|window| trial::of_window(window, 0, tried.server));
        for words in [trial::words(&tried.behaviour, tried.server)].into_iter().chain(window) {
            lines.push(format!("  {}: {}", found.models[0], words.text));
            lines.extend(words.advice.map(|advice| format!("  → {advice}")));
        }
    }
    lines
}

/// The keys that were found, and the model that all roles use.
fn chosen(found: &[ModelServer]) -> [String; 2] {
    let keys: Vec<_> = found.iter().filter_map(|found| found.provider.key).collect();
    let keys = match keys.is_empty() {
        true => "no known key in the environment".to_owned(),
        false => format!("found in the environment: {} (not read)", keys.join(", ")),
    };
    let roles = match found.first() {
        Some(first) => format!("all roles use {}", first.provider.name),
        None => "all roles use the simulated model".to_owned(),
    };
    [keys, roles]
}

/// The commands of the next steps.
fn next(folder: &Path, dry_run: bool) -> Vec<String> {
    if dry_run {
        return Vec::new();
    }
    let enter = Some(folder).filter(|folder| *folder != Path::new("."));
    let enter = enter.map(|folder| format!("  cd {}", folder.display()));
    let lines = [
        "  toolyard doctor    check it".to_owned(),
        "  toolyard run       run its tasks".to_owned(),
        "  toolyard           the same on the screen".to_owned(),
    ];
    let head = [String::new(), "next:".to_owned()].into_iter();
    head.chain(enter).chain(lines).collect()
}
