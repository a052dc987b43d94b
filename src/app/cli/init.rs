//! `toolyard init`: begins a project.

use std::path::Path;

use super::{init_args::InitArgs, out, runtime, trouble::Trouble};
use crate::app::config::{PROVIDERS, Provider};
use crate::app::init::{self, Found, Written};
use crate::domain::words::counted;
use crate::ui::text::clean;

/// Looks for models, writes the files of a project, and says what comes next.
pub fn init(args: &InitArgs) -> Result<(), Trouble> {
    let local = PROVIDERS.iter().filter(|provider| provider.key.is_none());
    let environment = |name: &str| std::env::var_os(name);
    let places: Vec<_> = local.map(|local| (local, local.address(&environment))).collect();
    let found = runtime()?.block_on(init::find(&places, &environment));
    let mut lines = told(&places, &found);
    let mut is_new = false;
    for file in init::files(&found) {
        let written = match args.dry_run {
            true if file.is_there(&args.dir) => Written::Kept,
            true => Written::New,
            false => file.write(&args.dir).map_err(Trouble::Failed)?,
        };
        is_new |= file.path == CONFIG && written == Written::New;
        let what = match (written, args.dry_run) {
            (Written::New, false) => "wrote",
            (Written::New, true) => "would write",
            (Written::Kept, _) => "left unchanged, since it exists:",
        };
        lines.push(format!("{what} {}", args.dir.join(file.path).display()));
    }
    if !is_new {
        lines.push(format!("the models that were found are not in {CONFIG}, which existed"));
    }
    lines.extend(next(&args.dir, args.dry_run));
    let lines: Vec<_> = lines.iter().map(|line| clean(line)).collect();
    out::print_line(lines.join("\n"))
}

const CONFIG: &str = "config.toml";

/// What was looked for, and what was found.
fn told(places: &[(&'static Provider, String)], found: &[Found]) -> Vec<String> {
    let mut lines = Vec::new();
    for (provider, url) in places {
        let here = found.iter().find(|found| found.provider == *provider);
        lines.push(match here {
            Some(found) => {
                let models = counted(found.models.len(), "model");
                format!("found {} at {url}: {models}, such as {}", provider.name, found.models[0])
            }
            None => format!("nothing of {} at {url}", provider.name),
        });
    }
    let keys = found.iter().filter_map(|found| found.provider.key);
    let keys: Vec<_> = keys.collect();
    lines.push(match keys.is_empty() {
        true => "no known key is in the environment".to_owned(),
        false => format!("found in the environment: {} (not read)", keys.join(", ")),
    });
    lines.push(match found.first() {
        Some(first) => format!("all roles use {}", first.provider.name),
        None => "all roles use the simulated model".to_owned(),
    });
    lines
}

/// The commands that come next.
fn next(folder: &Path, dry_run: bool) -> Vec<String> {
    if dry_run {
        return Vec::new();
    }
    let config = folder.join(CONFIG);
    let config = config.strip_prefix(".").unwrap_or(&config).display();
    let lines = [
        String::new(),
        "next:".to_owned(),
        format!("  toolyard doctor --config {config}    check it"),
        format!("  toolyard run --config {config}       run its tasks"),
        format!("  toolyard --config {config}           the same on the screen"),
    ];
    lines.into()
}
