//! `toolyard import openapi`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::question::agrees;
use super::{out, trouble::Trouble};
use crate::files::toml_file::Problems;
use crate::stage;
use crate::store::import::OpenApi;
use crate::tool::manifest::{self, Loaded, Manifest};
use crate::ui::text::clean;

#[derive(Debug, Args)]
pub struct OpenApiArgs {
    /// File of the API, in JSON or YAML.
    pub file: PathBuf,
    /// Create the workspace in this folder.
    #[arg(long, value_name = "WORKSPACE")]
    pub out: PathBuf,
    /// Address of the server that the tools call, such as https://api.example.org/v1.
    ///
    /// By default toolyard asks on a terminal whether to call the server in the file. Without a terminal, it writes the
    /// tools disabled.
    #[arg(long, value_name = "URL")]
    pub base: Option<String>,
    /// Replace the contents of an existing workspace.
    #[arg(long)]
    pub force: bool,
}

/// Turns a file into manifests, and says what they need.
///
/// # Errors
/// The file is not an OpenAPI document, or the workspace cannot be written.
pub fn import(args: &OpenApiArgs) -> Result<(), Trouble> {
    let OpenApiArgs { file, out: folder, base, force } = args;
    let base = base.as_deref().map(without_query);
    let api = OpenApi::read(file).map_err(Trouble::usage)?;
    let agreed = match (&base, api.server()) {
        (None, Some(server))
            if agrees(&format!("The file names the server {}. Call it?", clean(server))) =>
        {
            Some(server)
        }
        _ => base.as_deref(),
    };
    let imported = api.write(agreed, folder, *force, &check).map_err(Trouble::usage)?;
    for remark in &imported.remarks {
        out::warn(remark);
    }
    // The new files are read as the next session will read them.
    let loaded =
        manifest::load_dir(&folder.join("tools"), stage::builtins).and_then(Loaded::usable);
    for problem in loaded.map_err(Trouble::usage)?.problems {
        out::warn(&format!("{problem}; this tool is left out"));
    }
    out::print_line(format!("{imported}\nrun it: toolyard --workspace {}", folder.display()))
}

/// An address without what follows its path, which may be a key. No address of tools may have that, and the error would
/// repeat it.
fn without_query(base: &str) -> String {
    let rest = base.find(['?', '#']).map(|at| at + 1).filter(|at| *at < base.len());
    rest.map_or_else(|| base.to_owned(), |at| format!("{}…", &base[..at]))
}

/// Turns a file into a workspace of its name in the working directory.
///
/// # Errors
/// As [`import`].
pub fn import_beside(file: PathBuf) -> Result<PathBuf, Trouble> {
    let out = PathBuf::from(file.file_stem().unwrap_or(file.as_os_str()));
    import(&OpenApiArgs { file, out: out.clone(), base: None, force: false })?;
    Ok(out)
}

/// Reads a manifest as a session would.
///
/// # Errors
/// All faults of it.
pub fn check(file: &str, text: &str, folder: &Path) -> Result<(), Problems> {
    Manifest::parse(file, text, folder, stage::builtins).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_an_address_is_not_repeated() {
        for (base, shown) in [
            ("http://h/v1?key=k3y-in-a-query#part", "http://h/v1?…"),
            ("http://h/v1#k3y-in-a-fragment", "http://h/v1#…"),
            ("http://h/v1?", "http://h/v1?"),
            ("https://h/v1", "https://h/v1"),
        ] {
            assert_eq!(without_query(base), shown);
        }
    }
}
