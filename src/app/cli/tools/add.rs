//! `toolyard tools add`: an MCP server in the configuration.

use std::fs;
use std::path::PathBuf;

use super::args::AddArgs;
use crate::cli::{out, trouble::Trouble};
use crate::config::{self, Config};
use crate::files::whole_file;

/// Appends the entry to the file, which is otherwise unchanged.
///
/// # Errors
/// The server exists already, or the configuration would not be valid.
pub fn add(args: &AddArgs) -> Result<(), Trouble> {
    let file = file(args)?;
    let before = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Trouble::Usage(format!("{}: {error}", file.display()))),
    };
    let gap = match before.is_empty() || before.ends_with("\n\n") {
        true => "",
        false if before.ends_with('\n') => "\n",
        false => "\n\n",
    };
    let text = format!("{before}{gap}{}", entry(args)?);
    Config::parse(&file.display().to_string(), &text).map_err(Trouble::usage)?;
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(Trouble::failed)?;
    }
    let written = whole_file::write_private(&file, |out| out.write_all(text.as_bytes()));
    written.map_err(|error| Trouble::Failed(format!("{}: {error}", file.display())))?;
    let (key, path) = (&args.key, file.display());
    out::print_line(format!("added {key} to {path}; `toolyard tools check` starts it"))
}

/// The file that the next session reads.
fn file(args: &AddArgs) -> Result<PathBuf, Trouble> {
    let named = Config::file(args.config.config.as_deref(), &|name| std::env::var_os(name));
    named.or_else(config::default_path).ok_or_else(|| {
        Trouble::Usage("there is no home directory; name a file with --config".to_owned())
    })
}

/// The entry as TOML.
fn entry(args: &AddArgs) -> Result<String, Trouble> {
    let mut server = toml::Table::new();
    let pairs = |given: &[String]| -> Result<toml::Table, Trouble> {
        let pair = |text: &String| match text.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.into())),
            None => Err(Trouble::Usage(format!("expected NAME=VALUE, got {text:?}"))),
        };
        given.iter().map(pair).collect()
    };
    match (&args.url, args.command.split_first()) {
        (Some(url), _) => {
            server.insert("type".to_owned(), "http".into());
            server.insert("url".to_owned(), url.as_str().into());
        }
        (None, Some((command, rest))) => {
            server.insert("command".to_owned(), command.as_str().into());
            server.insert("args".to_owned(), rest.to_vec().into());
        }
        (None, None) => {
            let text = "name a program after `--`, or an address with --url";
            return Err(Trouble::Usage(text.to_owned()));
        }
    }
    for (name, given) in [("env", &args.env), ("headers", &args.header)] {
        if !given.is_empty() {
            server.insert(name.to_owned(), pairs(given)?.into());
        }
    }
    let of =
        |name: &str, table: toml::Table| toml::Table::from_iter([(name.to_owned(), table.into())]);
    let all = of("tools", of("mcp", of(&args.key, server)));
    toml::to_string(&all).map_err(Trouble::failed)
}
