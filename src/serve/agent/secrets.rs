//! The keys that a watched agent or a relayed server gets in its environment and on its command line. They are hidden before any record can
//! repeat them.

use std::ffi::OsString;

use reqwest::Url;

use crate::mcp::config::hide;
use crate::net::client::{carries_key, names_a_key};
use crate::net::known::remember_address;

/// The variable with the listener's token. It is part of the addresses that people copy, so it stays visible.
pub const TOKEN: &str = "TOOLYARD_WATCH_TOKEN";

/// Hides the keys that a program gets in the environment of this process, and on its command line.
pub fn hide_keys(command: &[OsString]) {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    hide_words(&words.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    for (name, value) in std::env::vars_os().filter(|(name, _)| name != TOKEN) {
        hide_variable(&name.to_string_lossy(), &value.to_string_lossy());
    }
}

/// Hides the value of a variable whose name says that it is a key.
pub fn hide_variable(name: &str, value: &str) {
    if names_a_key(name) {
        drop(hide(name, value));
    }
}

/// Hides the keys among the words of a command: values of options such as `--api-key VALUE` and `--token=VALUE`, of
/// variables such as `API_KEY=VALUE`, and of headers, and parts of addresses.
fn hide_words(words: &[&str]) {
    named(words.iter().copied()).into_iter().for_each(|(name, value)| drop(hide(name, value)));
    let single = words.iter().copied().filter(|word| !word.contains(char::is_whitespace));
    let values = single.clone().filter_map(|word| Some(word.split_once('=')?.1));
    let addresses = single.chain(values).filter_map(|text| Url::parse(text).ok());
    addresses.for_each(|address| remember_address(&address));
    // A shell gets a whole command as one word. Prompts and code are such words, too: there, only values that are
    // neither words nor code count.
    for text in words.iter().filter(|word| word.contains(char::is_whitespace)) {
        for (_, value) in named(text.split(|c: char| c.is_whitespace() || c == ';')) {
            let value = value.trim_matches(['"', '\'']);
            let is_code = |c: char| !(c.is_ascii_alphanumeric() || "-_.+/=~".contains(c));
            if value.contains(|c: char| c.is_ascii_digit()) && !value.contains(is_code) {
                drop(hide("", value));
            }
        }
    }
}

/// The values among these words whose names say that they are keys.
fn named<'w>(words: impl Iterator<Item = &'w str>) -> Vec<(&'w str, &'w str)> {
    let is_bare = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let is_key = |name: &str| is_bare(name) && names_a_key(name);
    let (mut found, mut before) = (Vec::new(), "");
    for word in words {
        let is_value = before.starts_with('-') && !word.starts_with('-') && is_key(before);
        // A variable before a command for a shell has a value without spaces.
        let is_whole = |value: &str| word.starts_with('-') || !value.contains(char::is_whitespace);
        let assigned = word.split_once('=').filter(|(name, value)| is_key(name) && is_whole(value));
        let header = word.split_once(':').filter(|(name, _)| carries_key(name));
        found.extend(is_value.then_some((before, word)).or(assigned).or(header));
        before = word;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::known::without_known;

    #[test]
    fn keys_on_a_command_line_are_hidden() {
        hide_words(&[
            "sh",
            "-c",
            "KEY=w0rd-1n-a-shell-0 python agent-number-0.py --api-key='w0rd-1n-a-shell-1'; other --token elsewhere",
            "--api-key",
            "w0rd-of-arguments-1",
            "--token=w0rd-of-arguments-2",
            "w0rd-of-arguments-3",
            "--client-secret",
            "correct-passphrase",
            "--max-tokens",
            "w0rd-of-arguments-4",
            "--password",
            "--verbose-mode",
            "DB_PASSWORD=w0rd-of-arguments-5",
            "-H",
            "Authorization: Bearer w0rd-of-arguments-6",
            "--base=http://me:w0rd-of-arguments-7@h/v1",
            "print(key=0s.environ)",
        ]);
        for hidden in [
            "w0rd-1n-a-shell-0",
            "w0rd-1n-a-shell-1",
            "w0rd-of-arguments-1",
            "w0rd-of-arguments-2",
            "correct-passphrase",
            "w0rd-of-arguments-5",
            "w0rd-of-arguments-6",
            "w0rd-of-arguments-7",
        ] {
            assert_eq!(without_known(hidden), "[key]", "{hidden}");
        }
        for shown in [
            "agent-number-0.py",
            "elsewhere",
            "w0rd-of-arguments-3",
            "w0rd-of-arguments-4",
            "--verbose-mode",
            "0s.environ)",
        ] {
            assert_eq!(without_known(shown), shown);
        }
    }

    #[test]
    fn values_of_variables_are_hidden_if_their_names_say_so() {
        for (name, value, shown) in [
            ("OPENAI_API_KEY", "var1able-of-tests-1", "[key]"),
            ("GITHUB_TOKEN", "variable-of-tests", "[key]"),
            ("SSH_AUTH_SOCK", "/tmp/ssh-1/agent.1", "/tmp/ssh-1/agent.1"),
            ("GIT_AUTHOR_NAME", "var1able-of-tests-2", "var1able-of-tests-2"),
            ("PWD", "/w0rk/of/tests", "/w0rk/of/tests"),
        ] {
            hide_variable(name, value);
            assert_eq!(without_known(value), shown, "{name}");
        }
    }
}
