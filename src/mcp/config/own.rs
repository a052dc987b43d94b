//! Servers in toolyard's own configuration: `[tools.mcp.KEY]`.

use std::collections::BTreeSet;

use super::expand::{Dialect, Unset};
use super::server::{ConfigFormat, ServerReader};
use super::surroundings::Surroundings;
use crate::entry::ServerEntry;
use crate::files::toml_file::TomlField;

/// The valid servers of the table `tools.mcp`. The problems of the others are noted, including unknown keys. A variable
/// that is not set is not a fault of the file: it disables its server.
pub fn own_servers(table: &TomlField<'_>, around: &Surroundings<'_>) -> Vec<ServerEntry> {
    let reader = ServerReader {
        format: ConfigFormat::Own,
        dialect: Dialect::Shell,
        unset: Unset::Note,
        around,
    };
    let all = table.table().map(|fields| fields.all()).unwrap_or_default();
    reader.servers(all, &BTreeSet::new(), &mut Vec::new())
}
