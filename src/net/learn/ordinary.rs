//! Tells secrets from settings that nobody hides: hiding `production` or `/usr/bin` in every text would damage what people
//! read.

use reqwest::Url;

use crate::client::{carries_key, holds_a_key};
use crate::secret::Secret;

/// Parts of the names of secrets.
const NAMES: [&str; 9] =
    ["key", "token", "secret", "pass", "auth", "cred", "cookie", "session", "private"];
/// Beginnings of paths.
const FOLDERS: [&str; 14] = [
    "./",
    "../",
    "~/",
    "/Applications/",
    "/Library/",
    "/Users/",
    "/etc/",
    "/home/",
    "/mnt/",
    "/opt/",
    "/srv/",
    "/tmp/",
    "/usr/",
    "/var/",
];
/// The most characters of a word that is not a secret.
const WORD: usize = 32;
/// The most characters of a part of an address that is not a secret.
const PART: usize = 15;

/// The value of a setting of this name, which is hidden from now on if it may be a secret.
pub fn value(name: &str, text: &str) -> Secret {
    if is_ordinary(name, text) { Secret::ordinary(text) } else { Secret::new(text) }
}

pub(super) fn is_ordinary(name: &str, text: &str) -> bool {
    let is_path = FOLDERS.iter().any(|folder| text.starts_with(folder));
    is_path || !is_named_secret(name) && (is_word(text) || is_plain_address(text))
}

/// Whether a name says that a setting is a secret.
pub fn is_named_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    carries_key(name) || holds_a_key(name) || NAMES.iter().any(|part| lower.contains(part))
}

/// Words such as `production` or `application/json`, which have no digits.
fn is_word(text: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_lowercase() || "-_./ ".contains(c);
    text.len() <= WORD && text.chars().all(is_of_word)
}

/// An address in which nothing can be a key.
fn is_plain_address(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let mut parts = url.path_segments().into_iter().flatten();
    let is_bare = url.username().is_empty() && url.password().is_none();
    url.has_host() && is_bare && url.query().is_none() && parts.all(|part| part.len() <= PART)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plainly_no_secret_stays_visible() {
        for (name, text) in [
            ("NODE_ENV", "production"),
            ("Accept", "application/json"),
            ("ROOT", "/home/me/projects/2026"),
            ("KEY_FILE", "/etc/keys/id_ed25519"),
            ("BASE_URL", "http://localhost:3000/api/v1"),
        ] {
            assert!(is_ordinary(name, text), "{name}={text}");
        }
        for (name, text) in [
            ("GITHUB_TOKEN", "correcthorse"),
            ("Authorization", "Bearer abcdefgh"),
            ("DATABASE_URL", "postgres://me:hunter22@db/x"),
            ("WEBHOOK", "https://hooks.example/services/T0000000000000000000000"),
            ("X", "a1b2c3d4e5f6"),
            ("X", "/8fk3/9sdk20vmw2"),
        ] {
            assert!(!is_ordinary(name, text), "{name}={text}");
        }
    }
}
