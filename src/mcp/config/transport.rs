//! Reads the transport of a server.

use std::path::PathBuf;

use reqwest::Url;

use super::expand::Expansion;
use super::secret_tables;
use super::server::{ConfigFormat, ServerReader, TransportKind};
use super::spellings::{ARGS, COMMAND, CWD, KIND};
use crate::entry::Transport;
use crate::files::toml_file::{TomlField, TomlFields};
use crate::net::{known, learn};

/// Words that clients have for the kinds, without signs and small.
const KINDS: [(&str, TransportKind); 2] = [
    ("stdio local", TransportKind::Stdio),
    ("http https remote streamable streamablehttp httpstream", TransportKind::Http),
];
/// Signs that only a shell understands.
const SHELL: [&str; 6] = ["&&", "||", "|", ";", "<", ">"];

impl ServerReader<'_> {
    /// Reads the kind of a server from its `command` or `url`; a `type` must agree with that.
    /// An entry that is only there to be off needs neither.
    pub(super) fn kind(&self, fields: &mut TomlFields<'_>, is_off: bool) -> Option<TransportKind> {
        let said = match self.find(fields, KIND) {
            Some(field) => Some(named(&field)?),
            None => None,
        };
        match (said, self.find(fields, COMMAND), self.url(fields)) {
            (None, None, None) if is_off => None,
            (_, Some(command), Some(url)) if !command.is("") && !url.is("") => {
                url.refuse("conflicts with `command`; a server is a program or an address");
                None
            }
            (Some(kind), Some(_), Some(_)) => Some(kind),
            (None, Some(command), Some(_)) if command.is("") => Some(TransportKind::Http),
            (None | Some(TransportKind::Stdio), Some(_), _) => Some(TransportKind::Stdio),
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
        let words = self.find(fields, COMMAND).and_then(|field| self.command(&field, expansion));
        let args = self.find(fields, ARGS);
        let args = args.map_or(Some(Vec::new()), |field| texts(&field, expansion));
        let env = self.env(fields, expansion);
        let cwd = self.find(fields, CWD).map_or(Some(None), |field| {
            let path = without_nul(&field, expansion.text(&field)?)?;
            Some(Some(self.path(&path)))
        });
        let mut words = [words?, args?].concat();
        let args = words.split_off(1);
        learn::words(&args, learn::is_named_secret);
        Some(Transport::Stdio { command: words.concat(), args, env: env?, cwd: cwd? })
    }

    /// The program, and the arguments that are written with it.
    fn command(&self, field: &TomlField<'_>, expansion: &Expansion<'_>) -> Option<Vec<String>> {
        let words = match field.is_list() {
            true => texts(field, expansion)?,
            false => self.words(field, expansion)?,
        };
        // A variable without a value is reported elsewhere.
        if words.first().is_none_or(|word| word.trim().is_empty() && !expansion.lacks()) {
            field.refuse("expected the program that is the server, such as \"npx\"");
            return None;
        }
        Some(words.into_iter().map(|word| self.at_home(word)).collect())
    }

    /// The words of a command. A text that is the name of a program is one word, whatever is in it.
    fn words(&self, field: &TomlField<'_>, expansion: &Expansion<'_>) -> Option<Vec<String>> {
        let whole = without_nul(field, expansion.text(field)?)?;
        let text = field.text()?.trim();
        let is_program = || (self.around.program)(&self.at_home(whole.clone()));
        if !text.contains(char::is_whitespace) || is_program() {
            return Some(vec![whole.trim().to_owned()]);
        }
        let words = split(text).filter(|words| !words.iter().any(|word| SHELL.contains(&&**word)));
        if words.is_none() {
            field.refuse(
                "expected only a program; write its arguments as `args`, or \"sh\" with the args [\"-c\", \"…\"]",
            );
        }
        words?.iter().map(|word| expansion.of(field, word)).collect()
    }

    fn http(&self, fields: &mut TomlFields<'_>, expansion: &Expansion<'_>) -> Option<Transport> {
        let url = self.url(fields).and_then(|field| self.address(&field, expansion));
        let headers = self.headers(fields, expansion);
        let any_address = match self.format {
            ConfigFormat::Own => {
                fields.get("any_address").map_or(Some(false), |field| field.flag())
            }
            ConfigFormat::Shared | ConfigFormat::Codex => Some(false),
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
        known::remember_address(&url);
        if self.format == ConfigFormat::Own && url.password().is_some() {
            field.refuse("an address must not have a password; write it as a header");
            return None;
        }
        Some(url.into())
    }

    /// A path, which starts at the workspace or at home.
    pub(super) fn path(&self, text: &str) -> PathBuf {
        self.around.workspace.join(self.at_home(text.to_owned()))
    }

    /// A path with the home directory in place of the sign for it.
    fn at_home(&self, text: String) -> String {
        let below = ["~/", "$HOME/"].iter().find_map(|home| text.strip_prefix(home));
        match (below, self.around.home) {
            (Some(below), Some(home)) => home.join(below).display().to_string(),
            _ => text,
        }
    }
}

/// The texts of a list of arguments.
fn texts(field: &TomlField<'_>, expansion: &Expansion<'_>) -> Option<Vec<String>> {
    let text = |field: &TomlField<'_>| without_nul(field, expansion.of(field, &field.plain()?)?);
    secret_tables::list(field)?.iter().map(text).collect::<Vec<_>>().into_iter().collect()
}

/// The words of a text as a shell splits it; `None`: a quote does not end.
fn split(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next()?),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Reads the transport that a `type` names.
fn named(field: &TomlField<'_>) -> Option<TransportKind> {
    let word = field.text()?.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let word = word.to_ascii_lowercase();
    if word.contains("sse") {
        field.refuse(
            "the old transport HTTP+SSE is not spoken; most servers have streamable HTTP, often at /mcp instead of \
             /sse: write \"http\" and that url",
        );
        return None;
    }
    if let Some((_, kind)) = KINDS.iter().find(|(all, _)| all.split(' ').any(|it| it == word)) {
        return Some(*kind);
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
