//! Switches of servers and tools: what a person has switched off in a client is not offered here either.

use super::server::{ConfigFormat, ServerReader};
use super::spellings::{DISABLED, ENABLED, ONLY, WITHOUT};
use crate::entry::{OfferedTools, ServerEntry};
use crate::files::toml_file::{TomlField, TomlFields};

/// Lists of servers outside of their entries, and whether they name those that are on: Gemini CLI's and Claude Code's.
const SERVERS: [(&[&str], bool); 5] = [
    (&["mcp", "excluded"], false),
    (&["excludeMCPServers"], false),
    (&["disabledMcpServers"], false),
    (&["mcp", "allowed"], true),
    (&["allowMCPServers"], true),
];
/// Lists of tools that are off, and tables of tools with switches: Gemini CLI's and opencode's.
const TOOLS: [&[&str]; 4] = [&["tools", "exclude"], &["excludeTools"], &["tools"], &["permission"]];

impl ServerReader<'_> {
    /// Why the server is disabled, if it is; the outer `None`: a field is wrong.
    pub(super) fn disabled(&self, fields: &mut TomlFields<'_>) -> Option<Option<String>> {
        let mut off = Vec::new();
        for (names, is_off) in [(ENABLED, false), (DISABLED, true)] {
            // toolyard's own configuration has only `enabled`.
            if self.format == ConfigFormat::Own && is_off {
                continue;
            }
            for field in self.all(fields, names) {
                off.push(field.flag().map(|flag| (flag == is_off).then(|| why(&field, flag))));
            }
        }
        let off = off.into_iter().collect::<Option<Vec<_>>>()?;
        Some(off.into_iter().flatten().next())
    }

    /// The tools that are offered; `None`: a field is wrong.
    pub(super) fn offered(&self, fields: &mut TomlFields<'_>) -> Option<OfferedTools> {
        let (only, without) = match self.format {
            ConfigFormat::Own => ("only", "without"),
            ConfigFormat::Shared | ConfigFormat::Codex => (ONLY, WITHOUT),
        };
        let (only, without) = (self.all(fields, only), self.all(fields, without));
        let (mut offered, mut is_right) = (OfferedTools::default(), true);
        let mut names = |names: Option<Vec<String>>| {
            is_right &= names.is_some();
            names.unwrap_or_default()
        };
        for field in only {
            if field.is_table() {
                offered.without.extend(names(self.off(&field, false)));
                continue;
            }
            let mut these = names(field.texts());
            these.retain(|name| offered.only.as_ref().is_none_or(|only| only.contains(name)));
            offered.only = Some(these);
        }
        for field in without {
            let off = if field.is_table() { self.off(&field, true) } else { field.texts() };
            offered.without.extend(names(off));
        }
        is_right.then_some(offered)
    }

    /// The tools that a table of switches has off: by a flag, or by `enabled` or `disabled` in a table.
    fn off(&self, field: &TomlField<'_>, off: bool) -> Option<Vec<String>> {
        let switch = |(name, field): &(&str, TomlField<'_>)| {
            let is_off = match field.is_table() {
                true => self.disabled(&mut field.table()?)?.is_some(),
                false => field.flag()? == off,
            };
            Some(is_off.then(|| (*name).to_owned()))
        };
        let all = field.table()?.all();
        Some(all.iter().map(switch).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
    }
}

fn why(field: &TomlField<'_>, flag: bool) -> String {
    format!("its configuration switches it off: `{}` is {flag}", field.key())
}

/// The field that these keys lead to.
pub(super) fn at<'f>(fields: &mut TomlFields<'f>, keys: &[&'static str]) -> Option<TomlField<'f>> {
    let (first, rest) = keys.split_first()?;
    let field = fields.get(first)?;
    if rest.is_empty() { Some(field) } else { at(&mut inside(&field)?, rest) }
}

/// The fields of a table; nothing is noted if it is something else.
fn inside<'f>(field: &TomlField<'f>) -> Option<TomlFields<'f>> {
    field.is_table().then(|| field.table())?
}

/// Switches off what a file has off outside of the entries.
pub(super) fn switch_off(fields: &mut TomlFields<'_>, entries: &mut [ServerEntry]) {
    for (keys, is_on) in SERVERS {
        let Some(names) = at(fields, keys).and_then(|field| list(&field)) else { continue };
        for entry in entries.iter_mut().filter(|entry| names.contains(&entry.key) != is_on) {
            let why = || format!("its configuration switches it off: `{}`", keys.join("."));
            entry.disabled.get_or_insert_with(why);
        }
    }
    let off = TOOLS.iter().filter_map(|keys| at(fields, keys));
    let off: Vec<_> = off.filter_map(|field| list(&field).or_else(|| off_of(&field))).collect();
    let profile = at(fields, &["agent", "default_profile"]).and_then(|field| field.text());
    let profiles = at(fields, &["agent", "profiles"]);
    let of_zed = |key: &str| {
        let profile = named(profiles.as_ref()?, profile.unwrap_or("write"))?;
        let server = named(&named(&profile, "context_servers")?, key)?;
        off_of(&named(&server, "tools")?)
    };
    for entry in entries {
        let own = off.iter().flatten().filter_map(|name| of_server(name, &entry.key));
        entry.offered.without.extend(own.chain(of_zed(&entry.key).into_iter().flatten()));
    }
}

/// The texts of a list; nothing is noted if it is something else.
fn list(field: &TomlField<'_>) -> Option<Vec<String>> {
    field.is_list().then(|| field.texts())?
}

/// The field of this name in a table.
fn named<'f>(table: &TomlField<'f>, name: &str) -> Option<TomlField<'f>> {
    let all = inside(table)?.all();
    all.into_iter().find(|(key, _)| *key == name).map(|(_, field)| field)
}

/// The names in a table that it switches off or denies.
fn off_of(table: &TomlField<'_>) -> Option<Vec<String>> {
    let is_off = |(_, field): &(&str, TomlField<'_>)| {
        let value = (!field.is_table()).then(|| field.json()).flatten();
        value.is_some_and(|value| value == false || value == "deny")
    };
    let all = inside(table)?.all();
    Some(all.into_iter().filter(is_off).map(|(name, _)| name.to_owned()).collect())
}

/// The server's own name for a tool that a client names with the server; `None`: it is a tool of another one.
fn of_server(name: &str, key: &str) -> Option<String> {
    let prefixes =
        [format!("mcp__{key}__"), format!("mcp_{key}_"), format!("{key}__"), format!("{key}_")];
    let own = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_str()));
    own.map(str::to_owned).or_else(|| {
        let (start, rest) = name.split_once('*')?;
        format!("{key}_").starts_with(start).then(|| format!("*{rest}"))
    })
}
