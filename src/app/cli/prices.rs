//! `toolyard import prices`.

use std::fs;
use std::path::{Path, PathBuf};

use super::{out, trouble::Trouble};
use crate::config::{Config, default_prices};
use crate::store::{import, prices::litellm};
use crate::ui::text::clean;

/// Reads LiteLLM's table and writes our own table where sessions look for it.
pub fn import(file: &Path, to: Option<&Path>, config: Option<&Path>) -> Result<(), Trouble> {
    let to = match to {
        Some(to) => to.to_owned(),
        None => place(config)?,
    };
    let today = jiff::Zoned::now().date().to_string();
    let imported = litellm::import(file, &today).map_err(Trouble::usage)?;
    if let Some(folder) = to.parent() {
        let failed =
            |error| Trouble::Failed(format!("{}: cannot be created: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let text = imported.table.to_json().map_err(Trouble::failed)?;
    import::write_file(&to, &text).map_err(Trouble::failed)?;
    let said = imported.to_string();
    let said: Vec<_> = said.lines().map(clean).collect();
    out::print_line(format!("{}\nwritten to {}", said.join("\n"), to.display()))
}

/// The configured place of prices, whether it exists or not.
fn place(config: Option<&Path>) -> Result<PathBuf, Trouble> {
    let file = Config::file(config, &|name| std::env::var_os(name));
    let config = file.map(|file| Config::load(&file)).transpose().map_err(Trouble::usage)?;
    config.and_then(|config| config.prices).or_else(default_prices).ok_or_else(|| {
        Trouble::Usage("no home directory for the price file; use --out FILE".to_owned())
    })
}
