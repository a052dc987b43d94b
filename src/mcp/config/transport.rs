//! Reads the transport of a server.

use std::path::PathBuf;

use reqwest::Url;

use super::expand::Expansion;
use super::hidden;
use super::server::{ConfigFormat, ServerReader, TransportKind};
use crate::entry::Transport;
use crate::files::toml_file::{TomlField, TomlFields};

impl ServerReader<'_> {
    /// Reads the kind of a server from its `command` or `url`; a `type` must agree with that.
    pub(super) fn kind(&self, fields: &mut TomlFields<'_>) -> Option<TransportKind> {
        let said = match fields.get("type") {
            Some(field) => Some(named(&field)?),
            None => None,
        };
        match (said, fields.get("command"), fields.get("url")) {
            (_, Some(_), Some(url)) => {
                url.refuse("conflicts with `command`; a server is a program or an address");
                None
            }
            (None | Some(TransportKind::Stdio), Some(_), None) => Some(TransportKind::Stdio),
            (None | Some(TransportKind::Http), None, Some(_)) => Some(TransportKind::Http),
            (Some(TransportKind::Stdio), None, _) => {
                fields.need("command", "the program that is the server, such as \"npx\"");
                None
            }
            (Some(TransportKind::Http), _, None) => {
                fields.need("url", "the address of the server");
                None
            }
            (None, None, None) => {
                fields.refuse("expected `command` for a program, or `url` for an address");
                None
            }
        }
    }

    pub(super) fn transport(
        &self,
        kind: TransportKind,
        fields: &mut TomlFields<'_>,
        expansion: &Expansion<'_>,
    ) -> Option<Transport> {
        match kind {
            TransportKind::Stdio => self.stdio(fields, expansion),
            TransportKind::Http => self.http(fields, expansion),
        }
    }

    fn stdio(&self, fields: &mut TomlFields<'_>, expansion: &Expansion<'_>) -> Option<Transport> {
        let command = fields.get("command").and_then(|field| {
            let command = expansion.text(&field)?;
            // A variable without a value is reported elsewhere.
            if command.trim().is_empty() && !expansion.lacks() {
                field.refuse("expected the program that is the server, such as \"npx\"");
                return None;
            }
            without_nul(&field, command)
        });
        let args = fields.get("args").map_or(Some(Vec::new()), |field| {
            let args = hidden::list(&field)?;
            let text = |field: &TomlField<'_>| without_nul(field, expansion.text(field)?);
            let args: Vec<Option<String>> = args.iter().map(text).collect();
            args.into_iter().collect()
        });
        let env = self.env(fields, expansion);
        let cwd = fields.get("cwd").map_or(Some(None), |field| {
            let path = without_nul(&field, expansion.text(&field)?)?;
            Some(Some(self.path(&path)))
        });
        let args = args?;
        hidden::remember_arguments(&args);
        Some(Transport::Stdio { command: command?, args, env: env?, cwd: cwd? })
    }

    fn http(&self, fields: &mut TomlFields<'_>, expansion: &Expansion<'_>) -> Option<Transport> {
        let url = fields.get("url").and_then(|field| self.address(&field, expansion));
        let headers = self.headers(fields, expansion);
        let any_address = match self.format {
            ConfigFormat::Own => {
                fields.get("any_address").map_or(Some(false), |field| field.flag())
            }
            ConfigFormat::Shared | ConfigFormat::VsCode | ConfigFormat::Codex => Some(false),
        };
        Some(Transport::Http { url: url?, headers: headers?, any_address: any_address? })
    }

    /// An address. It may have a secret, so that no message repeats it.
    fn address(&self, field: &TomlField<'_>, expansion: &Expansion<'_>) -> Option<String> {
        let text = expansion.text(field)?;
        if expansion.lacks() {
            return Some(text);
        }
        let url = Url::parse(text.trim()).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else {
            field.refuse("expected an address that begins with http:// or https:// and a host");
            return None;
        };
        hidden::remember_address(&url);
        if self.format == ConfigFormat::Own && url.password().is_some() {
            field.refuse("an address must not have a password; write it as a header");
            return None;
        }
        Some(url.into())
    }

    /// A path, which starts at the workspace or at home.
    pub(super) fn path(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.around.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => self.around.workspace.join(text),
        }
    }
}

/// Reads the transport that a `type` names.
fn named(field: &TomlField<'_>) -> Option<TransportKind> {
    if field.text()? == "sse" {
        field.refuse(
            "the old transport HTTP+SSE is not spoken; most servers have streamable HTTP, often at /mcp instead of \
             /sse: write \"http\" and that url",
        );
        return None;
    }
    field.one_of(&[
        ("stdio", TransportKind::Stdio),
        ("http", TransportKind::Http),
        ("streamable-http", TransportKind::Http),
        ("streamableHttp", TransportKind::Http),
    ])
}

/// The text, unless it has a NUL, which neither a program nor a path can have.
pub(super) fn without_nul(field: &TomlField<'_>, text: String) -> Option<String> {
    if text.contains('\0') {
        field.refuse("must not contain the character NUL");
        return None;
    }
    Some(text)
}
