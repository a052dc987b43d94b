//! Learns keys before any record can repeat them. Every way in calls this module: variables, command lines, headers,
//! bodies, and the addresses in them. What it finds is hidden by [`super::known`].

mod addresses;
mod fields;
mod ordinary;

pub use self::fields::body;
pub use self::ordinary::{is_named_secret, value};
use crate::client::{carries_key, names_a_key};
use crate::known::{add, looks_like_a_key};

/// Short options whose values are keys, passwords or tokens, if they look so: others use the same letters.
const SHORT: [&str; 3] = ["-k", "-p", "-t"];
/// Options with the header of a request, and with the name and the password of a user.
const HEADER: [&str; 2] = ["-H", "--header"];
const LOGIN: [&str; 3] = ["-u", "--user", "--proxy-user"];
/// Words before the key in a header.
const SCHEMES: [&str; 3] = ["bearer", "basic", "token"];
/// The end of the names of headers that configure a gateway, with the keys that it uses.
const CONFIG: &str = "-config";

/// Hides the keys in a variable: its value if its name says so, else logins in the addresses of its value, and the keys of
/// a connection, as in `AccountName=NAME;AccountKey=KEY`.
pub fn variable(name: &str, text: &str) {
    if names_a_key(name) {
        drop(value(name, text));
    }
    fields::learn(text, false);
    addresses::learn(text, None);
    in_text(text);
}

/// Hides the value of a header if its name says that it is a key, or the keys in it. `passing`: only the newest values are
/// kept, since some change with each request.
pub fn header(name: &str, text: &str, passing: bool) {
    let header = passing.then_some(name);
    if name.eq_ignore_ascii_case("cookie") {
        let values = text.split(';').filter_map(|pair| pair.split_once('='));
        return values.for_each(|(_, value)| add(header, value));
    }
    let is_object = text.trim_start().starts_with('{');
    let is_config = !is_object && name.to_ascii_lowercase().ends_with(CONFIG);
    if names_a_key(name) || is_config && !ordinary::is_ordinary(name, text) {
        add(header, text);
    }
    fields::learn(text, passing);
    addresses::learn(text, header);
}

/// Hides the keys among the words of a command: values of options such as `--api-key VALUE` and `--token=VALUE`, of
/// variables such as `API_KEY=VALUE`, of headers and logins, and parts of addresses. `names` says which names those are.
pub fn words(words: &[impl AsRef<str>], names: fn(&str) -> bool) {
    let words = || words.iter().map(AsRef::as_ref);
    for (name, text) in named(words(), names) {
        drop(value(name, text));
    }
    let mut before = "";
    for word in words() {
        let text = if HEADER.contains(&before) { Some(word) } else { word.strip_prefix(HEADER[0]) };
        if let Some((name, text)) = text.and_then(|text| text.split_once(':')) {
            header(name.trim(), text.trim(), false);
        }
        before = word;
        match word.contains(char::is_whitespace) {
            false => addresses::learn(word, None),
            true => {
                addresses::learn_logins(word);
                in_text(word);
            }
        }
    }
}

/// Hides the keys in a text that is one word, such as a whole command for a shell. Prompts and code are such words, too:
/// only values that are neither words nor code count.
fn in_text(text: &str) {
    let words = text.split(|c: char| c.is_whitespace() || c == ';');
    for (_, value) in named(words.map(|word| word.trim_start_matches(['"', '\''])), names_a_key) {
        let value = value.trim_matches(['"', '\'']);
        let is_code = |c: char| !(c.is_ascii_alphanumeric() || "-_.+/=~".contains(c));
        if value.contains(|c: char| c.is_ascii_digit()) && !value.contains(is_code) {
            drop(ordinary::value("", value));
        }
    }
}

/// The values among these words whose names say that they are keys.
fn named<'w>(
    words: impl Iterator<Item = &'w str>,
    names: fn(&str) -> bool,
) -> Vec<(&'w str, &'w str)> {
    let is_bare = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let is_key = |name: &str| is_bare(name) && names(name);
    let (mut found, mut before) = (Vec::new(), "");
    for word in words {
        // A shell may divide a header.
        let header = before.strip_suffix(':').filter(|name| is_key(name));
        if header.is_some() && SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme)) {
            continue;
        }
        let is_option = before.starts_with('-') && !word.starts_with('-') && is_key(before);
        let is_value = is_option || header.is_some();
        // A variable before a command for a shell has a value without spaces.
        let is_whole = |value: &str| word.starts_with('-') || !value.contains(char::is_whitespace);
        let assigned = word.split_once('=').filter(|(name, value)| is_key(name) && is_whole(value));
        let header = word.split_once(':').filter(|(name, _)| carries_key(name));
        found.extend(is_value.then_some((before, word)).or(assigned).or(header));
        found.extend(short(before, word));
        before = word;
    }
    found
}

/// The key in the value of a short option, which may follow without a space, or in that of an option for a login.
fn short<'w>(before: &'w str, word: &'w str) -> Option<(&'w str, &'w str)> {
    let joined = word.get(..2).zip(word.get(2..));
    let is_short = |(option, _): &(&str, &str)| SHORT.contains(option);
    let key = [Some((before, word)), joined].into_iter().flatten().find(is_short);
    let key = key.filter(|(_, text)| looks_like_a_key(text));
    key.or_else(|| {
        let (name, password) = word.split_once(':').filter(|_| LOGIN.contains(&before))?;
        // A user's group has the same place, and often the user's name.
        (name != password && !password.starts_with('/')).then_some(("password", password))
    })
}

#[cfg(test)]
mod tests;
