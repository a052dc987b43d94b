//! Reads one server: the part that all formats have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::expand::{Dialect, Expansion, Unset};
use super::secret_tables;
use super::spellings::COMMAND;
use super::surroundings::Surroundings;
use crate::entry::ServerEntry;
use crate::files::toml_file::{Problem, TomlField, TomlFields};
use crate::name;

/// The longest limit that an entry can set.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Format of a configuration, which determines the fields of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfigFormat {
    /// The format of all clients except for Codex.
    Shared,
    /// `mcp_servers` of Codex.
    Codex,
    /// `tools.mcp` of toolyard.
    Own,
}

/// Kind of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransportKind {
    /// A program.
    Stdio,
    /// An address.
    Http,
}

/// Reads servers of one format.
pub(super) struct ServerReader<'r> {
    pub format: ConfigFormat,
    pub dialect: Dialect,
    /// Reaction to a variable of an enabled server that has no value.
    pub unset: Unset,
    pub around: &'r Surroundings<'r>,
}

impl ServerReader<'_> {
    /// The servers of these entries, except those that others replace.
    pub fn servers(
        &self,
        all: Vec<(&str, TomlField<'_>)>,
        replaced: &BTreeSet<String>,
        remarks: &mut Vec<Problem>,
    ) -> Vec<ServerEntry> {
        let mut entries = Vec::new();
        let mut prefixes = BTreeMap::<String, usize>::new();
        for (key, field) in all.into_iter().filter(|(key, _)| !replaced.contains(*key)) {
            if let Some(prefix) = name::prefix(key) {
                if let Some(line) = prefixes.get(&prefix) {
                    field.refuse(format!(
                        "its tools would have the names of those of line {line}; rename one of the two"
                    ));
                    continue;
                }
                prefixes.insert(prefix, field.line());
            }
            entries.extend(self.server(key, &field, remarks));
        }
        entries
    }

    /// The server of this key; `None` if it has problems, which are noted.
    fn server(
        &self,
        key: &str,
        field: &TomlField<'_>,
        remarks: &mut Vec<Problem>,
    ) -> Option<ServerEntry> {
        let mut fields = secret_tables::table(field)?;
        let is_named = name::prefix(key).is_some();
        if !is_named {
            field.refuse(
                "tools are named after this key; expected a name with letters or digits (A-Z, a-z, 0-9)",
            );
        }
        let disabled = self.disabled(&mut fields);
        // A server that is not started does not need its variables.
        let is_off = matches!(disabled, Some(Some(_)));
        let unset = if is_off { Unset::Note } else { self.unset };
        let expansion = Expansion::new(self.dialect, self.around, unset);
        let [start_timeout, call_timeout] = self.timeouts(&mut fields);
        let offered = self.offered(&mut fields);
        let gives_defaults = match self.format {
            ConfigFormat::Own => fields.get("elicitation").map_or(Some(false), |field| {
                field.one_of(&[("decline", false), ("defaults", true)])
            }),
            ConfigFormat::Shared | ConfigFormat::Codex => Some(false),
        };
        let trusts_hints = match self.format {
            ConfigFormat::Own => {
                fields.get("trust_hints").map_or(Some(false), |field| field.flag())
            }
            ConfigFormat::Shared | ConfigFormat::Codex => Some(false),
        };
        // Zed may have the whole program in a table.
        let command = self.find(&mut fields, COMMAND).filter(|field| field.is_table());
        let mut inner = command.and_then(|command| command.table());
        let of_transport = inner.as_mut().unwrap_or(&mut fields);
        let kind = self.kind(of_transport, is_off)?;
        let transport = self.transport(kind, of_transport, &expansion);
        inner.into_iter().chain([fields]).for_each(|fields| self.rest(kind, fields, remarks));
        is_named.then_some(())?;
        Some(ServerEntry {
            key: key.to_owned(),
            transport: transport?,
            file: field.file().to_owned(),
            line: field.line(),
            disabled: disabled?.or(expansion.why_unset()),
            start_timeout: start_timeout?,
            call_timeout: call_timeout?,
            gives_defaults: gives_defaults?,
            trusts_hints: trusts_hints?,
            offered: offered?,
        })
    }

    /// The limits of its start and of a call.
    fn timeouts(&self, fields: &mut TomlFields<'_>) -> [Option<Option<Duration>>; 2] {
        match self.format {
            ConfigFormat::Shared => [Some(None), Some(None)],
            ConfigFormat::Own => ["start_timeout", "call_timeout"].map(|key| {
                let duration =
                    |field: TomlField<'_>| field.duration(Duration::from_millis(1), LONGEST);
                fields.get(key).map_or(Some(None), |field| duration(field).map(Some))
            }),
            ConfigFormat::Codex => {
                let [start, call] = ["startup_timeout_sec", "tool_timeout_sec"].map(|key| {
                    let seconds = |field: TomlField<'_>| field.number(0.001, LONGEST.as_secs_f64());
                    let seconds =
                        fields.get(key).map_or(Some(None), |field| seconds(field).map(Some));
                    seconds.map(|seconds| seconds.map(Duration::from_secs_f64))
                });
                let old = fields.get("startup_timeout_ms").map_or(Some(None), |field| {
                    let ms = field.whole(1, LONGEST.as_millis() as i64)?;
                    Some(Some(Duration::from_millis(ms.unsigned_abs())))
                });
                [start.and_then(|start| Some(start.or(old?))), call]
            }
        }
    }
}
