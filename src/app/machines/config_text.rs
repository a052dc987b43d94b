//! A configuration for another machine: the same settings, with the places that its files will have there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf, absolute};

use toml::Value;

use super::order::there;
use crate::config::{self, Config, ModelConfig};

/// Settings of a screen, and of this machine.
const NOT_SENT: [&str; 2] = ["ui", "session"];

/// The text of the configuration with this file, and the files that it names.
///
/// # Errors
/// The file cannot be read any more.
pub fn config_text(
    config: &Config,
    file: Option<&Path>,
) -> Result<(String, BTreeSet<PathBuf>), String> {
    let text = file.map_or(Ok(String::new()), |file| {
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
    })?;
    let mut table: toml::Table = text.parse().map_err(|error| format!("configuration: {error}"))?;
    table.retain(|name, _| !NOT_SENT.contains(&name));
    let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
    let whole = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_owned());
    let certificates = config.models.values().filter_map(|model| match model {
        ModelConfig::Hosted(endpoint) => endpoint.ca_file.as_ref(),
        ModelConfig::Simulated(_) => None,
    });
    let named = config.tools.folders.iter().chain(&config.tools.mcp_files);
    let named = named.chain(&config.reader.heads).chain(&config.reader.model).chain(certificates);
    let mut files: BTreeSet<PathBuf> = named.map(|path| whole(path)).collect();
    let prices =
        config.prices.clone().or_else(|| config::default_prices().filter(|it| it.exists()));
    if let Some(prices) = prices.map(|path| whole(&path)) {
        table.insert("prices".to_owned(), Value::String(there(&prices).display().to_string()));
        files.insert(prices);
    }
    let mut used = BTreeSet::new();
    for value in table.iter_mut().map(|(_, value)| value) {
        place(value, folder, &files, &mut used);
    }
    // A reader that only a variable names is that of the worker.
    let files = files.into_iter().filter(|file| used.contains(file) || is_prices(&table, file));
    let files = files.collect();
    let text = toml::to_string(&table).map_err(|error| format!("configuration: {error}"))?;
    Ok((text, files))
}

fn is_prices(table: &toml::Table, file: &Path) -> bool {
    table.get("prices").and_then(Value::as_str) == there(file).to_str()
}

/// Replaces each text that is the path of one of these files.
fn place(
    value: &mut Value,
    folder: &Path,
    files: &BTreeSet<PathBuf>,
    used: &mut BTreeSet<PathBuf>,
) {
    match value {
        Value::String(text) => {
            let path = absolute(folder.join(&*text)).unwrap_or_default();
            if files.contains(&path) {
                *text = there(&path).display().to_string();
                used.insert(path);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|it| place(it, folder, files, used)),
        Value::Table(table) => {
            table.iter_mut().for_each(|(_, it)| place(it, folder, files, used));
        }
        _ => {}
    }
}
