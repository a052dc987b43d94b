//! The addresses in a text, and their keys.

use std::sync::LazyLock;

use memchr::memmem;
use reqwest::Url;

use crate::known::{add, add_address, secrets_of_login};

/// The end of the scheme of an address.
const SCHEME: &str = "://";
/// Every text that is recorded is searched for it.
static SCHEMES: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(SCHEME));

/// Hides the keys in the addresses of a text. `header`: as in [`add`].
pub(super) fn learn(text: &str, header: Option<&str>) {
    for address in all(text) {
        match Url::parse(address) {
            Ok(url) if url.has_host() => add_address(header, &url),
            Ok(_) | Err(_) => learn_login(address, header),
        }
    }
}

/// The same in a text of a person, whose addresses are of pages: only their logins are keys.
pub(super) fn learn_logins(text: &str) {
    all(text).into_iter().for_each(|address| learn_login(address, None));
}

/// Hides the login of an address as it is written: one with a list of hosts, or with `#` in its password, cannot be parsed.
fn learn_login(address: &str, header: Option<&str>) {
    let rest = address.split_once(SCHEME).map_or("", |(_, rest)| rest);
    if let Some((name, password)) = rest.rsplit_once('@').and_then(|it| it.0.split_once(':')) {
        secrets_of_login(name, password).for_each(|key| add(header, &key));
    }
}

/// The addresses in a text, each until the next one, or a character that no address has.
fn all(text: &str) -> Vec<&str> {
    let schemes = SCHEMES.find_iter(text.as_bytes()).map(|at| {
        let before = text.as_bytes()[..at].iter().rev();
        let is_of_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+.-".contains(*byte);
        at - before.take_while(is_of_scheme).count()
    });
    let starts: Vec<usize> = schemes.collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let is_outside = |c: char| c.is_whitespace() || "\"'`<>".contains(c);
    let each = starts.iter().zip(ends).filter_map(|(start, end)| text.get(*start..end));
    let whole = |part: &'_ str| part.find(is_outside).unwrap_or(part.len());
    each.map(|part| part[..whole(part)].trim_end_matches([',', ';', ')', ']', '}', '.'])).collect()
}
