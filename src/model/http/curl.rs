//! A request as a command line of `curl`, for a person to try by hand.

use serde_json::Value;

use super::{Endpoint, endpoint};
use crate::domain::ModelError;
use crate::files::safe_json::safe;
use crate::net::known::without_known;
use crate::secret::{HeaderSource, KeySource};
use crate::wire::{HttpFacts, ServicePath};

/// The line that ends the body. No line of indented JSON is just this word.
const END: &str = "JSON";

/// A command that posts this body to a path below the address. It names variables and programs that provide keys, but
/// contains no key.
///
/// # Errors
/// The address is invalid, or has a password.
pub fn curl(
    endpoint: &Endpoint,
    wire: &HttpFacts,
    path: &ServicePath,
    body: &Value,
) -> Result<String, ModelError> {
    let url = endpoint::service(&endpoint.base()?, path);
    let mut lines = vec![format!("curl {}", quoted(url.as_str()))];
    let mut header = |name: &str, value: &HeaderSource| match value {
        HeaderSource::Literal(text) => {
            lines.push(format!("-H {}", quoted(&format!("{name}: {text}"))))
        }
        HeaderSource::Env(variable) => lines.push(format!("-H \"{name}: ${variable}\"")),
    };
    header("content-type", &HeaderSource::Literal("application/json".to_owned()));
    let is_own = |name: &str| endpoint.headers.keys().any(|own| own.eq_ignore_ascii_case(name));
    for (name, value) in wire.headers.iter().filter(|(name, _)| !is_own(name)) {
        header(name, &HeaderSource::Literal((*value).to_owned()));
    }
    for (name, value) in &endpoint.headers {
        header(name, value);
    }
    let (name, prefix) = (wire.key_header, wire.key_prefix);
    match &endpoint.key {
        KeySource::None => {}
        KeySource::Env(variable) => lines.push(format!("-H \"{name}: {prefix}${variable}\"")),
        KeySource::Command(words) => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            lines.push(format!("-H \"{name}: {prefix}$({})\"", words.join(" ")));
        }
    }
    if let Some(file) = &endpoint.ca_file {
        lines.push(format!("--cacert {}", quoted(&file.display().to_string())));
    }
    match endpoint.proxy.as_deref() {
        Some("none") => lines.push("--noproxy '*'".to_owned()),
        Some(proxy) => lines.push(format!("--proxy {}", quoted(proxy))),
        None => {}
    }
    lines.push(format!("--data-binary @- <<'{END}'"));
    let body = serde_json::to_string_pretty(body).unwrap_or_default();
    let body = safe(&body);
    let command = format!("{}\n{body}\n{END}\n", lines.join(" \\\n  "));
    Ok(without_known(&command).into_owned())
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_reads_them() {
        for word in ["plain", "", "a b", "it's", "$HOME", "`x`", "a\nb", "\"q\"", "!", "ä"] {
            let line = format!("printf %s {}", quoted(word));
            let out = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), word);
        }
    }
}
