//! The names that clients give to the same fields of a server. Only letters and digits of a name count, and capitals are
//! like small letters. Messages use the first name.

use super::server::{ConfigFormat, ServerReader};
use crate::files::toml_file::{TomlField, TomlFields};

pub(super) const KIND: &str = "type transport transportType";
/// The last one is Zed's, in a table `command`.
pub(super) const COMMAND: &str = "command cmd path";
pub(super) const ARGS: &str = "args arguments";
pub(super) const ENV: &str = "env environment envs";
pub(super) const ENV_FILE: &str = "envFile";
pub(super) const CWD: &str = "cwd workingDirectory workingDir workdir";
pub(super) const URL: &str = "url httpUrl serverUrl uri endpoint baseUrl address href";
pub(super) const HEADERS: &str = "headers httpHeaders requestHeaders";
pub(super) const ENABLED: &str = "enabled enable isEnabled isActive";
pub(super) const DISABLED: &str = "disabled disable isDisabled";
/// Lists of the only tools that are offered. `tools` may also be a table of tools with switches.
pub(super) const ONLY: &str = "enabledTools includeTools includedTools allowedTools allowTools availableTools \
                               toolAllowlist allowlist tools";
/// Lists of tools that are not offered.
pub(super) const WITHOUT: &str = "disabledTools excludeTools excludedTools disallowedTools deniedTools denyTools \
                                  blockedTools hiddenTools toolDenylist denylist";
/// Texts for people, tools for development, and consent, for which toolyard has its own rules. They need no remark.
pub(super) const SILENT: &str = "name title description autoApprove alwaysAllow trust source dev gallery version \
                                 required supports_parallel_tool_calls default_tools_approval_mode";

impl ServerReader<'_> {
    /// The field that has one of these names; in toolyard's own configuration, only the first one is a name of it.
    pub(super) fn find<'f>(
        &self,
        fields: &mut TomlFields<'f>,
        names: &'static str,
    ) -> Option<TomlField<'f>> {
        self.all(fields, names).into_iter().next()
    }

    /// The field of the address. Of two, Gemini CLI reads `httpUrl`.
    pub(super) fn url<'f>(&self, fields: &mut TomlFields<'f>) -> Option<TomlField<'f>> {
        let all = self.all(fields, URL);
        all.iter().find(|field| field.key() == "httpUrl").or(all.first()).cloned()
    }

    /// All fields that have one of these names.
    pub(super) fn all<'f>(
        &self,
        fields: &mut TomlFields<'f>,
        names: &'static str,
    ) -> Vec<TomlField<'f>> {
        let own = names.split(' ').next().filter(|_| self.format == ConfigFormat::Own);
        match own {
            Some(name) => fields.get(name).into_iter().collect(),
            None => fields.spelled(names),
        }
    }
}

/// Whether a field is an entry of a server.
pub(super) fn is_server(field: &TomlField<'_>) -> bool {
    let names = ["command cmd", "url httpUrl serverUrl uri endpoint"];
    let has_one =
        |mut fields: TomlFields<'_>| names.iter().any(|it| !fields.spelled(it).is_empty());
    field.is_table() && field.table().is_some_and(has_one)
}
