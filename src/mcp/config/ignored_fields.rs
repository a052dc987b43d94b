//! Fields that have no effect here, and the remarks about them.

use super::server::{ConfigFormat, ServerReader, TransportKind};
use super::spellings::{SILENT, URL};
use crate::files::toml_file::{Problem, TomlFields};

const NO_LOGIN: &str = "is not read: toolyard does not log in; give the server a token in a header";
const NO_SANDBOX: &str = "is not read: toolyard starts the server without a sandbox";

/// Fields that have an effect elsewhere, and why not here.
const UNREAD: [(&str, &str); 9] = [
    ("oauth", NO_LOGIN),
    ("auth", NO_LOGIN),
    ("scopes", NO_LOGIN),
    ("oauth_resource", NO_LOGIN),
    ("headersHelper", "is not read: toolyard runs no program for headers; write them as headers"),
    ("timeout", "is not read: programs give it different units; the server gets toolyard's limits"),
    ("sandboxEnabled", NO_SANDBOX),
    ("sandbox", NO_SANDBOX),
    ("experimental_environment", "is not read: toolyard starts the server on this machine"),
];

impl ConfigFormat {
    /// The fields of a program besides its command.
    fn of_programs(self) -> &'static [&'static str] {
        match self {
            ConfigFormat::Shared => &["args", "env", "envFile", "cwd"],
            ConfigFormat::Codex => &["args", "env", "env_vars", "cwd"],
            ConfigFormat::Own => &["args", "env", "env_file", "cwd"],
        }
    }

    /// The fields of an address.
    fn of_addresses(self) -> &'static [&'static str] {
        match self {
            ConfigFormat::Shared => &["headers"],
            ConfigFormat::Codex => &["http_headers", "env_http_headers", "bearer_token_env_var"],
            ConfigFormat::Own => &["headers", "any_address"],
        }
    }
}

impl ServerReader<'_> {
    /// Notes fields without effect: as remarks, and in toolyard's own configuration as problems.
    pub(super) fn rest(
        &self,
        kind: TransportKind,
        mut fields: TomlFields<'_>,
        remarks: &mut Vec<Problem>,
    ) {
        let format = self.format;
        let (strays, why) = match kind {
            TransportKind::Stdio => {
                (format.of_addresses(), "is not read: only a server with `url` has it")
            }
            TransportKind::Http => {
                (format.of_programs(), "is not read: only a server with `command` has it")
            }
        };
        let strays = strays.iter().map(|key| (*key, why));
        if format == ConfigFormat::Own {
            for (key, why) in strays {
                if let Some(field) = fields.get(key) {
                    field.refuse(why);
                }
            }
            fields.finish();
            return;
        }
        SILENT.split(' ').for_each(|key| drop(fields.spelled(key)));
        for (key, why) in strays.chain(UNREAD) {
            remarks.extend(fields.get(key).map(|field| field.problem(why)));
        }
        if let Some(counts) = self.url(&mut fields) {
            let text = counts.text().unwrap_or_default();
            let others = fields.spelled(URL).into_iter().filter(|url| !url.is(text));
            let why = format!("is not read: `{}` counts", counts.key());
            remarks.extend(others.map(|url| url.problem(&why)));
        }
        remarks.extend(fields.unknown());
    }
}
